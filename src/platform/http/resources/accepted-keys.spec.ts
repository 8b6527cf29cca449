import { type AcceptedKeys, acceptedValues, assertRequiredKeys } from './accepted-keys';

const keys: AcceptedKeys<'zone' | 'project' | 'bridge'> = { accepted: ['zone', 'project'], required: ['zone'] };

describe('keys by provider', () => {
  it('keeps the accepted keys and drops the others', () => {
    const request: { zone?: number; project?: string; bridge?: string } = { zone: 1, bridge: 'vmbr0' };
    expect(acceptedValues(keys, request)).toEqual({ zone: 1, project: undefined });
  });

  it('takes missing values from the record, and lets null clear them', () => {
    const request: { zone?: number; project?: string | null; bridge?: string } = { project: null };
    expect(acceptedValues(keys, request, { zone: 7, project: 'p', bridge: 'b' })).toEqual({ zone: 7, project: null });
  });

  it('names required keys that have no value', () => {
    const check = (zone: unknown) => () => assertRequiredKeys(keys, { zone }, 'RECORD', 'AWS');
    expect(check(0)).not.toThrow();
    for (const empty of [undefined, null, '', ' \t']) {
      expect(check(empty)).toThrow(
        expect.objectContaining({ code: 'RECORD.KEYS_REQUIRED', message: 'The cloud provider AWS requires zone.' }),
      );
    }
  });
});
