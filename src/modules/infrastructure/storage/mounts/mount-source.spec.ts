import { type MountLocation, parseMountSource } from './mount-source';

type Provider = Parameters<typeof parseMountSource>[1];

describe('the source of a mount', () => {
  const at = (bucket: string, path = '', account: string | null = null): MountLocation => ({ bucket, path, account });
  const abfss = 'abfss://files@account1.dfs.core.windows.net';

  it.each<[Provider, string, MountLocation]>([
    ['AWS', 's3://bucket', at('bucket')],
    ['AWS', 's3://bucket/', at('bucket')],
    ['AWS', 's3a://my.bucket-1/a b/c=1/', at('my.bucket-1', 'a b/c=1')],
    ['AWS', 's3a://2026', at('2026')],
    ['AWS', 's3a://2026.a--b.c1', at('2026.a--b.c1')],
    ['AWS', `s3a://${'x'.repeat(63)}`, at('x'.repeat(63))],
    ['AWS', 'bucket/sales/2026', at('bucket', 'sales/2026')],
    ['OnPrem', 's3a://bucket/prefix', at('bucket', 'prefix')],
    ['OnPrem', 'bucket', at('bucket')],
    ['GCP', 'gs://my_bucket/prefix', at('my_bucket', 'prefix')],
    ['GCP', 'bucket/größe', at('bucket', 'größe')],
    ['Azure', `${abfss}/data/raw`, at('files', 'data/raw', 'account1')],
    ['Azure', abfss, at('files', '', 'account1')],
    ['Azure', 'files/data', at('files', 'data')],
  ])('of %s: %s', (provider, source, location) => {
    expect(parseMountSource(source, provider)).toEqual(location);
  });

  it.each<[Provider, string, RegExp]>([
    ['AWS', 'gs://bucket/prefix', /must begin with s3:\/\/ or s3a:\/\//],
    ['AWS', 'S3://bucket', /must begin with/],
    ['AWS', 'file:///etc', /must begin with/],
    ['GCP', 's3a://bucket', /must begin with gs:/],
    ['Azure', 'abfs://files@account1.dfs.core.windows.net', /must begin with abfss:/],
    ['Azure', 'abfss://files/data', /host of its storage account/],
    ['Azure', 'abfss://files@account1.blob.core.windows.net', /host of its storage account/],
    ['Azure', 'abfss://files@account1.dfs.core.windows.net.evil.example', /host of its storage account/],
    ['Azure', 'abfss://a--b@account1.dfs.core.windows.net', /name of a container/],
    ['Azure', 'abfss://@account1.dfs.core.windows.net', /name of a container/],
    ['AWS', 's3a://KEY:hunter2@bucket/prefix', /must not name a user, key or port/],
    ['AWS', 's3a://bucket:9000/prefix', /must not name a user, key or port/],
    ['AWS', 's3a://', /name of a bucket/],
    ['AWS', '/prefix', /name of a bucket/],
    ['AWS', 's3a://Bucket', /name of a bucket/],
    ['AWS', 's3a://my_bucket', /name of a bucket/],
    ['AWS', 's3a://a..b', /name of a bucket/],
    ['AWS', 's3a://ab', /name of a bucket/],
    ['AWS', 's3a://bucket?x=1', /name of a bucket/],
    ['AWS', 's3a://data.2026', /name of a bucket/],
    ['AWS', 's3a://10.0.0.1', /name of a bucket/],
    ['AWS', 's3a://a-.b', /name of a bucket/],
    ['AWS', 's3a://a.-b', /name of a bucket/],
    ['AWS', `s3a://${'x'.repeat(64)}`, /name of a bucket/],
    ['GCP', 'gs://_bucket', /name of a bucket/],
    ['AWS', 's3a://bucket//prefix', /single slashes/],
    ['AWS', 's3a://bucket/a//b', /single slashes/],
    ['AWS', 's3a://bucket/a//', /single slashes/],
    ['AWS', 's3a://bucket/../other', /none of them \. or \.\./],
    ['AWS', 's3a://bucket/a/./b', /none of them \. or \.\./],
    ['AWS', 's3a://bucket/a\nb', /without control characters/],
    ['AWS', 's3a://bucket/a?versionId=1', /must not contain \?, #, %/],
    ['AWS', 's3a://bucket/a%2Fb', /must not contain \?, #, %/],
    ['AWS', 's3a://bucket/${user.home}', /must not contain \$\{/],
    ['GCP', 'gs://bucket/a ', /must not begin or end with white space/],
    ['OnPrem', 'bucket/\u00a0a/b', /must not begin or end with white space/],
  ])('of %s cannot be %s', (provider, source, message) => {
    const parse = () => parseMountSource(source, provider);
    expect(parse).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'MOUNT.INVALID_SOURCE',
        message: expect.stringMatching(message),
      }),
    );
    expect(parse).not.toThrow(/hunter2/);
  });
});
