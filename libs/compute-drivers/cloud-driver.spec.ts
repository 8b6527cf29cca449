import { machineLabels, OWNERSHIP_LABELS, ownerOf } from './cloud-driver';
import { plainNodeSpec } from './compute-driver.contract';

describe('labels of machines', () => {
  const spec = plainNodeSpec('8f9a6cda-66ab-4d7e-a7b2-0a2f7c8f0a11', '3.5.9');

  it('say whose a machine is, whatever labels its cluster has', () => {
    const labels = machineLabels({ ...spec, attempt: 3, userLabels: { team: 'data', platform_node: 'other' } });
    expect(ownerOf(labels)).toEqual({ ...spec.labels, attempt: 3 });
    expect(Object.keys(labels)).toHaveLength(OWNERSHIP_LABELS.length + 1);
    expect(labels).toMatchObject({ team: 'data' });
  });

  it('fit what Google Cloud accepts, which is the least', () => {
    const tenantId = '0b1e3c1e-9d27-4f06-8f37-1d0d0f7a3c55';
    const labels = machineLabels({ ...spec, labels: { ...spec.labels, tenantId, clusterId: '9007199254740991' } });
    for (const text of Object.entries(labels).flat()) expect(text).toMatch(/^[a-z0-9_-]{0,63}$/);
    expect(ownerOf(labels)).toMatchObject({ tenantId, clusterId: '9007199254740991' });
  });

  it.each([
    [{}],
    [{ platform_installation: 'own' }],
    [{ ...machineLabels(spec), platform_cluster: '7' }],
    [{ ...machineLabels(spec), platform_attempt: 'first' }],
    [{ ...machineLabels(spec), platform_node: '' }],
  ])('%j are no node of anybody', (labels: Record<string, string>) => {
    expect(ownerOf(labels)).toBeNull();
  });
});
