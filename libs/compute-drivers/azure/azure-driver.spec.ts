import { eventually } from '../../../test/harness/eventually';
import { type AzureFault, FAKE_AZURE, FakeAzure } from '../../../test/fakes/clouds/fake-azure';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { describeComputeDriverContract, plainNodeSpec, refOf } from '../compute-driver.contract';
import { AzureDriver } from './azure-driver';
import { nodeNames } from './azure-requests';

const VERSION = '3.5.3';
const QUICKLY = { timeoutMs: 50_000, everyMs: 5 };
const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] });

/** Returns a driver whose boot script contains the inputs it was made from. */
function driverOf(fake: FakeAzure, ca = fake.ca): AzureDriver {
  return new AzureDriver({
    ...{ outbound, endpoint: fake.url, authority: fake.url, ca },
    bootScript: ({ boot, labels }, notice) => {
      if (boot.sparkVersion !== VERSION)
        throw new ComputeDriverError('NODE.SPARK', 'Unknown Spark version.', { kind: 'invalid' });
      return `#!/bin/sh\n# ${labels.nodeToken} ${notice ?? 'none'} ${boot.bootstrapToken}\n`;
    },
  });
}

function adapted(spec: NodeSpec): NodeSpec {
  const { group: account, networkGroup: networkAccount, network, subnet, region, zone, type, image } = FAKE_AZURE;
  return {
    ...spec,
    image,
    place: { ...spec.place, account, networkAccount, network, subnet, region, zone },
    machine: { ...spec.machine, type },
    disks: [{ gib: 20, type: 'Premium_LRS', iops: null, throughputMb: null, encrypted: false }],
  };
}

describeComputeDriverContract('AzureDriver', async () => {
  const fake = await FakeAzure.start();
  return {
    driver: driverOf(fake),
    sparkVersion: VERSION,
    account: { endpoint: null, credentials: FAKE_AZURE.credentials },
    adapt: adapted,
    interrupt: ({ nodeToken }) => Promise.resolve(fake.evict(nodeNames(nodeToken).machine)),
    labelsOn: ({ nodeToken }) =>
      fake.machines().flatMap(({ name, tags }) => (name === nodeNames(nodeToken).machine ? [tags] : [])),
    close: () => fake.stop(),
  };
});

const NOTHING = { virtualMachines: [], disks: [], networkInterfaces: [], publicIPAddresses: [] };
const { credentials, group } = FAKE_AZURE;
const RESOURCES = `/subscriptions/${credentials.SUBSCRIPTION_ID}/resourceGroups/${group}/providers`;
const PUT_MACHINE = /^PUT .*\/virtualMachines\//;

describe('AzureDriver', () => {
  let fake: FakeAzure;
  let driver: AzureDriver;
  let context: DriverContext;
  let count = 0;

  beforeEach(async () => {
    fake = await FakeAzure.start();
    driver = driverOf(fake);
    context = contextOf();
  });

  afterEach(() => fake.stop());

  const contextOf = (values: Record<string, string> = {}, signal = AbortSignal.timeout(60_000)): DriverContext => ({
    endpoint: null,
    credentials: { ...credentials, ...values },
    correlationId: 'azure',
    signal,
  });

  const specOf = (values: Partial<NodeSpec> = {}): NodeSpec => ({
    ...adapted(plainNodeSpec(`azure-${(count += 1)}`, VERSION)),
    ...values,
  });

  const nameOf = ({ labels }: NodeSpec): string => nodeNames(labels.nodeToken).machine;

  const resources = () => ({
    virtualMachines: fake.names('virtualMachines'),
    disks: fake.names('disks'),
    networkInterfaces: fake.names('networkInterfaces'),
    publicIPAddresses: fake.names('publicIPAddresses'),
  });

  const stateOf = async (spec: NodeSpec) => (await driver.describe([refOf(spec)], context))[0];

  const runs = (spec: NodeSpec) => eventually(async () => (await stateOf(spec))?.state === 'running', QUICKLY);

  const goes = (spec: NodeSpec) =>
    eventually(async () => (await driver.destroy(refOf(spec), context)) === 'gone', QUICKLY);

  const faultOf = async (call: Promise<unknown>): Promise<ComputeDriverError> => {
    const error: unknown = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ComputeDriverError);
    return error as ComputeDriverError;
  };

  const sweep = (live: readonly string[] = [], olderThan = new Date(Date.now() + 3_600_000)) =>
    driver.sweep(
      {
        installationId: 'own',
        place: specOf().place,
        olderThan,
        liveAmong: (tokens) => Promise.resolve(new Set(tokens.filter((token) => live.includes(token)))),
      },
      context,
    );

  it('requests everything in the spec, and removes all of it', async () => {
    const spec = specOf({
      enablePublicIp: true,
      identity: `/subscriptions/${credentials.SUBSCRIPTION_ID}/resourceGroups/${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/spark`,
      disks: [
        { gib: 64, type: 'Premium_LRS', iops: null, throughputMb: null, encrypted: true },
        { gib: 128, type: 'PremiumV2_LRS', iops: 4000, throughputMb: 200, encrypted: true },
      ],
    });
    spec.place = { ...spec.place, networkTags: [FAKE_AZURE.securityGroup] };
    await driver.provision(spec, context);
    await runs(spec);
    const names = nodeNames(spec.labels.nodeToken);
    const node = await stateOf(spec);
    expect(node).toMatchObject({
      privateIp: expect.stringMatching(/^10\./),
      publicIp: expect.stringMatching(/^203\./),
    });
    expect(fake.bodyOf('virtualMachines', names.machine)).toMatchObject({
      zones: ['1'],
      location: 'eastus',
      identity: { type: 'UserAssigned', userAssignedIdentities: { [spec.identity ?? '']: {} } },
      tags: { team: 'data', platform_installation: 'own', platform_node: spec.labels.nodeToken, platform_attempt: '1' },
      properties: {
        securityProfile: { encryptionAtHost: true },
        osProfile: { allowExtensionOperations: false, linuxConfiguration: { disablePasswordAuthentication: true } },
        storageProfile: {
          imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' },
          osDisk: { deleteOption: 'Delete' },
          dataDisks: [
            { lun: 0, createOption: 'Empty', diskSizeGB: 64, deleteOption: 'Delete' },
            { lun: 1, createOption: 'Attach', deleteOption: 'Delete', caching: 'None' },
          ],
        },
      },
    });
    expect(fake.bodyOf('disks', names.disk(1))).toMatchObject({
      sku: { name: 'PremiumV2_LRS' },
      properties: { diskIOPSReadWrite: 4000, diskMBpsReadWrite: 200, diskSizeGB: 128 },
    });
    const [{ customData = '' } = {}] = fake.machines();
    expect(customData).toContain(`# ${spec.labels.nodeToken} none ${spec.boot.bootstrapToken}`);
    await goes(spec);
    expect(resources()).toEqual(NOTHING);
  });

  it('buys a spot machine for up to the on-demand price, and cannot stop it', async () => {
    const spec = specOf({ market: 'spot' });
    await driver.provision(spec, context);
    const wanted = { priority: 'Spot', evictionPolicy: 'Deallocate', billingProfile: { maxPrice: -1 } };
    expect(fake.bodyOf('virtualMachines', nameOf(spec))).toMatchObject({ properties: wanted });
    expect(fake.machines()[0]?.customData).toContain(' azure ');
    expect(driver.canStop({ market: 'spot', type: FAKE_AZURE.type })).toBe(false);
    expect(driver.canStop({ market: 'on-demand', type: FAKE_AZURE.type })).toBe(true);
  });

  it('gives each machine a new key whose private key is discarded', async () => {
    const keys = [];
    for (const spec of [specOf(), specOf()]) {
      await driver.provision(spec, context);
      const { linuxConfiguration } = (
        fake.bodyOf('virtualMachines', nameOf(spec))!['properties'] as {
          osProfile: { linuxConfiguration: { ssh: { publicKeys: { keyData: string }[] } } };
        }
      ).osProfile;
      keys.push(linuxConfiguration.ssh.publicKeys[0]?.keyData);
    }
    expect(keys[0]).toMatch(/^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43} platform$/);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it.each([
    ['id', `/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/known`],
    ['id', '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/a/images/known/versions/1.0.0'],
    ['communityGalleryImageId', '/CommunityGalleries/c/images/known/versions/1.0.0'],
    ['sharedGalleryImageId', '/SharedGalleries/c/images/known/versions/latest'],
  ])('names an image by %s: %s', async (field, image) => {
    const spec = specOf({ image });
    await driver.provision(spec, context);
    expect(fake.bodyOf('virtualMachines', nameOf(spec))).toMatchObject({
      properties: { storageProfile: { imageReference: { [field]: image } } },
    });
  });

  it.each<[string, Partial<NodeSpec> | ((spec: NodeSpec) => Partial<NodeSpec>), RegExp]>([
    ['an invalid image', { image: 'ubuntu' }, /image/],
    ['an invalid identity', { identity: 'spark' }, /user-assigned identity/],
    ['an invalid machine type', ({ machine }) => ({ machine: { ...machine, type: '../x' } }), /machine type/],
    [
      'a zone of another region',
      ({ place }) => ({ place: { ...place, zone: 'westus2-1' } }),
      /not an availability zone of eastus/,
    ],
    ['no resource group', ({ place }) => ({ place: { ...place, account: null } }), /resource group/],
    [
      'a resource group that leads elsewhere',
      ({ place }) => ({ place: { ...place, account: '../../x' } }),
      /resource group/,
    ],
    ['a subnet that leads elsewhere', ({ place }) => ({ place: { ...place, subnet: 'a/../b' } }), /subnet/],
    ['an invalid network tag', ({ place }) => ({ place: { ...place, networkTags: ['a/b'] } }), /network tag/],
    ['a tag that Azure refuses', { userLabels: { 'a<b': '1' } }, /does not allow a tag with the name/],
    ['a tag with the name of an ownership label', { userLabels: { Platform_Node: 'x' } }, /treats as one/],
    ['a tag that is too long', { userLabels: { a: 'x'.repeat(257) } }, /longer than 256/],
    [
      'too many tags',
      { userLabels: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, ''])) },
      /Azure allows 50/,
    ],
  ])('refuses %s before it sends a request', async (_what, values, words) => {
    const spec = specOf();
    const wanted = { ...spec, ...(typeof values === 'function' ? values(spec) : values) };
    const fault = await faultOf(driver.provision(wanted, context));
    expect([fault.kind, fault.message]).toEqual(['invalid', expect.stringMatching(words)]);
    expect(fake.calls.filter((call) => call.startsWith('PUT'))).toEqual([]);
  });

  it('refuses a script that is longer than Azure allows', async () => {
    const long = new AzureDriver({
      ...{ outbound, endpoint: fake.url, authority: fake.url, ca: fake.ca },
      bootScript: () => 'x'.repeat(65_536),
    });
    expect(await faultOf(long.provision(specOf(), context))).toMatchObject({ kind: 'invalid' });
  });

  it.each<[string, AzureFault, Partial<ComputeDriverError>]>([
    [
      'throttling',
      { on: PUT_MACHINE, status: 429, code: 'TooManyRequests', headers: { 'Retry-After': '17' } },
      { kind: 'throttled', retryAfterMs: 17_000 },
    ],
    [
      'a missing right',
      {
        on: PUT_MACHINE,
        status: 403,
        code: 'AuthorizationFailed',
        message: "The client does not have authorization to perform action 'Microsoft.Compute/virtualMachines/write'.",
      },
      { kind: 'denied', message: expect.stringContaining('virtualMachines/write') as string },
    ],
    [
      'a zone without machines',
      { on: PUT_MACHINE, status: 409, code: 'ZonalAllocationFailed' },
      { kind: 'capacity', scope: 'zone' },
    ],
    [
      'a region without machines',
      { on: PUT_MACHINE, status: 409, code: 'AllocationFailed' },
      { kind: 'capacity', scope: 'region' },
    ],
    ['a full subnet', { on: /networkInterfaces/, status: 400, code: 'SubnetIsFull' }, { kind: 'capacity' }],
    [
      'a network interface that is reserved for another machine',
      { on: PUT_MACHINE, status: 400, code: 'NicReservedForAnotherVm' },
      { kind: 'transient', retryAfterMs: 180_000 },
    ],
    [
      'a resource that is not provisioned yet',
      { on: PUT_MACHINE, status: 409, code: 'ReferencedResourceNotProvisioned' },
      { kind: 'transient' },
    ],
    ['an overloaded server', { on: PUT_MACHINE, status: 503, code: 'ServerBusy' }, { kind: 'transient' }],
    ['a policy', { on: PUT_MACHINE, status: 403, code: 'RequestDisallowedByPolicy' }, { kind: 'denied' }],
    [
      'a subscription that does not have the service',
      { on: PUT_MACHINE, status: 409, code: 'MissingSubscriptionRegistration' },
      { kind: 'denied' },
    ],
    [
      'a disk that another machine has',
      { on: PUT_MACHINE, status: 409, code: 'OperationNotAllowed', message: 'Disk d is attached to VM /x/limits.' },
      { kind: 'transient' },
    ],
    ['a broken connection', { on: PUT_MACHINE, status: null }, { kind: 'transient' }],
  ])('classifies %s', async (_what, injected, wanted) => {
    fake.faults.push(injected);
    const spec = specOf();
    expect(await faultOf(driver.provision(spec, context))).toMatchObject(wanted);
    expect(fake.faults).toEqual([]);
    // The driver does not retry by itself, and the next call succeeds.
    await driver.provision(spec, context);
    await runs(spec);
    expect(fake.machines()).toHaveLength(1);
  });

  it('names quota and region', async () => {
    fake.maxMachines = 0;
    const fault = await faultOf(driver.provision(specOf(), context));
    expect(fault).toMatchObject({ kind: 'quota', scope: 'region', message: expect.stringMatching(/quota.*eastus/) });
  });

  it.each([
    ['a directory that does not exist', { TENANT_ID: '11111111-2222-4333-8444-000000000000' }, /AADSTS90002/],
    ['an application that does not exist', { CLIENT_ID: '22222222-3333-4444-8555-000000000000' }, /AADSTS700016/],
    ['a wrong secret', { CLIENT_SECRET: 'wrong-secret' }, /AADSTS7000215/],
    ['another subscription', { SUBSCRIPTION_ID: '33333333-4444-4555-8666-000000000000' }, /SubscriptionNotFound/],
    ['a directory that leads elsewhere', { TENANT_ID: 'a/../b' }, /TENANT_ID/],
    ['no subscription', { SUBSCRIPTION_ID: '' }, /SUBSCRIPTION_ID/],
  ])('reports credentials with %s', async (_what, values, words) => {
    for (const call of [
      () => driver.provision(specOf(), contextOf(values)),
      () => driver.describe([refOf(specOf())], contextOf(values)),
      () => driver.destroy(refOf(specOf()), contextOf(values)),
    ]) {
      const fault = await faultOf(call());
      expect([fault.kind, fault.message]).toEqual(['denied', expect.stringMatching(words)]);
      expect(fault.message).not.toContain('wrong-secret');
    }
  });

  it('logs in once for many calls of both clients', async () => {
    const spec = specOf();
    await driver.provision(spec, context);
    for (let time = 0; time < 3; time += 1) await driver.describe([refOf(spec), refOf(specOf())], context);
    expect(fake.calls.filter((call) => call.endsWith('/oauth2/v2.0/token'))).toHaveLength(1);
  });

  it('creates one machine even if responses are lost', async () => {
    const spec = specOf({ enablePublicIp: true });
    fake.faults.push(
      ...[/publicIPAddresses/, /networkInterfaces/, /virtualMachines/].map((kind) => ({
        on: new RegExp(`^PUT .*${kind.source}`),
        status: null,
        done: true,
      })),
    );
    for (let time = 0; time < 3; time += 1)
      expect(await faultOf(driver.provision(spec, context))).toMatchObject({ kind: 'transient' });
    const { providerRef } = await driver.provision(spec, context);
    await runs(spec);
    expect((await stateOf(spec))?.providerRef).toBe(providerRef);
    expect(fake.calls.filter((call) => PUT_MACHINE.test(call))).toHaveLength(1);
    await goes(spec);
    expect(resources()).toEqual(NOTHING);
  });

  it('does not change the machine of one attempt into that of a concurrent other attempt', async () => {
    const first = specOf();
    const both = [first, { ...first, attempt: 2 }];
    const results = await Promise.allSettled(both.map((spec) => driver.provision(spec, context)));
    const made = both.filter((_, index) => results[index]?.status === 'fulfilled');
    expect(made).toHaveLength(1);
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(refusals).toMatchObject([{ kind: 'transient' }]);
    expect(fake.machines()).toMatchObject([{ tags: { platform_attempt: String(made[0]?.attempt) } }]);
  });

  it('reports why a machine failed after Azure accepted it, and removes it', async () => {
    fake.failCreations = {
      code: 'AllocationFailed',
      message: 'Allocation failed. We do not have sufficient capacity.',
    };
    const spec = specOf();
    await driver.provision(spec, context);
    await eventually(async () => (await stateOf(spec))?.state === 'failed', QUICKLY);
    expect((await driver.provision(spec, context)).state).toBe('failed');
    expect((await stateOf(spec))?.fault).toMatchObject({
      kind: 'capacity',
      message: expect.stringContaining('sufficient capacity'),
    });
    expect(await faultOf(driver.provision({ ...spec, attempt: 2 }, context))).toMatchObject({ kind: 'transient' });
    await goes(spec);
    fake.failCreations = null;
    await driver.provision({ ...spec, attempt: 2 }, context);
    await runs(spec);
  });

  it('reports a start that failed for lack of capacity, and can start the machine later', async () => {
    const spec = specOf();
    await driver.provision(spec, context);
    await runs(spec);
    await eventually(async () => (await driver.stop(refOf(spec), context)) === 'stopped', QUICKLY);
    fake.failStarts = { code: 'OverconstrainedZonalAllocationRequest', message: 'No place.' };
    await driver.start(refOf(spec), context);
    await eventually(async () => (await stateOf(spec))?.state === 'failed', QUICKLY);
    expect((await stateOf(spec))?.fault).toMatchObject({ kind: 'capacity', scope: 'zone' });
    fake.failStarts = null;
    await driver.start(refOf(spec), context);
    await runs(spec);
  });

  it('sweeps leftovers of nodes without a machine, even if some are missing, and nothing else', async () => {
    const owned = (installation: string, token: string) => ({
      platform_installation: installation,
      platform_cluster: '7_11',
      platform_node: token,
      platform_attempt: '1',
    });
    fake.faults.push({ on: PUT_MACHINE, status: 500 });
    const killed = specOf({ enablePublicIp: true });
    await faultOf(driver.provision(killed, context));
    fake.put('disks', 'node-gone-data-3', owned('own', 'gone'));
    fake.put('disks', 'node-live-data-0', owned('own', 'live'));
    fake.put('disks', 'node-other-data-0', owned('other', 'other'));
    fake.put('networkInterfaces', 'somebody', { team: 'data' });
    expect(await sweep(['live'])).toEqual({ removed: [killed.labels.nodeToken, 'gone'], failed: [] });
    // The network interface uses the address until it is gone.
    await eventually(async () => (await sweep(['live'])).removed.length === 0, QUICKLY);
    expect(resources()).toEqual({
      virtualMachines: [],
      networkInterfaces: ['somebody'],
      publicIPAddresses: [],
      disks: ['node-live-data-0', 'node-other-data-0'],
    });
  });

  it('destroys the resources of a node whose creation failed half-way', async () => {
    fake.faults.push({ on: PUT_MACHINE, status: 500 });
    const disk = { gib: 8, type: 'PremiumV2_LRS', iops: 3000, throughputMb: 125, encrypted: false };
    const spec = specOf({ enablePublicIp: true, disks: [disk, disk] });
    await faultOf(driver.provision(spec, context));
    expect(resources()).not.toEqual(NOTHING);
    await goes(spec);
    expect(resources()).toEqual(NOTHING);
  });

  it('removes the other resources of a node if one cannot be removed yet, and that one later', async () => {
    fake.faults.push({ on: PUT_MACHINE, status: 500 });
    const disk = { gib: 8, type: 'PremiumV2_LRS', iops: 3000, throughputMb: 125, encrypted: false };
    const spec = specOf({ disks: [disk, disk] });
    await faultOf(driver.provision(spec, context));
    fake.faults.push(
      { on: /^DELETE .*-nic$/, status: 400, code: 'NicInUse' },
      { on: /^DELETE .*-data-1$/, status: 429, code: 'TooManyRequests' },
    );
    expect(await faultOf(driver.destroy(refOf(spec), context))).toMatchObject({ kind: 'throttled' });
    await eventually(() => !fake.names('disks').includes(nodeNames(spec.labels.nodeToken).disk(0)), QUICKLY);
    expect(resources()).not.toEqual(NOTHING);
    await goes(spec);
    expect(resources()).toEqual(NOTHING);
  });

  it('waits for a network interface that is still attached', async () => {
    fake.faults.push({ on: PUT_MACHINE, status: 500 }, { on: /^DELETE .*-nic$/, status: 400, code: 'NicInUse' });
    const spec = specOf();
    await faultOf(driver.provision(spec, context));
    expect(await driver.destroy(refOf(spec), context)).toBe('going');
    await goes(spec);
    expect(resources()).toEqual(NOTHING);
  });

  it('reports machines that it cannot sweep, and sweeps the rest', async () => {
    const [first, second] = [specOf(), specOf()];
    for (const spec of [first, second]) await driver.provision(spec, context);
    fake.faults.push({ on: new RegExp(`^DELETE .*/${nameOf(first)}$`), status: 409, code: 'ScopeLocked' });
    const { removed, failed } = await sweep();
    expect(removed).toEqual([second.labels.nodeToken]);
    expect(failed).toMatchObject([{ nodeToken: first.labels.nodeToken, error: { kind: 'denied' } }]);
  });

  it('lists more machines than a page holds', async () => {
    fake.pageSize = 3;
    const specs = Array.from({ length: 8 }, () => specOf());
    for (const spec of specs) await driver.provision(spec, context);
    const listed = await driver.listOwned({ installationId: 'own', place: specOf().place }, context);
    expect(listed.map(({ labels }) => labels.nodeToken)).toEqual(specs.map(({ labels }) => labels.nodeToken));
  });

  it('does not touch a machine with the name of the node and another owner', async () => {
    const spec = specOf();
    fake.put('virtualMachines', nameOf(spec), { team: 'data' });
    for (const call of [
      () => driver.provision(spec, context),
      () => driver.stop(refOf(spec), context),
      () => driver.destroy(refOf(spec), context),
    ])
      expect(await faultOf(call())).toMatchObject({ kind: 'invalid' });
    expect(fake.names('virtualMachines')).toEqual([nameOf(spec)]);
  });

  it('derives names of at most 64 characters from any token', () => {
    const names = ['a'.repeat(200), 'ends-', 'x/../y', '7d0a3a5e-5a0e-4b5c-8a57-1d8a3e3a3f10'].map((token) =>
      nodeNames(token),
    );
    for (const { machine, disk } of names) {
      expect(machine).toMatch(/^[a-z0-9][a-z0-9-]{0,62}[a-z0-9]$/);
      expect(disk(63).length).toBeLessThan(80);
    }
    expect(new Set(names.map(({ machine }) => machine)).size).toBe(4);
  });

  it('masks secrets that Azure quotes', async () => {
    const spec = specOf();
    const script = `#!/bin/sh\n# ${spec.labels.nodeToken} none ${spec.boot.bootstrapToken}\n`;
    const message = `Invalid: ${spec.boot.bootstrapToken} ${Buffer.from(script).toString('base64')}`;
    fake.faults.push({ on: PUT_MACHINE, status: 400, code: 'InvalidParameter', message });
    expect((await faultOf(driver.provision(spec, context))).message).toBe(
      'Azure refused the call (InvalidParameter): Invalid: *** ***.',
    );
  });

  describe('with a hostile endpoint', () => {
    const whileAzureAnswers = (answer: (path: string) => { status?: number; body: string; headers?: object }) =>
      fake.answerWith((request, response) => {
        const { status = 200, body, headers } = answer(request.url ?? '');
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
      });

    beforeEach(async () => {
      // The driver logs in before the endpoint turns hostile.
      await driver.describe([refOf(specOf())], context);
    });

    it('times out', async () => {
      fake.answerWith(() => undefined);
      const hurried = contextOf({}, AbortSignal.timeout(150));
      for (const call of [
        () => driver.provision(specOf(), hurried),
        () => driver.describe([refOf(specOf())], hurried),
        () => driver.listOwned({ installationId: 'own', place: specOf().place }, hurried),
        () => driver.destroy(refOf(specOf()), hurried),
      ])
        expect(await faultOf(call())).toMatchObject({ kind: 'transient', message: expect.stringContaining('in time') });
      // The login, too.
      const other = driver.describe([refOf(specOf())], contextOf({ CLIENT_SECRET: 'x' }, AbortSignal.timeout(150)));
      expect(await faultOf(other)).toMatchObject({ kind: 'transient' });
    });

    it.each([
      ['no JSON', 'hello'],
      ['nothing', ''],
      ['null', 'null'],
      ['a list', '[]'],
      ['a text', '"x"'],
      ['invalid tags', '{"tags":7,"properties":9}'],
      ['invalid statuses', '{"tags":{"platform_node":7},"zones":5,"properties":{"instanceView":{"statuses":"x"}}}'],
    ])('fails clearly for %s', async (_what, body) => {
      whileAzureAnswers(() => ({ body }));
      for (const call of [() => driver.provision(specOf(), context), () => driver.describe([refOf(specOf())], context)])
        await faultOf(call());
      const listed = driver.listOwned({ installationId: 'own', place: specOf().place }, context);
      expect(await listed.catch((error: unknown) => (error instanceof ComputeDriverError ? [] : error))).toEqual([]);
    });

    it('does not take a 404 without Azure’s code as proof that the machine is gone', async () => {
      whileAzureAnswers(() => ({
        status: 404,
        body: '<html>not here</html>',
        headers: { 'Content-Type': 'text/html' },
      }));
      await faultOf(driver.describe([refOf(specOf())], context));
    });

    it('sends the token to no other server', async () => {
      const other = await FakeAzure.start();
      const link = `${other.url}${RESOURCES}/Microsoft.Compute/virtualMachines?api-version=2026-03-01`;
      whileAzureAnswers(() => ({ body: JSON.stringify({ value: [], nextLink: link }) }));
      const listed = driver.listOwned({ installationId: 'own', place: specOf().place }, context);
      expect(await faultOf(listed)).toMatchObject({ message: expect.stringContaining('another server') });
      whileAzureAnswers(() => ({ status: 307, body: '', headers: { Location: link } }));
      await faultOf(driver.describe([refOf(specOf())], context));
      expect(other.calls).toEqual([]);
      await other.stop();
    });

    it('stops reading an endless list', async () => {
      let pages = 0;
      whileAzureAnswers((path) => {
        pages += 1;
        const next = `${fake.url}${path.split('?')[0]}?api-version=2026-03-01&page=${pages}`;
        return { body: JSON.stringify({ value: [], nextLink: next }) };
      });
      const hurried = contextOf({}, AbortSignal.timeout(300));
      await faultOf(driver.listOwned({ installationId: 'own', place: specOf().place }, hurried));
    });

    it('stops reading a response that is too long', async () => {
      let sent = 0;
      const piece = Buffer.alloc(2 ** 20, 'x');
      fake.answerWith((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const more = (): void => {
          while (sent < 1024 && response.write(piece)) sent += 1;
        };
        response.on('drain', more);
        more();
      });
      expect(await faultOf(driver.listOwned({ installationId: 'own', place: specOf().place }, context))).toMatchObject({
        kind: 'transient',
        message: expect.not.stringContaining('in time'),
      });
      expect(sent).toBeLessThan(200);
    });

    it('masks secrets and control characters of responses', async () => {
      const message = `The secret is ${credentials.CLIENT_SECRET}\u001b[31m.\nSecond line`;
      whileAzureAnswers(() => ({ status: 400, body: JSON.stringify({ error: { code: 'Bad\nCode', message } }) }));
      const fault = await faultOf(driver.describe([refOf(specOf())], context));
      expect(fault.message).not.toContain(credentials.CLIENT_SECRET);
      // eslint-disable-next-line no-control-regex
      expect(fault.message).not.toMatch(/[\u0000-\u001f]/);
      expect(fault.message).not.toContain('Second');
    });
  });

  it('does not call a server whose certificate is not trusted, or whose address is refused', async () => {
    const other = await FakeAzure.start();
    expect(await faultOf(driverOf(fake, other.ca).describe([refOf(specOf())], context))).toMatchObject({
      kind: 'invalid',
    });
    await other.stop();
    const strict = new OutboundPolicy({ schemes: ['https'], allowedClasses: [] });
    const options = { outbound: strict, endpoint: fake.url, authority: fake.url, bootScript: () => '' };
    expect(() => new AzureDriver(options)).toThrow(/refused/);
    expect(() => new AzureDriver({ ...options, outbound, endpoint: 'http://127.0.0.1:1' })).toThrow(/http/);
  });
});
