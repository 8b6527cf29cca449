import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { describeObjectStoreContract, type StoreUnderTest } from '../../libs/object-storage/object-store.contract';
import type { StoreTimeouts } from '../../libs/object-storage/object-store';
import { openObjectStore } from '../../libs/object-storage/open-object-store';
import { newBucketName, outbound, type S3Server, storeServers } from './harness/store-servers';

async function s3UnderTest(server: S3Server, { checksSecrets }: { checksSecrets: boolean }): Promise<StoreUnderTest> {
  const { url, accessKeyId, secretAccessKey } = server;
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
    wrongSecret: checksSecrets ? { store: open(Bucket, wrong), secret: wrong } : null,
    at: (endpoint, timeouts) => open(Bucket, secretAccessKey, endpoint, timeouts),
    unfinishedUploads: async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return Uploads.map(({ Key = '' }) => Key);
    },
    close: async () => client.destroy(),
  };
}

describeObjectStoreContract('S3 on moto', () => s3UnderTest(storeServers().moto, { checksSecrets: false }));
describeObjectStoreContract('S3 on MinIO', () => s3UnderTest(storeServers().minio, { checksSecrets: true }));
