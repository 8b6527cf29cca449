import { type AcceptedKeys, acceptedValues, assertRequiredKeys } from './accepted-keys';

const keys: AcceptedKeys<'zone' | 'project' | 'bridge'> = { accepted: ['zone', 'project'], required: ['zone'] };

describe('keys by provider', () => {
  it('keeps the accepted keys and drops the others', () => {
    const given: { zone?: number; project?: string; bridge?: string } = { zone: 1, bridge: 'vmbr0' };
    expect(acceptedValues(keys, given)).toEqual({ zone: 1, project: undefined });
  });

  it('takes what is not given from the record, and lets null clear it', () => {
    const given: { zone?: number; project?: string | null; bridge?: string } = { project: null };
    expect(acceptedValues(keys, given, { zone: 7, project: 'p', bridge: 'b' })).toEqual({ zone: 7, project: null });
  });

  it('names required keys that have no value', () => {
    const check = (zone: unknown) => () => assertRequiredKeys(keys, { zone }, 'RECORD', 'AWS');
    expect(check(0)).not.toThrow();
    for (const empty of [undefined, null, '', ' \t']) {
      expect(check(empty)).toThrow(
        expect.objectContaining({ code: 'RECORD.KEYS_REQUIRED', message: 'Cloud provider AWS needs zone.' }),
      );
    }
  });
});
