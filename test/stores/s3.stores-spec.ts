import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { describeObjectStoreContract, type StoreUnderTest } from '../../libs/object-storage/object-store.contract';
import type { StoreTimeouts } from '../../libs/object-storage/object-store';
import { openObjectStore } from '../../libs/object-storage/open-object-store';
import { newBucketName, outbound, type S3Server, storeServers } from './harness/store-servers';

async function s3UnderTest(server: S3Server): Promise<StoreUnderTest> {
  const { url, secretAccessKey } = server;
  const { client, bucket: Bucket } = await newBucket(server);
  const open = (bucket: string, secret: string, endpoint = url, timeouts?: StoreTimeouts) =>
    opened({ ...server, url: endpoint, secretAccessKey: secret }, bucket, timeouts);
  const wrong = 'a-secret-that-is-wrong';
  return {
    store: open(Bucket, secretAccessKey),
    missingBucket: open(newBucketName(), secretAccessKey),
    wrongSecret: { store: open(Bucket, wrong), secret: wrong },
    signer: await signer(server),
    at: (endpoint, timeouts) => open(Bucket, secretAccessKey, endpoint, timeouts),
    unfinishedUploads: async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return Uploads.map(({ Key = '' }) => Key);
    },
    close: async () => client.destroy(),
  };
}

/** The moto that checks signatures cannot check that of an address, so another one serves these. */
async function signer(server: S3Server): Promise<StoreUnderTest['signer']> {
  const { hadoop } = storeServers();
  const { client, bucket } = await newBucket(hadoop);
  client.destroy();
  return { store: opened(hadoop, bucket), isChecked: hadoop.url === server.url };
}

async function newBucket({ url, accessKeyId, secretAccessKey }: S3Server) {
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true, credentials });
  const bucket = newBucketName();
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { client, bucket };
}

function opened({ url, accessKeyId, secretAccessKey }: S3Server, bucket: string, timeouts?: StoreTimeouts) {
  const credentials = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, S3_ENDPOINT: url };
  return openObjectStore({ provider: 's3-compatible', bucket, credentials, outbound, timeouts });
}

const server = storeServers().s3;
describeObjectStoreContract(`S3 on ${server.name}`, () => s3UnderTest(server));
