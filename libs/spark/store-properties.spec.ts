import type { RunMount } from '../contracts/agent-protocol';
import { hadoopStore } from './store-properties';
import { SubmitError } from './submit-error';

const BUFFER = '${env.SPARK_LOCAL_DIRS:-${hadoop.tmp.dir}}';

const mount = (change: Partial<RunMount>): RunMount => ({
  mount_point: '/mnt/data',
  provider: 'aws',
  bucket: 'sales',
  path: 'a/b',
  read_only: false,
  encryption: null,
  extra_configs: {},
  credentials: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_DEFAULT_REGION: 'eu-west-1' },
  ...change,
});

describe('hadoopStore', () => {
  it('reaches Amazon S3 in its region, with the keys of the mount and no others', () => {
    expect(hadoopStore(mount({}))).toEqual({
      target: 's3a://sales/a/b',
      scope: 'the bucket sales',
      properties: {
        'fs.s3a.buffer.dir': `${BUFFER}/s3a`,
        'fs.s3a.bucket.sales.aws.credentials.provider': 'org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider',
        'fs.s3a.bucket.sales.access.key': 'id',
        'fs.s3a.bucket.sales.secret.key': 'secret',
        'fs.s3a.bucket.sales.endpoint': 's3.eu-west-1.amazonaws.com',
        'fs.s3a.bucket.sales.endpoint.region': 'eu-west-1',
      },
    });
    const { properties } = hadoopStore(
      mount({ credentials: { ...mount({}).credentials, AWS_DEFAULT_REGION: 'cn-north-1' } }),
    );
    expect(properties['fs.s3a.bucket.sales.endpoint']).toBe('s3.cn-north-1.amazonaws.com.cn');
  });

  it('reaches S3-compatible storage at its endpoint, with the bucket in the path', () => {
    const credentials = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 's', S3_ENDPOINT: 'https://s3.local:9000' };
    const { target, properties } = hadoopStore(mount({ provider: 's3-compatible', path: '', credentials }));
    expect(target).toBe('s3a://sales/');
    expect(properties).toMatchObject({
      'fs.s3a.bucket.sales.endpoint': 'https://s3.local:9000',
      'fs.s3a.bucket.sales.endpoint.region': 'us-east-1',
      'fs.s3a.bucket.sales.path.style.access': 'true',
    });
  });

  it.each([
    ['SSE-S3', 'AES256'],
    ['SSE-KMS', 'SSE-KMS'],
    ['SSE-C', 'SSE-C'],
    ['of another time', undefined],
    [null, undefined],
  ])('asks S3 for the encryption %s by %s', (encryption, algorithm) => {
    const { properties } = hadoopStore(mount({ encryption }));
    expect(properties['fs.s3a.bucket.sales.encryption.algorithm']).toBe(algorithm);
  });

  it("lets a mount's own properties win, for its bucket alone", () => {
    const extra_configs = {
      'fs.s3a.endpoint': 'http://proxy',
      'fs.s3a.server-side-encryption-algorithm': 'AES256',
      'fs.s3a.server-side-encryption.key': 'k',
      'fs.s3a.bucket.sales.secret.key': 'mine',
      'fs.s3a.impl': 'x.Y',
      'fs.other': '1',
    };
    const { properties } = hadoopStore(mount({ encryption: 'SSE-KMS', extra_configs }));
    expect(properties).toMatchObject({
      'fs.s3a.bucket.sales.endpoint': 'http://proxy',
      'fs.s3a.bucket.sales.encryption.algorithm': 'AES256',
      'fs.s3a.bucket.sales.encryption.key': 'k',
      'fs.s3a.bucket.sales.secret.key': 'mine',
      'fs.s3a.impl': 'x.Y',
      'fs.other': '1',
    });
    expect(properties).not.toHaveProperty(['fs.s3a.endpoint']);
  });

  it('reaches Google Cloud Storage by the key of a service account', () => {
    const credentials = { CLIENT_EMAIL: 'a@b', PRIVATE_KEY_ID: 'id', PRIVATE_KEY: 'key' };
    const extra_configs = { 'fs.gs.auth.service.account.email': 'c@d' };
    expect(hadoopStore(mount({ provider: 'gcp', encryption: 'CMEK', credentials, extra_configs }))).toEqual({
      target: 'gs://sales/a/b',
      scope: 'Google Cloud Storage',
      properties: {
        'fs.gs.block.size': '67108864',
        'fs.gs.inputstream.inplace.seek.limit': '8388608',
        'fs.gs.inputstream.min.range.request.size': '2097152',
        'fs.gs.outputstream.buffer.size': '8388608',
        'fs.gs.impl': 'com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem',
        'fs.AbstractFileSystem.gs.impl': 'com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS',
        'fs.gs.auth.service.account.enable': 'true',
        'fs.gs.auth.service.account.email': 'c@d',
        'fs.gs.auth.service.account.private.key.id': 'id',
        'fs.gs.auth.service.account.private.key': 'key',
      },
    });
  });

  it('reaches ADLS Gen2 as the service principal, for its storage account alone', () => {
    const credentials = { STORAGE_ACCOUNT_NAME: 'acc', TENANT_ID: 't/../x', CLIENT_ID: 'c', CLIENT_SECRET: 's' };
    const extra_configs = { 'fs.azure.account.oauth2.client.id': 'other', 'fs.azure.io.retry.max.retries': '1' };
    const host = 'acc.dfs.core.windows.net';
    expect(hadoopStore(mount({ provider: 'azure', credentials, extra_configs }))).toEqual({
      target: `abfss://sales@${host}/a/b`,
      scope: `the storage account ${host}`,
      properties: {
        'fs.azure.buffer.dir': `${BUFFER}/abfs`,
        'fs.azure.metrics.collection.enabled': 'false',
        [`fs.azure.account.auth.type.${host}`]: 'OAuth',
        [`fs.azure.account.oauth.provider.type.${host}`]:
          'org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider',
        [`fs.azure.account.oauth2.client.endpoint.${host}`]:
          'https://login.microsoftonline.com/t%2F..%2Fx/oauth2/token',
        [`fs.azure.account.oauth2.client.id.${host}`]: 'other',
        [`fs.azure.account.oauth2.client.secret.${host}`]: 's',
        'fs.azure.io.retry.max.retries': '1',
      },
    });
  });

  it.each([
    ['aws', 'AWS_ACCESS_KEY_ID'],
    ['s3-compatible', 'AWS_ACCESS_KEY_ID'],
    ['gcp', 'CLIENT_EMAIL'],
    ['azure', 'STORAGE_ACCOUNT_NAME'],
  ] as const)('names the key that credentials of %s lack', (provider, name) => {
    expect(() => hadoopStore(mount({ provider, credentials: { [name]: '' } }))).toThrow(
      new SubmitError(`The credentials of the mount /mnt/data lack ${name}.`),
    );
  });
});
