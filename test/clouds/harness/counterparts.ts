import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAKE_AZURE, FakeAzure } from '../../fakes/clouds/fake-azure';
import { FakeGoogleCompute } from '../../fakes/clouds/fake-google-compute';
import { FakeOci } from '../../fakes/clouds/fake-oci';
import { FakeProxmox } from '../../fakes/clouds/fake-proxmox';
import { selfSigned } from '../../fakes/http/self-signed';
import type { CloudDescription } from './cloud-estate';
import type { RoomMachine } from './machine-room';

/** Fields that such credentials require, but that nothing here uses. */
const GOOGLE_REST = {
  CLIENT_ID: '1',
  AUTH_URI: 'https://accounts.google.com/o/oauth2/auth',
  AUTH_PROVIDER_X509_CERT_URL: 'https://www.googleapis.com/oauth2/v1/certs',
  CLIENT_X509_CERT_URL: 'https://www.googleapis.com/robot/v1/metadata/x509/nodes',
};
const AZURE_REST = { STORAGE_ACCOUNT_NAME: 'account', CONTAINER_NAME: 'container' };

/** A running fake provider, and the description of clusters there. */
export interface Counterpart<F = unknown> {
  fake: F;
  env(folder: string): Record<string, string>;
  cloud: Omit<CloudDescription, 'name'>;
  list(): RoomMachine[];
  scriptAtEachBoot?: boolean;
  stop(): Promise<void>;
}

export async function google(): Promise<Counterpart<FakeGoogleCompute>> {
  const fake = await FakeGoogleCompute.start();
  return {
    fake,
    env: () => ({ COMPUTE_GOOGLE_ENDPOINT: fake.url }),
    cloud: {
      ...{ providerId: 0, zoneId: 42, credentialTypeId: 0, cloudProject: fake.project },
      credentials: { ...fake.credentials, ...GOOGLE_REST },
      network: { network_project_id: 'host-project', network_name: 'shared', subnet: 'nodes', network_tags: [] },
      ...{ image: 'projects/images/global/images/spark', machineTypeId: 3, diskTypeId: 0 },
    },
    list: () => fake.machines(),
    scriptAtEachBoot: true,
    stop: () => fake.stop(),
  };
}

export async function azure(): Promise<Counterpart<FakeAzure>> {
  const fake = await FakeAzure.start();
  const { networkGroup: network_project_id, network: network_name, subnet } = FAKE_AZURE;
  return {
    fake,
    env(folder) {
      const file = join(folder, 'azure.pem');
      writeFileSync(file, fake.ca);
      return {
        COMPUTE_AZURE_ENDPOINT: fake.url,
        COMPUTE_AZURE_AUTHORITY: fake.url,
        NODE_EXTRA_CA_CERTS: file,
      };
    },
    cloud: {
      ...{ providerId: 2, zoneId: 125, credentialTypeId: 2, credentials: { ...FAKE_AZURE.credentials, ...AZURE_REST } },
      network: { network_project_id, network_name, subnet, network_tags: [] },
      ...{ cloudProject: FAKE_AZURE.group, image: FAKE_AZURE.image, machineTypeId: 200, diskTypeId: 7 },
    },
    list: () =>
      fake.machines().map(({ name: id, running, customData: userData }) => ({
        ...{ id, userData, boots: 1, state: running ? ('running' as const) : ('stopped' as const) },
      })),
    stop: () => fake.stop(),
  };
}

export async function oci(): Promise<Counterpart<FakeOci>> {
  const fake = await FakeOci.start();
  return {
    fake,
    env: () => ({ COMPUTE_OCI_ENDPOINT: fake.url }),
    cloud: {
      ...{ providerId: 4, zoneId: 413, credentialTypeId: 4, credentials: fake.credentials },
      network: { network_name: 'workspace', subnet: 'nodes & more', network_tags: [] },
      ...{ image: fake.image, machineTypeId: 1000, diskTypeId: 14 },
    },
    list: () => fake.running().map((machine) => ({ ...machine, state: 'running', boots: 1 })),
    stop: () => fake.stop(),
  };
}

export async function proxmox(): Promise<Counterpart<FakeProxmox>> {
  const identity = selfSigned();
  const account = { name: 'platform@pve', password: 'word of the platform' };
  const gib = 2 ** 30;
  const memory = { cpu: 0.1, maxcpu: 16, mem: 8 * gib, maxmem: 64 * gib, disk: 1, maxdisk: 2 };
  const nodes = [{ node: 'pve1', status: 'online' as const, ...memory }];
  const fake = await FakeProxmox.start({ users: [account], nodes, identity });
  return {
    fake,
    env(folder) {
      const file = join(folder, 'proxmox.pem');
      writeFileSync(file, identity.cert);
      return { ONPREM_CA_FILE: file };
    },
    cloud: {
      ...{ providerId: 3, credentialTypeId: 3, endpoint: fake.url },
      credentials: { USERNAME: account.name, PASSWORD: account.password },
      network: { bridge: 'vmbr0', model: 'virtio' },
      ...{ image: 'spark-template', machineTypeId: 1486, diskTypeId: 10 },
    },
    list: () =>
      fake.machines.running().map(({ vmid, seed }) => ({
        ...{ id: String(vmid), state: 'running' as const, boots: 1, userData: scriptIn(seed) },
      })),
    stop: () => fake.stop(),
  };
}

/** Reads the boot script, which is the last file of the seed image. */
function scriptIn(seed: Buffer | null): string {
  const text = seed?.toString('utf8') ?? '';
  return text.slice(text.indexOf('#!/bin/sh')).replaceAll('\0', '');
}
