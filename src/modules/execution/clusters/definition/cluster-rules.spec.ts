import type { CloudEnvData } from '../../../infrastructure/environments';
import { CLOUD_PROVIDER_ID, type ReferenceData } from '../../../foundation/reference-data';
import { clusterLabels } from './cluster-rules';

const referenceData = { labelPattern: () => null } as unknown as ReferenceData;

function labelsOf(
  provider: keyof typeof CLOUD_PROVIDER_ID,
  own: number,
  ofEnvironment: number,
): Record<string, string> {
  const cloudEnv = { cloud_provider_id: CLOUD_PROVIDER_ID[provider], labels: labels('env', ofEnvironment) };
  return clusterLabels(labels('own', own), cloudEnv as unknown as CloudEnvData, '7', referenceData);
}

function labels(name: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, 'value']));
}

describe('labels of clusters', () => {
  it.each([
    ['OCI', 5, 2],
    ['AWS', 22, 25],
    ['Azure', 22, 25],
    ['GCP', 22, 25],
    ['OnPrem', 22, 25],
  ] as const)('of %s do not exceed the limit of its machines', (provider, own, ofEnvironment) => {
    expect(Object.keys(labelsOf(provider, own, ofEnvironment))).toHaveLength(own + 3);
    const refusal = expect.objectContaining({ code: 'CLUSTER.TOO_MANY_LABELS' }) as Error;
    expect(() => labelsOf(provider, own + 1, ofEnvironment)).toThrow(refusal);
  });

  it('of Azure differ by more than case, also from those of the environment', () => {
    const cloudEnv = { cloud_provider_id: CLOUD_PROVIDER_ID.Azure, labels: { Team: 'data' } };
    const labelsWith = (own: Record<string, string>, provider: number = CLOUD_PROVIDER_ID.Azure) =>
      clusterLabels(own, { ...cloudEnv, cloud_provider_id: provider } as unknown as CloudEnvData, '7', referenceData);
    expect(() => labelsWith({ team: 'data' })).toThrow(/the labels "team" and "Team" as the same/);
    expect(labelsWith({ Team: 'other' })).toMatchObject({ Team: 'other' });
    expect(labelsWith({ team: 'data' }, CLOUD_PROVIDER_ID.AWS)).toMatchObject({ team: 'data' });
  });
});
