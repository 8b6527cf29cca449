import { MACHINE_LABEL, OWNERSHIP_LABELS } from '../../libs/compute-drivers/cloud-driver';
import type { NodeSpec } from '../../libs/compute-drivers/compute-driver';
import { plainNodeSpec } from '../../libs/compute-drivers/compute-driver.contract';
import { assertLaunchable as assertAws } from '../../libs/compute-drivers/aws/aws-launch';
import { nodeRequests } from '../../libs/compute-drivers/azure/azure-requests';
import { machineOf } from '../../libs/compute-drivers/google/google-machine';
import { assertLaunchable as assertOci } from '../../libs/compute-drivers/oci/oci-launch';
import { newNote } from '../../libs/compute-drivers/proxmox/machine-note';
import { ocid } from '../fakes/clouds/fake-oci';
import { checkLabels } from '../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.joins';
import { CLOUD_PROVIDER_ID } from '../../src/modules/foundation/reference-data/reference-data';
import { readReferenceDataFiles } from '../../src/modules/foundation/reference-data/reference-data-files';

const PLACE = {
  ...{ account: 'project', region: 'eastus', zone: null, networkAccount: null, network: 'net', subnet: 'nodes' },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

const plain = (userLabels: Record<string, string>, values: Partial<NodeSpec>): NodeSpec => ({
  ...plainNodeSpec('node', '3.5.9'),
  ...{ place: PLACE, disks: [], userLabels, ...values },
});

/** Functions that throw if the provider would refuse a machine with the labels. */
const DRIVERS: Readonly<Record<keyof typeof CLOUD_PROVIDER_ID, (labels: Record<string, string>) => void>> = {
  AWS: (labels) => assertAws(plain(labels, { image: 'ami-1' }), ''),
  Azure: (labels) => void nodeRequests(plain(labels, { image: 'a:b:c:d' }), '', 'subscription'),
  GCP: (labels) => void machineOf(plain(labels, { place: { ...PLACE, zone: 'zone-a' }, image: 'image' }), ''),
  OCI: (labels) => assertOci(plain(labels, { image: ocid('image') })),
  OnPrem: (labels) => void newNote(plain(labels, {}), {}),
};

const LABELS: readonly Record<string, string>[] = [
  ...['team', 'Team', 'a', '部署', 'ab-c_d', '1st', '-x', 'a b', 'a.b', 'a:b', 'a/b', 'a\\b', 'a<b', 'a%b', 'a?b', 'é'],
  ...['a\nb', 'a\u0007b', 'aws:x', 'AWS:x', '', '𝒳', 'k'.repeat(63), 'k'.repeat(64), 'k'.repeat(100), 'k'.repeat(101)],
  ...['k'.repeat(128), 'k'.repeat(129), 'k'.repeat(512), 'k'.repeat(513)],
]
  .map((key) => ({ [key]: 'value' }))
  .concat(
    ['', 'Data', 'données', '数', 'a b', 'a\nb', 'v'.repeat(63), 'v'.repeat(64), 'v'.repeat(256), 'v'.repeat(257)].map(
      (value) => ({ team: value }),
    ),
  );

describe('Labels that a cluster may have', () => {
  const { rows } = readReferenceDataFiles();

  it.each(Object.entries(CLOUD_PROVIDER_ID))('are accepted by the driver of %s', (provider, id) => {
    const found = rows.cloud_label_patterns.find((one) => one['cloud_provider_id'] === id);
    const [key, value] = [found?.['key_regex'], found?.['value_regex']].map((text) => new RegExp(String(text), 'u'));
    if (!key || !value) throw new Error(`${provider} has no pattern`);
    const accepted = LABELS.filter((labels) => {
      try {
        checkLabels(labels, { key, value, description: '' });
        return true;
      } catch {
        return false;
      }
    });
    expect(accepted.length).toBeGreaterThan(3);
    expect(accepted.length).toBeLessThan(LABELS.length);
    for (const labels of accepted) expect(() => DRIVERS[provider as keyof typeof DRIVERS](labels)).not.toThrow();
  });

  it('exclude the labels that name the owner of a machine', () => {
    for (const key of [...OWNERSHIP_LABELS, MACHINE_LABEL])
      for (const spelt of [key, key.toUpperCase()])
        expect(() => checkLabels({ [spelt]: 'x' }, undefined)).toThrow(/reserved for the platform/);
  });
});
