import { s3Endpoints, s3Properties, s3ServerOf } from './s3-servers';

const properties = new Map([
  ['fs.s3a.endpoint', 's3.example.org:9000'],
  ['fs.s3a.connection.ssl.enabled', 'false'],
  ['fs.s3a.secret.key', 'hush'],
  ['fs.s3a.bucket.my.logs.endpoint', 'https://logs.example.org'],
  ['fs.s3a.bucket.far.endpoint', 's3.eu-central-1.amazonaws.com'],
  ['fs.s3a.bucket.far.endpoint.region', 'eu-central-1'],
  ['fs.s3a.bucket.far.connection.ssl.enabled', 'true'],
]);

describe('S3 servers in Hadoop properties', () => {
  it('apply to all buckets except those with their own server', () => {
    expect(s3ServerOf(properties, 'sales')).toEqual({ endpoint: 'http://s3.example.org:9000', region: null });
    expect(s3ServerOf(properties, 'my.logs')).toEqual({ endpoint: 'https://logs.example.org', region: null });
    expect(s3ServerOf(properties, 'far')).toEqual({ endpoint: null, region: 'eu-central-1' });
    expect(s3ServerOf(new Map(), 'sales')).toBeNull();
  });

  it('are extracted without credentials and compared by endpoint', () => {
    expect([...s3Properties(properties).keys()]).not.toContain('fs.s3a.secret.key');
    expect(s3Endpoints(properties)).toEqual([
      [null, 'http://s3.example.org:9000'],
      ['far', null],
      ['my.logs', 'https://logs.example.org'],
    ]);
  });

  it('differ if a single bucket is used without TLS', () => {
    const base: [string, string][] = [['fs.s3a.endpoint', 's3.example.org']];
    const plain = s3Endpoints(new Map([...base, ['fs.s3a.bucket.logs.connection.ssl.enabled', 'false']]));
    expect(plain).toEqual([
      [null, 'https://s3.example.org'],
      ['logs', 'http://s3.example.org'],
    ]);
    expect(s3Endpoints(new Map(base))).not.toEqual(plain);
  });
});
