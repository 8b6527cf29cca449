import { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { openObjectStore, type ObjectStoreSpec } from './open-object-store';

describe('openObjectStore', () => {
  const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['private'] });
  const s3 = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'the-secret', S3_ENDPOINT: 'https://minio.example' };
  const azure = { STORAGE_ACCOUNT_NAME: 'account1', TENANT_ID: 'tenant', CLIENT_ID: 'id', CLIENT_SECRET: 'the-secret' };
  const open = (changes: Partial<ObjectStoreSpec>) =>
    openObjectStore({ provider: 's3-compatible', bucket: 'data', credentials: s3, outbound, ...changes });

  it('opens a store of each provider without calling it', () => {
    const aws = { ...s3, AWS_DEFAULT_REGION: 'eu-west-1' };
    const gcp = { CLIENT_EMAIL: 'a@b.example', PRIVATE_KEY: 'the-secret' };
    expect(open({})).toBeDefined();
    expect(open({ provider: 'aws', credentials: aws })).toBeDefined();
    expect(open({ provider: 'gcp', credentials: gcp })).toBeDefined();
    expect(open({ provider: 'azure', credentials: azure })).toBeDefined();
  });

  it('opens a store with temporary credentials', () => {
    const aws = { ...s3, AWS_SESSION_TOKEN: 'IQoJb3JpZ2lu//8=', AWS_DEFAULT_REGION: 'eu-west-1' };
    const sas = { STORAGE_ACCOUNT_NAME: 'account1', SAS_TOKEN: '?sv=2023-11-03&sig=a%2Fb%3D' };
    expect(open({ credentials: aws })).toBeDefined();
    expect(open({ provider: 'aws', credentials: aws })).toBeDefined();
    expect(open({ provider: 'gcp', credentials: { OAUTH_TOKEN: 'ya29.c' } })).toBeDefined();
    expect(open({ provider: 'azure', credentials: sas })).toBeDefined();
  });

  it.each<[string, Partial<ObjectStoreSpec>, string, string]>([
    ['a missing key', { credentials: {} }, 'INVALID_CREDENTIALS', 'S3_ENDPOINT'],
    ['another type of credentials', { provider: 'azure' }, 'INVALID_CREDENTIALS', 'STORAGE_ACCOUNT_NAME'],
    [
      'a region that is a host',
      { provider: 'aws', credentials: { ...s3, AWS_DEFAULT_REGION: 'x.evil.example/#' } },
      'INVALID_CREDENTIALS',
      'AWS_DEFAULT_REGION',
    ],
    [
      'an account that is a host',
      { provider: 'azure', credentials: { ...azure, STORAGE_ACCOUNT_NAME: 'evil.example/' } },
      'INVALID_CREDENTIALS',
      'STORAGE_ACCOUNT_NAME',
    ],
    [
      'a session token of two lines',
      { credentials: { ...s3, AWS_SESSION_TOKEN: 'the-secret\r\nHost: evil.example' } },
      'INVALID_CREDENTIALS',
      'AWS_SESSION_TOKEN',
    ],
    [
      'a token of two lines',
      { provider: 'gcp', credentials: { OAUTH_TOKEN: 'the-secret\n' } },
      'INVALID_CREDENTIALS',
      'OAUTH_TOKEN',
    ],
    [
      'a signature with a fragment',
      { provider: 'azure', credentials: { STORAGE_ACCOUNT_NAME: 'account1', SAS_TOKEN: 'sig=the-secret#' } },
      'INVALID_CREDENTIALS',
      'SAS_TOKEN',
    ],
    [
      'a metadata address',
      { credentials: { ...s3, S3_ENDPOINT: 'https://169.254.169.254' } },
      'ADDRESS_REFUSED',
      'metadata',
    ],
    ['a bucket that is a path', { bucket: '../other' }, 'INVALID_REQUEST', 'bucket name'],
    ['no bucket', { bucket: '' }, 'INVALID_REQUEST', 'bucket name'],
  ])('refuses %s', (_case, changes, code, words) => {
    expect(() => open(changes)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(words) }));
    expect(() => open(changes)).not.toThrow('the-secret');
  });

  it('refuses to call a host that resolves to a refused address', async () => {
    const loopback = new OutboundPolicy({ schemes: ['http'], allowedClasses: [] }, async () => [
      { address: '127.0.0.1', family: 4 },
    ]);
    const store = open({ outbound: loopback, credentials: { ...s3, S3_ENDPOINT: 'http://minio.example:9' } });
    await expect(store.check()).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
      retryable: false,
      message: expect.stringContaining('minio.example, which is at 127.0.0.1'),
    });
  });
});
