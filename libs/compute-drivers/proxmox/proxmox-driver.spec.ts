import { eventually } from '../../../test/harness/eventually';
import { type FakeNode, FakeProxmox, type FakeUser } from '../../../test/fakes/clouds/fake-proxmox';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import type { BootScript } from '../cloud-driver';
import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { describeComputeDriverContract, plainNodeSpec, refOf } from '../compute-driver.contract';
import { ProxmoxConnections } from './proxmox-connections';
import { ProxmoxDriver } from './proxmox-driver';

const SPARK = '3.5.3';
const GIB = 2 ** 30;
const ROOT: FakeUser = { name: 'platform@pve', password: 'pass wörd&=+' };
const NODE: FakeNode = {
  ...{ node: 'pve1', status: 'online', cpu: 0.1, maxcpu: 16, mem: 8 * GIB, maxmem: 64 * GIB, disk: 1, maxdisk: 2 },
};

const bootScript: BootScript = ({ boot }) => {
  if (boot.sparkVersion !== SPARK)
    throw new ComputeDriverError('SparkUnknown', 'Unknown Spark version.', { kind: 'invalid' });
  return `#!/bin/sh\n# ${boot.bootstrapToken}\n`;
};

function newDriver(): ProxmoxDriver {
  const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });
  return new ProxmoxDriver({
    bootScript,
    connections: new ProxmoxConnections(outbound, { ca: null, unverifiedHosts: [] }),
  });
}

function adapted(spec: NodeSpec): NodeSpec {
  return { ...spec, image: 'spark-template', place: { ...spec.place, network: 'vmbr0', networkCard: 'virtio' } };
}

const startFake = (user: FakeUser = ROOT) => FakeProxmox.start({ users: [user], nodes: [NODE] });
const credentials = { USERNAME: ROOT.name, PASSWORD: ROOT.password };

describeComputeDriverContract('Proxmox VE driver', async () => {
  const fake = await startFake();
  return {
    driver: newDriver(),
    sparkVersion: SPARK,
    account: { endpoint: fake.url, credentials },
    adapt: adapted,
    close: () => fake.stop(),
  };
});

describe('ProxmoxDriver', () => {
  const driver = newDriver();
  let fake: FakeProxmox;
  let context: DriverContext;

  const begin = async (user: FakeUser = ROOT) => {
    fake = await startFake(user);
    context = { endpoint: fake.url, credentials, correlationId: 'test', signal: AbortSignal.timeout(60_000) };
  };
  afterEach(() => fake.stop());

  const spec = (values: Partial<NodeSpec> = {}): NodeSpec => ({
    ...adapted(plainNodeSpec('node-1', SPARK)),
    ...values,
  });
  const stateOf = async (one: NodeSpec) => (await driver.describe([refOf(one)], context))[0];
  const until = async (one: NodeSpec, state: string) => {
    for (let tries = 0; tries < 2000; tries += 1) {
      const node = await stateOf(one);
      if (node?.state === state) return node;
    }
    throw new Error(`never ${state}`);
  };
  const destroyed = async () => {
    while ((await driver.destroy(refOf(spec()), context)) !== 'gone');
  };

  it('creates the machine of the spec with a seed image, and removes both', async () => {
    await begin();
    await driver.provision(spec(), context);
    await until(spec(), 'running');
    const [made] = fake.machines.running();
    expect(made?.seed?.toString('latin1')).toContain('# secret-bootstrap-token');
    const { config } = fake.machines.machines.get(made?.vmid ?? 0) ?? {};
    expect(config).toMatchObject({ cores: '1', memory: '512', agent: '1', scsi0: expect.any(String) });
    expect(config?.['net0']).toMatch(/^virtio=[0-9A-F:]+,bridge=vmbr0$/);
    expect(config?.['scsi1']).toMatch(/^local-lvm:vm-\d+-disk-\d+,size=20G$/);
    expect(config?.['ide2']).toBe('local:iso/platform-seed-' + config?.['ide2']?.slice(24));
    expect(config?.['description']).not.toContain('secret-bootstrap-token');
    await destroyed();
    expect([fake.machines.volumes.size, fake.machines.machines.size]).toEqual([0, 1]);
  });

  it('provisions a machine once, even with concurrent calls', async () => {
    await begin();
    const wanted = spec();
    await Promise.all([1, 2, 3].map(() => driver.provision(wanted, context)));
    for (let round = 0; round < 20; round += 1) await Promise.all([stateOf(wanted), stateOf(wanted), stateOf(wanted)]);
    const [made] = fake.machines.running();
    const { config = {} } = fake.machines.machines.get(made?.vmid ?? 0) ?? {};
    expect(Object.keys(config).filter((key) => /^(scsi|unused)/.test(key))).toEqual(['scsi0', 'scsi1']);
  });

  it('keeps text beside its note, and does not touch a machine whose note was removed', async () => {
    await begin();
    await driver.provision(spec(), context);
    await until(spec(), 'running');
    const [made] = fake.machines.running();
    const { config = {} } = fake.machines.machines.get(made?.vmid ?? 0) ?? {};
    config['description'] = `Do not switch off!\n${config['description']}`;
    expect((await stateOf(spec()))?.state).toBe('running');
    config['description'] = 'Mine now';
    expect((await stateOf(spec()))?.state).toBe('gone');
    await destroyed();
    expect(fake.machines.running()).toHaveLength(1);
  });

  it('takes the next id if another machine has the first', async () => {
    await begin();
    const first = await driver.provision(spec(), context);
    const stranger = { vmid: Number(first.providerRef), node: 'pve1', config: { name: 'db' }, isRunning: true };
    fake.machines.machines.set(stranger.vmid, { ...stranger, isTemplate: false });
    const second = await driver.provision(spec(), context);
    expect(second.providerRef).not.toBe(first.providerRef);
    await until(spec(), 'running');
    await destroyed();
    expect(fake.machines.machines.get(stranger.vmid)?.config).toEqual({ name: 'db' });
  });

  it('reports why a machine cannot start, with the message of Proxmox VE', async () => {
    await begin();
    fake.machines.failing.set('qmstart', "bridge 'vmbr0' is down");
    await driver.provision(spec(), context);
    const { fault } = await until(spec(), 'failed');
    expect(fault?.message).toContain("bridge 'vmbr0' is down");
    await destroyed();
  });

  it('cuts and cleans the end status of a task', async () => {
    await begin();
    fake.machines.failing.set('qmstart', `\u001b[31mno\u0000 KVM${'!'.repeat(5000)}`);
    await driver.provision(spec(), context);
    const { message = '' } = (await until(spec(), 'failed')).fault ?? {};
    expect(message).toMatch(/^Proxmox VE cannot start the machine: \[31mno {2}KVM!+…$/);
    expect(message.length).toBeLessThan(700);
    await destroyed();
  });

  it.each([
    ["clone failed: lvcreate 'pve/vm-disk' error: Insufficient free space", 'capacity'],
    ["clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout", 'transient'],
    ['clone failed: unable to parse volume ID', 'invalid'],
  ])('reports soon that the template could not be cloned: %s', async (words, kind) => {
    await begin();
    fake.machines.failing.set('qmclone', words);
    await driver.provision(spec(), context);
    const { fault } = await until(spec(), 'failed');
    expect(fault).toMatchObject({ kind, message: expect.stringContaining(words) });
    expect(await driver.destroy(refOf(spec()), context)).toBe('gone');
    expect([fake.machines.volumes.size, fake.machines.machines.size]).toEqual([0, 1]);
    expect((await stateOf(spec()))?.state).toBe('gone');
    fake.machines.failing.clear();
    await driver.provision({ ...spec(), attempt: 2 }, context);
    await until(spec(), 'running');
    await destroyed();
  });

  it('reports a failed clone of another worker if its task names the machine, and no older one', async () => {
    await begin();
    const { providerRef } = await newDriver().provision(spec(), context);
    fake.machines.failing.set('qmclone', 'no free space');
    await destroyed();
    const other = newDriver();
    fake.machines.failing.set(
      'qmclone',
      `clone failed: zfs error: cannot create 'vm-${providerRef}-disk-0': out of space`,
    );
    await other.provision(spec(), context);
    const accepted = { ...refOf(spec()), acceptedAt: new Date() };
    const described = async (ref = accepted) => (await driver.describe([ref], context))[0];
    await eventually(async () => (await described())?.state === 'failed');
    expect(await described()).toMatchObject({ fault: { kind: 'capacity' } });
    expect(await described({ ...accepted, acceptedAt: new Date(Date.now() - 7_200_000) })).toMatchObject({
      state: 'gone',
    });
    expect(await described({ ...accepted, nodeToken: 'another' })).toMatchObject({ state: 'gone' });
  });

  it('retries the start of a locked machine', async () => {
    await begin();
    fake.machines.failing.set('qmstart', "can't lock file '/var/lock/qemu-server/lock-1.conf' - got timeout");
    await driver.provision(spec(), context);
    const starts = () => fake.calls.filter((call) => call.endsWith('/status/start')).length;
    await eventually(async () => (await stateOf(spec()))?.state === 'pending' && starts() > 1);
    fake.machines.failing.clear();
    await until(spec(), 'running');
    await destroyed();
  });

  it('reports that a storage is full', async () => {
    await begin();
    fake.machines.failing.set('config', "unable to create image: lvcreate 'pve/vm-1' error: Insufficient free space");
    await driver.provision(spec(), context);
    await expect(until(spec(), 'running')).rejects.toMatchObject({
      ...{ kind: 'capacity', scope: 'zone' },
      message: expect.stringContaining('Insufficient free space') as string,
    });
    await destroyed();
  });

  it('reports a machine that stays locked', async () => {
    await begin();
    const { providerRef } = await driver.provision(spec(), context);
    await until(spec(), 'running');
    const { config = {} } = fake.machines.machines.get(Number(providerRef)) ?? {};
    for (const [lock, words] of [
      ['clone', `qm unlock ${providerRef}`],
      ['backup', 'is locked (backup)'],
    ] as const) {
      config['lock'] = lock;
      const refused = driver.destroy(refOf(spec()), context);
      await expect(refused).rejects.toMatchObject({ kind: 'transient', message: expect.stringContaining(words) });
    }
    delete config['lock'];
    await destroyed();
  });

  it.each<[string, (one: NodeSpec) => NodeSpec, string, string]>([
    ['a template', (one) => ({ ...one, image: 'other' }), 'invalid', 'no template with the name or id "other"'],
    [
      'a bridge',
      (one) => ({ ...one, place: { ...one.place, network: 'vmbr9' } }),
      'invalid',
      'no network bridge "vmbr9"',
    ],
    ['a host', (one) => ({ ...one, place: { ...one.place, hosts: ['pve9'] } }), 'invalid', 'host pve9 is not online'],
    [
      'a storage',
      (one) => ({ ...one, disks: one.disks.map((disk) => ({ ...disk, type: 'ceph' })) }),
      'invalid',
      'no storage "ceph"',
    ],
    [
      'a host with room',
      (one) => ({ ...one, machine: { ...one.machine, memoryMb: 10 ** 6 } }),
      'capacity',
      'No host of Proxmox VE has 1000000 MiB',
    ],
  ])('names what is missing: %s', async (_what, change, kind, words) => {
    await begin();
    const refused = driver.provision(change(spec()), context);
    await expect(refused).rejects.toMatchObject({ kind, message: expect.stringContaining(words) });
    expect([fake.machines.volumes.size, fake.machines.machines.size]).toEqual([0, 1]);
  });

  it('names the privilege that the account lacks', async () => {
    await begin({ ...ROOT, lacks: { 'POST /clone': 'VM.Clone' } });
    const refused = driver.provision(spec(), context);
    await expect(refused).rejects.toMatchObject({ kind: 'denied', message: expect.stringContaining('VM.Clone') });
    expect(await driver.destroy(refOf(spec()), context)).toBe('gone');
    expect(fake.machines.volumes.size).toBe(0);
  });

  it('reports a wrong password, and a host of the cluster that does not respond', async () => {
    await begin();
    const wrong = { ...context, credentials: { ...credentials, PASSWORD: 'wrong' } };
    await expect(driver.describe([refOf(spec())], wrong)).rejects.toMatchObject({ kind: 'denied' });
    fake.answerWith((_request, response) => response.writeHead(595, 'No route to host').end());
    await expect(driver.describe([refOf(spec())], context)).rejects.toMatchObject({ kind: 'transient' });
  });

  it.each(['{"data":{}}', '{"data":[1,null,{"vmid":"x","node":"../.."}]}', '[]', '<html>'])(
    'survives the response %s',
    async (body) => {
      await begin();
      fake.answerWith((request, response) =>
        response.end(request.url?.endsWith('/ticket') ? '{"data":{"ticket":"t","CSRFPreventionToken":"c"}}' : body),
      );
      const result = await driver.describe([refOf(spec())], context).catch((error: unknown) => error);
      expect(Array.isArray(result) ? result : [result]).toMatchObject([
        Array.isArray(result) ? { state: 'gone' } : { name: 'ProxmoxError' },
      ]);
    },
  );

  it('times out at an endpoint that hangs', async () => {
    await begin();
    fake.answerWith(() => undefined);
    const signal = AbortSignal.timeout(100);
    await expect(driver.provision(spec(), { ...context, signal })).rejects.toMatchObject({ kind: 'transient' });
  });
});
