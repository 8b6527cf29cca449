import { assertCompatible, type LocatedMount } from './mount-compatibility';

type Change = Partial<LocatedMount['mount']> & { credentialsId?: number };

describe('assertCompatible', () => {
  let next = 0;
  const mount = ({ credentialsId, ...more }: Change): LocatedMount => {
    next += 1;
    return {
      id: next,
      name: `m${next}`,
      credentialsId: credentialsId ?? next,
      mount: {
        mount_point: `/mnt/m${next}`,
        provider: 'aws',
        bucket: `bucket-${next}`,
        path: '',
        account: null,
        read_only: false,
        encryption: null,
        extra_configs: {},
        ...more,
      },
    };
  };
  const property = (name: string, value = '1'): Change => ({ extra_configs: { [name]: value } });

  it.each<[string, Change, Change]>([
    ['of different buckets', {}, {}],
    [
      'of one bucket with the same credentials',
      { bucket: 'b', credentialsId: 1 },
      { bucket: 'b', credentialsId: 1, path: 'p', read_only: true },
    ],
    [
      'of Google with the same credentials',
      { provider: 'gcp', credentialsId: 1 },
      { provider: 'gcp', credentialsId: 1 },
    ],
    ['of buckets with the same name at different providers', { bucket: 'b', provider: 'gcp' }, { bucket: 'b' }],
    ['of different accounts', { provider: 'azure', account: 'a' }, { provider: 'azure', account: 'b' }],
    // An S3 property applies only to the mount's bucket.
    [
      'of different buckets with different properties',
      property('fs.s3a.threads.max'),
      property('fs.s3a.threads.max', '2'),
    ],
    [
      'of one bucket with the same properties',
      { ...property('fs.s3a.threads.max'), bucket: 'b', credentialsId: 1 },
      { ...property('fs.s3a.threads.max'), bucket: 'b', credentialsId: 1 },
    ],
  ])('accepts mounts %s', (_name, a, b) => {
    expect(() => assertCompatible([mount(a), mount({}), mount(b)])).not.toThrow();
  });

  it.each<[string, Change, Change, RegExp]>([
    [
      'of one bucket',
      { bucket: 'b' },
      { bucket: 'b', provider: 's3-compatible' },
      /both use the bucket b, with different credentials\.$/,
    ],
    [
      'of one bucket with different encryption',
      { bucket: 'b', credentialsId: 1, encryption: 'SSE-S3' },
      { bucket: 'b', credentialsId: 1 },
      /differ in fs\.s3a\.bucket\.b\.encryption\.algorithm/,
    ],
    [
      'of Google',
      { provider: 'gcp' },
      { provider: 'gcp' },
      /both use Google Cloud Storage, with different credentials/,
    ],
    [
      'of one account',
      { provider: 'azure', account: 'a' },
      { provider: 'azure', account: 'a' },
      /both use the storage account a\.dfs\.core\.windows\.net, with different credentials/,
    ],
    [
      'of different accounts with different properties that apply to all accounts',
      { provider: 'azure', account: 'a', ...property('fs.azure.io.retry.max.retries') },
      { provider: 'azure', account: 'b', ...property('fs.azure.io.retry.max.retries', '2') },
      /differ in fs\.azure\.io\.retry\.max\.retries, and Hadoop has only one value of it for all mounts of a run\.$/,
    ],
    [
      'of one bucket, if one has a property that the other lacks',
      { bucket: 'b', credentialsId: 1, ...property('fs.s3a.threads.max') },
      { bucket: 'b', credentialsId: 1 },
      /differ in fs\.s3a\.bucket\.b\.threads\.max, and Hadoop has only one value of it for the bucket b\.$/,
    ],
  ])('refuses mounts %s', (_name, a, b, reason) => {
    const [first, second] = [mount(a), mount(b)];
    expect(() => assertCompatible([mount({}), first, second])).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'MOUNT.CONFLICT',
        message: expect.stringMatching(reason),
        details: { mounts: [first, second].map(({ id, name }) => ({ mount_id: id, name })) },
      }),
    );
  });
});
