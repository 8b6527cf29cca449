import type { RunMount } from '../contracts/agent-protocol';
import { lastClassPath, mountProperties, propertiesText, REDACTED } from './mounts';
import { SubmitError } from './submit-error';

const s3 = (change: Partial<RunMount> = {}): RunMount => ({
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
const gcs = (change: Partial<RunMount> = {}): RunMount => ({
  ...s3(),
  mount_point: '/mnt/gcs',
  provider: 'gcp',
  credentials: { CLIENT_EMAIL: 'a@b', PRIVATE_KEY_ID: 'id', PRIVATE_KEY: 'key' },
  ...change,
});
const azure = (account: string, change: Partial<RunMount> = {}): RunMount => ({
  ...s3(),
  mount_point: `/mnt/${account}`,
  provider: 'azure',
  credentials: { STORAGE_ACCOUNT_NAME: account, TENANT_ID: 't', CLIENT_ID: 'c', CLIENT_SECRET: 's' },
  ...change,
});
const properties = (...mounts: RunMount[]): Record<string, string> => Object.fromEntries(mountProperties(mounts));
const refusal = (...mounts: RunMount[]): string => {
  try {
    mountProperties(mounts);
  } catch (error) {
    if (error instanceof SubmitError) return error.message;
    throw error;
  }
  return 'none';
};

describe('mountProperties', () => {
  it('are empty without mounts', () => {
    expect(mountProperties([])).toEqual([]);
  });

  it('make the mounts the default file system', () => {
    expect(properties(s3(), gcs({ path: '', read_only: true }))).toMatchObject({
      'spark.hadoop.fs.defaultFS': 'mounts:///',
      'spark.hadoop.fs.mounts.impl': 'mounts.MountFileSystem',
      'spark.hadoop.fs.AbstractFileSystem.mounts.impl': 'mounts.MountFs',
      'spark.hadoop.fs.mounts.count': '2',
      'spark.hadoop.fs.mounts.0.point': '/mnt/data',
      'spark.hadoop.fs.mounts.0.target': 's3a://sales/a/b',
      'spark.hadoop.fs.mounts.0.read-only': 'false',
      'spark.hadoop.fs.mounts.1.point': '/mnt/gcs',
      'spark.hadoop.fs.mounts.1.target': 'gs://sales/',
      'spark.hadoop.fs.mounts.1.read-only': 'true',
    });
  });

  it('have names that Spark redacts wherever their values are secret', () => {
    const encrypted = s3({ encryption: 'SSE-C', extra_configs: { 'fs.s3a.encryption.key': 'secret' } });
    const keyed = azure('acc', { extra_configs: { 'fs.azure.account.key.acc.dfs.core.windows.net': 'secret' } });
    const found = properties(encrypted, gcs({ credentials: { ...gcs().credentials, PRIVATE_KEY: 'secret' } }), keyed);
    expect(REDACTED).toMatch(/^\(\?i\)/);
    const redacts = new RegExp(REDACTED.slice(4), 'i');
    const secrets = Object.keys(found).filter((name) => found[name] === 'secret');
    expect(secrets).toHaveLength(4);
    for (const name of secrets) expect(name).toMatch(redacts);
    const others = ['my.password', 'a.token', 'fs.s3a.access.key', 'spark.executorEnv.AWS_ACCESS_KEY_ID'];
    for (const name of [...others, 'spark.sql.catalog.main.token']) expect(name).toMatch(redacts);
    expect('spark.hadoop.fs.s3a.endpoint').not.toMatch(redacts);
  });

  it("include a mount's extra properties, those of Spark unchanged", () => {
    const extra_configs = { 'spark.sql.a': '1', 'mapreduce.b': '2' };
    expect(properties(s3({ extra_configs }))).toMatchObject({ 'spark.sql.a': '1', 'spark.hadoop.mapreduce.b': '2' });
  });

  it('admit mounts that agree, side by side and below one another', () => {
    const both = [
      s3(),
      s3({ mount_point: '/mnt/data/reference', path: '' }),
      s3({ mount_point: '/x', bucket: 'other' }),
    ];
    expect(properties(...both)['spark.hadoop.fs.mounts.count']).toBe('3');
    expect(refusal(gcs(), gcs({ mount_point: '/mnt/b', bucket: 'other' }))).toBe('none');
    expect(refusal(azure('one'), azure('two', { credentials: { ...azure('two').credentials, CLIENT_ID: 'd' } }))).toBe(
      'none',
    );
  });

  it.each([
    ['other keys', { credentials: { ...s3().credentials, AWS_SECRET_ACCESS_KEY: 'x' } }, 'secret.key'],
    ['another region', { credentials: { ...s3().credentials, AWS_DEFAULT_REGION: 'us-east-2' } }, 'endpoint'],
    ['an encryption', { encryption: 'SSE-KMS' }, 'encryption.algorithm'],
    ['a property of its own', { extra_configs: { 'fs.s3a.threads.max': '1' } }, 'threads.max'],
  ])('refuse two mounts of one bucket, one with %s, and name what differs but no value', (_what, change, name) => {
    const text =
      `The mounts /mnt/data and /mnt/b cannot be used in one run: they differ in fs.s3a.bucket.sales.${name}, ` +
      'and Hadoop has only one value of it for the bucket sales.';
    expect(refusal(s3(), s3({ mount_point: '/mnt/b', ...change }))).toBe(text);
    // In either order.
    expect(refusal(s3({ mount_point: '/mnt/b', ...change }), s3())).toMatch(
      /^The mounts \/mnt\/b and \/mnt\/data cannot/,
    );
  });

  it('refuse two accounts of Google Cloud Storage, two credentials of a storage account and a clash of any property', () => {
    expect(
      refusal(gcs(), gcs({ mount_point: '/b', credentials: { ...gcs().credentials, CLIENT_EMAIL: 'x' } })),
    ).toMatch(/\/mnt\/gcs and \/b .* differ in fs\.gs\.auth\.service\.account\.email, .* for Google Cloud Storage\.$/);
    const other = azure('one', { mount_point: '/b', credentials: { ...azure('one').credentials, CLIENT_ID: 'd' } });
    expect(refusal(azure('one'), other)).toContain('for the storage account one.dfs.core.windows.net.');
    const [one, two] = ['1', '2'].map((value) => ({ 'mapreduce.b': value }));
    expect(refusal(s3({ extra_configs: one }), gcs({ extra_configs: two }))).toMatch(
      /differ in mapreduce\.b, and Hadoop has only one value of it for all mounts of a run\.$/,
    );
  });

  it.each(['mnt', '/', '', '/mnt/', '/mnt//data', '/mnt/../etc', '/./x'])('refuse the mount point "%s"', (point) => {
    expect(refusal(s3({ mount_point: point }))).toBe(
      `The mount point ${point} is not an absolute path such as /mnt/data.`,
    );
  });

  it('refuse mounts with a fault, and report each fault before anything else', () => {
    const broken = s3({ mount_point: '/mnt/data', bucket: '', credentials: {}, fault: 'The first is broken.' });
    const gone = s3({ mount_point: '/mnt/gone', fault: 'The second is gone.' });
    expect(refusal(s3(), broken, gone)).toBe('The first is broken. The second is gone.');
  });

  it('refuse two mounts of one mount point', () => {
    expect(refusal(s3(), gcs({ mount_point: '/mnt/data' }))).toBe('Two mounts have the mount point /mnt/data.');
  });
});

describe('propertiesText', () => {
  it('escapes characters with a meaning in properties files', () => {
    expect(propertiesText([['a', 'b=c:d#e']])).toBe('a=b=c:d#e');
    expect(propertiesText([['a b:c=d#!\\', ' \\x\ny\r']])).toBe('a\\ b\\:c\\=d\\#\\!\\\\=\\ \\\\x\\ny\\r');
  });
});

describe('lastClassPath', () => {
  it('follows the existing entries', () => {
    expect(lastClassPath(['/c/*'], {})).toBe('/c/*');
    expect(lastClassPath(['/c/*'], { SPARK_DIST_CLASSPATH: '/a:/b' })).toBe('/a:/b:/c/*');
  });
});
