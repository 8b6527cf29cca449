import { verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { RunMount } from '../../libs/contracts/agent-protocol';
import { rsaPair } from '../harness/rsa-pair';
import { done, SparkNode, REPORTING, results } from '../harness/spark-node';
import { newBucketName, storeServers } from './harness/store-servers';

jest.setTimeout(600_000);

const mounted = { mount_point: '/mnt/data', path: 'team', read_only: false, encryption: null };
let node: SparkNode;

beforeAll(() => {
  node = new SparkNode();
});

afterAll(() => node.close());

it("a mount's encryption is requested for each object", async () => {
  const { url: endpoint, accessKeyId, secretAccessKey } = storeServers().moto;
  const credentials = { accessKeyId, secretAccessKey };
  const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  const [managed, kms] = [newBucketName(), newBucketName()];
  for (const Bucket of [managed, kms]) await s3.send(new CreateBucketCommand({ Bucket }));
  const mount = (change: Partial<RunMount>): RunMount => ({
    ...mounted,
    provider: 's3-compatible',
    bucket: managed,
    extra_configs: {},
    credentials: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, S3_ENDPOINT: endpoint },
    ...change,
  });
  const python = `${REPORTING}
fs = sc._jvm.org.apache.hadoop.fs.FileSystem.get(hadoop)
figure('managed', lambda: fs.create(sc._jvm.org.apache.hadoop.fs.Path('/mnt/data/x')).close())
figure('kms', lambda: fs.create(sc._jvm.org.apache.hadoop.fs.Path('/mnt/kms/x')).close())
`;
  const mounts = [
    mount({ encryption: 'SSE-S3' }),
    mount({ encryption: 'SSE-KMS', bucket: kms, mount_point: '/mnt/kms' }),
  ];
  const { kms: ofKms, ...others } = results(done(await node.run({ python, mounts })));
  expect(others).toEqual({ managed: null });
  const encryptionIn = async (Bucket: string) =>
    (await s3.send(new HeadObjectCommand({ Bucket, Key: 'team/x' }))).ServerSideEncryption;
  expect(await encryptionIn(managed)).toBe('AES256');
  // Before Spark 4, the client refuses to send requests with KMS keys to a server without TLS, such as this one.
  if (ofKms === null) expect(await encryptionIn(kms)).toBe('aws:kms');
  else expect(ofKms).toContain('HTTPS must be used');
  s3.destroy();
});

describe('mounts of other stores', () => {
  it('reach Google Cloud Storage with the key of a service account', async () => {
    const gcs = storeServers().fakeGcs.url;
    const name = newBucketName();
    const made = await fetch(`${gcs}/storage/v1/b?project=test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    expect(made.status).toBe(200);
    const { publicKey, privateKey } = rsaPair();
    // The store accepts any token, but a request for a token must be signed with the key.
    const directory = new Directory(200, { access_token: 'token', token_type: 'Bearer', expires_in: 3600 });
    const mount: RunMount = {
      ...mounted,
      provider: 'gcp',
      bucket: name,
      credentials: {
        CLIENT_EMAIL: 'jobs@project.iam.gserviceaccount.com',
        PRIVATE_KEY_ID: 'key-1',
        PRIVATE_KEY: privateKey,
      },
      extra_configs: {
        'fs.gs.storage.root.url': gcs,
        'fs.gs.token.server.url': await directory.listen(),
        // The emulator does not support moving an object in one request.
        'fs.gs.operation.move.enable': 'false',
      },
    };
    const python = `${REPORTING}
spark.range(10).write.parquet('/mnt/data/out')
figure('read', lambda: spark.read.parquet('/mnt/data/out').count())
`;
    try {
      expect(results(done(await node.run({ python, mounts: [mount] })))).toEqual({ read: 10 });
      const [header = '', claims = '', signature = ''] = (directory.asked[0]?.get('assertion') ?? '').split('.');
      expect(verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(
        true,
      );
      expect(Buffer.from(claims, 'base64url').toString()).toContain('jobs@project.iam.gserviceaccount.com');
      expect(node.linesWith('PRIVATE KEY-----')).toEqual([]);
    } finally {
      directory.close();
    }
  });

  it("request a token of Azure's directory with the credentials of the account", async () => {
    // The directory refuses, so that nothing calls the storage account, whose hierarchical form no emulator offers.
    const directory = new Directory(401, { error: 'invalid_client' });
    const mount: RunMount = {
      ...mounted,
      provider: 'azure',
      bucket: 'files',
      credentials: {
        STORAGE_ACCOUNT_NAME: 'account',
        TENANT_ID: 'directory',
        CLIENT_ID: 'the-client',
        CLIENT_SECRET: 'the-client-secret',
      },
      extra_configs: { 'fs.azure.account.oauth2.client.endpoint': await directory.listen() },
    };
    const python = `${REPORTING}
figure('read', lambda: spark.read.text('/mnt/data/x.txt').count())
`;
    try {
      const { read } = results(done(await node.run({ python, mounts: [mount] })));
      expect(read).toMatch(/^ERROR .*401/s);
      expect(directory.asked[0]?.get('client_id')).toBe('the-client');
      expect(directory.asked[0]?.get('client_secret')).toBe('the-client-secret');
      expect(node.linesWith('the-client-secret')).toEqual([]);
    } finally {
      directory.close();
    }
  });
});

/** Returns the same response to each token request, and records the requests. */
class Directory {
  readonly asked: URLSearchParams[] = [];
  private readonly server: Server;

  constructor(status: number, answer: object) {
    this.server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        this.asked.push(new URLSearchParams(body));
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
