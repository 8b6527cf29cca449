import { setProductName } from '../../../../platform/kernel/product/product-name';
import { checkLabels, reservedLabels, withoutReserved } from './cloud-envs.joins';

const google = {
  key: /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u,
  value: /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u,
  description: 'lower-case letters',
};

function refusal(labels: Record<string, unknown>): unknown {
  try {
    checkLabels(labels, google);
    return null;
  } catch (error) {
    return error;
  }
}

describe('labels', () => {
  afterEach(() => setProductName('PLATFORM'));

  it('reserves three that carry the product name and the tenant', () => {
    setProductName('Sparky');
    expect(reservedLabels('t-1')).toEqual({ resource: 'sparky', vm: 'sparky_node', tenant_id: 't-1' });
  });

  it('that are reserved and unchanged are none of the caller, and others stay to be refused', () => {
    expect(withoutReserved({ team: 'a', ...reservedLabels('t-1') }, 't-1')).toEqual({ team: 'a' });
    const changed = { tenant_id: 't-2', vm: 'mine', Resource: 'platform', toString: 'a' };
    expect(withoutReserved(changed, 't-1')).toEqual(changed);
  });

  it('takes what the pattern of the provider takes', () => {
    expect(refusal({ team: 'données', 'cost-center': '4711', empty: '' })).toBeNull();
    expect(refusal({})).toBeNull();
  });

  it('names the label that is wrong', () => {
    expect(refusal({ Team: 'a' })).toMatchObject({ code: 'LABEL.INVALID', details: { key: 'Team' } });
    expect(refusal({ ok: 'a', team: 'A' })).toMatchObject({ code: 'LABEL.INVALID', details: { key: 'team' } });
    expect(refusal({ team: 1 })).toMatchObject({ code: 'LABEL.INVALID', details: { key: 'team' } });
  });

  it.each(['resource', 'vm', 'tenant_id', 'Tenant_ID'])('keeps %s for the platform', (key) => {
    expect(refusal({ [key]: 'mine' })).toMatchObject({ kind: 'invalid', code: 'LABEL.RESERVED', details: { key } });
  });
});
