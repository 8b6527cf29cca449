import { hostname } from 'node:os';
import { FakeProxmox } from '../../libs/testing/fake-proxmox';
import { eventually } from '../../libs/testing/eventually';
import { bodyOf } from '../samples';
import { encodedCredentials } from '../samples/sample';
import type { ApiClient } from './harness/api-client';
import { describeEstate } from './harness/estate';
import { PlatformUnderTest } from './harness/platform';

const PATH = '/cluster/cloud/environment/onprem/nodes';

describe('resources of OnPrem nodes', () => {
  let platform: PlatformUnderTest;
  let admin: ApiClient;
  let credentialsConfId: number;

  beforeAll(async () => {
    platform = await PlatformUnderTest.start({ name: 'onprem-nodes' });
    admin = await platform.admin();
    ({ credentialsConfId } = await describeEstate(admin, platform.runtime.sparkVersion));
  });

  afterAll(async () => {
    await platform?.close();
  });

  const ask = (endpoint: string, id = credentialsConfId) => admin.get(PATH, { endpoint, credential_config_id: id });

  it('of local:// are those of the machine of the running worker', async () => {
    const node = await eventually(async () => (await ask('local://')).nodes[0], { timeoutMs: 90_000 });
    expect(node).toMatchObject({ node_name: hostname(), cpu_cores: expect.any(Number) });
    expect(node.ram_total_gb).toBeGreaterThan(node.ram_used_gb);
    await platform.stopWorker();
    await platform.sql(`UPDATE local_hosts SET reported_at = reported_at - interval '30 seconds'`);
    expect(await ask('local://')).toEqual({ nodes: [] });
  });

  it('of a hypervisor are what it tells of its nodes that are online', async () => {
    const figures = { cpu: 0.5, maxcpu: 8, mem: 2 ** 30, maxmem: 2 ** 34, disk: 2 ** 31, maxdisk: 2 ** 35 };
    const hypervisor = await FakeProxmox.start({
      users: [{ name: 'root@pam', password: 'of the hypervisor' }],
      nodes: [
        { node: 'pve1', status: 'online', ...figures },
        { node: 'pve2', status: 'offline', ...figures },
      ],
    });
    try {
      const secret = { USERNAME: 'root@pam', PASSWORD: 'of the hypervisor' };
      const { credentials_conf_id } = await admin.post('/credential_config', {
        ...{ name: 'hypervisor', ...bodyOf('credentials_conf') },
        base64_encoded_credentials: encodedCredentials(secret),
      });
      const sizes = { ram_total_gb: 16, ram_used_gb: 1, disk_total_gb: 32, disk_used_gb: 2 };
      expect(await ask(hypervisor.url, Number(credentials_conf_id))).toEqual({
        nodes: [{ node_name: 'pve1', cpu_cores: 8, cpu_usage_percent: 50, ...sizes }],
      });
    } finally {
      await hypervisor.stop();
    }
  });
});
