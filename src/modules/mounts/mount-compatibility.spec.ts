import { assertTogether, type PlacedMount } from './mount-compatibility';

describe('mounts of one cluster', () => {
  let next = 0;
  const mount = (more: Partial<PlacedMount>): PlacedMount => {
    next += 1;
    return {
      id: next,
      name: `m${next}`,
      provider: 'AWS',
      bucket: `bucket-${next}`,
      account: null,
      credentialsId: next,
      encryptionTypeId: null,
      extraConfigs: {},
      ...more,
    };
  };

  it.each<[string, Partial<PlacedMount>, Partial<PlacedMount>]>([
    ['of different buckets', {}, {}],
    ['of one bucket with the same credentials', { bucket: 'b', credentialsId: 1 }, { bucket: 'b', credentialsId: 1 }],
    [
      'of Google with the same credentials',
      { provider: 'GCP', credentialsId: 1 },
      { provider: 'GCP', credentialsId: 1 },
    ],
    ['of buckets alike at different providers', { bucket: 'b', provider: 'GCP' }, { bucket: 'b' }],
    ['of different accounts', { provider: 'Azure', account: 'a' }, { provider: 'Azure', account: 'b' }],
    ['with the same properties', { extraConfigs: { k: '1' } }, { extraConfigs: { k: '1', l: '2' } }],
  ])('%s are together', (_name, a, b) => {
    expect(() => assertTogether([mount(a), mount({}), mount(b)])).not.toThrow();
  });

  it.each<[string, Partial<PlacedMount>, Partial<PlacedMount>, RegExp]>([
    ['of one bucket', { bucket: 'b' }, { bucket: 'b', provider: 'OnPrem' }, /the bucket b, with different credentials/],
    [
      'of one bucket with different encryption',
      { bucket: 'b', credentialsId: 1, encryptionTypeId: 0 },
      { bucket: 'b', credentialsId: 1 },
      /with different encryption/,
    ],
    ['of Google', { provider: 'GCP' }, { provider: 'GCP' }, /need the same credentials/],
    ['of one account', { provider: 'Azure', account: 'a' }, { provider: 'Azure', account: 'a' }, /account a, with/],
    [
      'with different properties',
      { extraConfigs: { k: '1' } },
      { extraConfigs: { k: '2' } },
      /give k different values/,
    ],
  ])('%s are not together', (_name, a, b, reason) => {
    const [first, second] = [mount(a), mount(b)];
    expect(() => assertTogether([mount({}), first, second])).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'MOUNT.CONFLICT',
        message: expect.stringMatching(reason),
        details: { mounts: [first, second].map(({ id, name }) => ({ mount_id: id, name })) },
      }),
    );
  });
});
