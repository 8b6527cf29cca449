import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { describeObjectStoreContract, type StoreUnderTest } from '../../libs/object-storage/object-store.contract';
import type { StoreTimeouts } from '../../libs/object-storage/object-store';
import { openObjectStore } from '../../libs/object-storage/open-object-store';
import { newBucketName, outbound, type S3Server, storeServers } from './harness/store-servers';

async function s3UnderTest({ url, accessKeyId, secretAccessKey }: S3Server): Promise<StoreUnderTest> {
  const client = new S3Client({
    endpoint: url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  const Bucket = newBucketName();
  await client.send(new CreateBucketCommand({ Bucket }));
  const open = (bucket: string, secret: string, endpoint = url, timeouts?: StoreTimeouts) =>
    openObjectStore({
      provider: 's3-compatible',
      bucket,
      credentials: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secret, S3_ENDPOINT: endpoint },
      outbound,
      timeouts,
    });
  const wrong = 'a-secret-that-is-wrong';
  return {
    store: open(Bucket, secretAccessKey),
    missingBucket: open(newBucketName(), secretAccessKey),
    wrongSecret: { store: open(Bucket, wrong), secret: wrong },
    at: (endpoint, timeouts) => open(Bucket, secretAccessKey, endpoint, timeouts),
    unfinishedUploads: async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return Uploads.map(({ Key = '' }) => Key);
    },
    close: async () => client.destroy(),
  };
}

const server = storeServers().s3;
describeObjectStoreContract(`S3 on ${server.name}`, () => s3UnderTest(server));
