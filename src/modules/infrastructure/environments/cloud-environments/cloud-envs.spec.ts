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

  it('reserve three keys for the product name and the tenant', () => {
    setProductName('Sparky');
    expect(reservedLabels('t-1')).toEqual({ resource: 'sparky', vm: 'sparky_node', tenant_id: 't-1' });
  });

  it('lose unchanged reserved ones and keep changed ones, which are then refused', () => {
    expect(withoutReserved({ team: 'a', ...reservedLabels('t-1') }, 't-1')).toEqual({ team: 'a' });
    const changed = { tenant_id: 't-2', vm: 'mine', Resource: 'platform', toString: 'a' };
    expect(withoutReserved(changed, 't-1')).toEqual(changed);
  });

  it("are accepted if they match the provider's pattern", () => {
    expect(refusal({ team: 'données', 'cost-center': '4711', empty: '' })).toBeNull();
    expect(refusal({})).toBeNull();
  });

  it('are refused with the key of the first invalid one', () => {
    expect(refusal({ Team: 'a' })).toMatchObject({ code: 'LABEL.INVALID', details: { key: 'Team' } });
    expect(refusal({ ok: 'a', team: 'A' })).toMatchObject({ code: 'LABEL.INVALID', details: { key: 'team' } });
    expect(refusal({ team: 1 })).toMatchObject({ code: 'LABEL.INVALID', details: { key: 'team' } });
  });

  it.each(['resource', 'vm', 'tenant_id', 'Tenant_ID'])('cannot have the reserved key %s', (key) => {
    expect(refusal({ [key]: 'mine' })).toMatchObject({ kind: 'invalid', code: 'LABEL.RESERVED', details: { key } });
  });
});
