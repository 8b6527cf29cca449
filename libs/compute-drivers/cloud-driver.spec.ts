import { MACHINE_LABEL, machineLabels, ownerOf } from './cloud-driver';
import { plainNodeSpec } from './compute-driver.contract';

describe('labels of machines', () => {
  const spec = plainNodeSpec('8f9a6cda-66ab-4d7e-a7b2-0a2f7c8f0a11', '3.5.9');

  const others = machineLabels({ ...spec, labels: { ...spec.labels, nodeToken: 'other' } });
  const othersJoined = machineLabels({ ...spec, labels: { ...spec.labels, nodeToken: 'other' } }, 0);

  it.each([[others], [othersJoined], [{ ...others, ...othersJoined }]])(
    'name the owner of a machine even if labels of its cluster imitate them: %j',
    (forged: Record<string, string>) => {
      const userLabels = { ...forged, team: 'data' };
      for (const maxLabels of [Infinity, 1]) {
        const labels = machineLabels({ ...spec, attempt: 3, userLabels }, maxLabels);
        expect(ownerOf(labels)).toEqual({ ...spec.labels, attempt: 3 });
        expect(labels).toMatchObject({ team: 'data' });
      }
    },
  );

  it.each([
    [50, 46, 50],
    [50, 47, 47],
    [50, 50, 50],
    [10, 6, 10],
    [10, 10, 10],
  ])('fit into a limit of %i if the cluster has %i: the machine has %i', (maxLabels, ofCluster, ofMachine) => {
    const own = Array.from({ length: ofCluster - 1 }, (_, at) => [`own${at}`, 'value']);
    const userLabels = { ...(Object.fromEntries(own) as Record<string, string>), [MACHINE_LABEL]: 'product_node' };
    const labels = machineLabels({ ...spec, userLabels }, maxLabels);
    expect(Object.keys(labels)).toHaveLength(ofMachine);
    expect(Object.keys(labels)).toEqual(expect.arrayContaining(Object.keys(userLabels)));
    expect(ownerOf(labels)).toEqual({ ...spec.labels, attempt: 1 });
    expect((labels[MACHINE_LABEL] ?? '').length).toBeLessThanOrEqual(256);
  });

  it('have the form that Google Cloud accepts, the strictest provider', () => {
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
    [{ vm: 'product_node' }],
    [{ vm: 'platform/own/7/11/node' }],
    [{ vm: 'platform/own/7/11/node/first' }],
    [{ vm: 'platform/own/7/11//1' }],
    [{ vm: 'platform/own/7/11/a/b/1' }],
    [{ vm: ' platform/own/7/11/node/1' }],
  ])('%j name no owner', (labels: Record<string, string>) => {
    expect(ownerOf(labels)).toBeNull();
  });
});
