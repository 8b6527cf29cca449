import { randomUUID } from 'node:crypto';
import { FakeOci, type FakeOciOptions, type OciMishap, ocid } from '../../../test/fakes/clouds/fake-oci';
import { newRsaPair } from '../../../test/harness/rsa-pair';
import { answering, HOSTILE_SERVERS, type HostileServer } from '../../../test/fakes/http/hostile-http';
import { serveOnLoopback } from '../../../test/fakes/http/loopback-server';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { type BootScript } from '../cloud-driver';
import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { describeComputeDriverContract, plainNodeSpec, refOf } from '../compute-driver.contract';
import { machineName } from './oci-launch';
import { OciDriver } from './oci-driver';

const SPARK = '3.5.3';

const bootScript: BootScript = ({ boot }) => {
  if (boot.sparkVersion !== SPARK)
    throw new ComputeDriverError('SparkUnknown', 'Unknown Spark version.', { kind: 'invalid' });
  return `#!/bin/sh\n# ${boot.bootstrapToken}\n`;
};

const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });

function driverOn(fake: FakeOci): OciDriver {
  return new OciDriver({ bootScript, outbound, endpoint: fake.url });
}

/** Adapts a spec to the resources of the fake cloud. */
function adapted(fake: FakeOci, spec: NodeSpec): NodeSpec {
  return {
    ...spec,
    place: { ...spec.place, region: fake.region, zone: fake.zone, subnet: 'nodes & more', network: 'workspace' },
    machine: { ...spec.machine, type: 'VM.Standard.E4.Flex', cores: 4, memoryMb: 16_384 },
    image: fake.image,
    disks: [{ gib: 50, type: 'block-volume', iops: null, throughputMb: null, encrypted: false }],
  };
}

describeComputeDriverContract('OCI driver', async () => {
  const fake = await FakeOci.start({ pageSize: 3 });
  return {
    driver: driverOn(fake),
    sparkVersion: SPARK,
    account: { endpoint: null, credentials: fake.credentials },
    adapt: (spec) => adapted(fake, spec),
    interrupt: ({ nodeToken }) => Promise.resolve(fake.preempt(machineName(nodeToken))),
    maxLabels: 10,
    labelsOn: ({ nodeToken }) =>
      [...fake.instances.values()].flatMap(({ fields: { displayName, freeformTags } }) =>
        displayName === machineName(nodeToken) ? [freeformTags] : [],
      ),
    close: async () => {
      await fake.stop();
      expect(fake.ownFaults).toEqual([]);
    },
  };
});

describe('the OCI driver', () => {
  let fake: FakeOci;
  let driver: OciDriver;
  let warned: jest.SpyInstance;

  const begin = async (options: FakeOciOptions = {}): Promise<void> => {
    await fake?.stop();
    fake = await FakeOci.start(options);
    driver = driverOn(fake);
  };

  beforeEach(async () => {
    warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    await begin();
  });

  afterEach(async () => {
    await fake.stop();
    expect(fake.ownFaults).toEqual([]);
    // The SDK would write every failed call to the console.
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  const contextOf = (values: Partial<DriverContext> = {}): DriverContext => ({
    ...{ endpoint: null, credentials: fake.credentials, correlationId: 'test', signal: AbortSignal.timeout(60_000) },
    ...values,
  });

  const spec = (values: Partial<NodeSpec> = {}, nodeToken = 'token-1'): NodeSpec => ({
    ...adapted(fake, plainNodeSpec(nodeToken, SPARK)),
    ...values,
  });

  const faultOf = async (call: Promise<unknown>): Promise<ComputeDriverError> => {
    const error: unknown = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ComputeDriverError);
    return error as ComputeDriverError;
  };

  const launched = () => fake.called('LaunchInstance').map(({ body }) => JSON.parse(body) as Record<string, unknown>);

  it('requests the machine of the spec', async () => {
    const networkTags = ['spark'];
    const wanted = spec({ enablePublicIp: true, market: 'spot' });
    await driver.provision({ ...wanted, place: { ...wanted.place, networkTags } }, contextOf());
    expect(launched()).toMatchObject([
      {
        availabilityDomain: 'Uocm:EU-FRANKFURT-1-AD-2',
        compartmentId: fake.compartment,
        shape: 'VM.Standard.E4.Flex',
        shapeConfig: { ocpus: 2, memoryInGBs: 16 },
        sourceDetails: { sourceType: 'image', imageId: fake.image },
        createVnicDetails: { subnetId: fake.subnet['id'], assignPublicIp: true, nsgIds: [fake.group['id']] },
        instanceOptions: { areLegacyImdsEndpointsDisabled: true },
        preemptibleInstanceConfig: { preemptionAction: { type: 'TERMINATE', preserveBootVolume: false } },
        launchVolumeAttachments: [
          { type: 'paravirtualized', launchCreateVolumeDetails: { sizeInGBs: 50, vpusPerGB: 10 } },
        ],
      },
    ]);
    const [running] = fake.running();
    expect(running?.userData).toBe(`#!/bin/sh\n# ${wanted.boot.bootstrapToken}\n`);
    const [node] = await driver.describe([refOf(wanted)], contextOf());
    expect(node).toMatchObject({ state: 'running', privateIp: '10.0.0.1', publicIp: '203.0.113.9' });
  });

  it('counts a vCPU of Arm machines as an OCPU, and sends fixed shapes without a size', async () => {
    const arm = { type: 'VM.Standard.A1.Flex', architecture: 'aarch64', cores: 4, memoryMb: 24_576, gpu: null };
    await driver.provision(spec({ machine: arm }, 'arm'), contextOf());
    await driver.provision(spec({ machine: { ...arm, type: 'VM.Standard2.1' } }, 'fixed'), contextOf());
    expect(launched().map(({ shapeConfig }) => shapeConfig)).toEqual([{ ocpus: 4, memoryInGBs: 24 }, undefined]);
  });

  it('calls the public endpoints of a region, and no other host', async () => {
    const hosts: string[] = [];
    const resolve = (host: string) => {
      hosts.push(host);
      return Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
    };
    const policy = new OutboundPolicy({ schemes: ['https'], allowedClasses: [] }, resolve);
    const public_ = new OciDriver({ bootScript, outbound: policy, endpoint: null });
    const fault = await faultOf(public_.describe([refOf(spec())], contextOf()));
    expect(fault).toMatchObject({ kind: 'transient', code: 'Unreachable' });
    expect(hosts).toEqual(['iaas.eu-frankfurt-1.oraclecloud.com']);
    const { place } = spec();
    const elsewhere = { ...place, region: 'evil.example/#' };
    expect(await faultOf(public_.describe([{ ...refOf(spec()), place: elsewhere }], contextOf()))).toMatchObject({
      kind: 'invalid',
      code: 'RegionUnknown',
    });
    expect(hosts).toHaveLength(1);
  });

  it('calls only addresses that the outbound policy allows', async () => {
    const strict = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: [] });
    const kept = new OciDriver({ bootScript, outbound: strict, endpoint: fake.url });
    expect(await faultOf(kept.describe([refOf(spec())], contextOf()))).toMatchObject({ kind: 'invalid' });
    expect(fake.calls).toEqual([]);
  });

  it.each<[string, OciMishap, object]>([
    [
      'too many calls',
      refusal(429, 'TooManyRequests', 'Slow down', { 'retry-after': '7' }),
      { kind: 'throttled', retryAfterMs: 7000 },
    ],
    ['no host capacity', refusal(500, 'InternalError', 'Out of host capacity.'), { kind: 'capacity', scope: 'zone' }],
    [
      'no capacity for a shape',
      refusal(500, 'InternalError', 'Out of capacity for shape X in AD-1'),
      { kind: 'capacity' },
    ],
    ['an internal error', refusal(500, 'InternalError', 'Internal error'), { kind: 'transient' }],
    ['an unavailable service', refusal(503, 'ServiceUnavailable', 'Later'), { kind: 'transient' }],
    [
      'a service limit',
      refusal(400, 'LimitExceeded', 'standard-e4-core-count exceeded'),
      { kind: 'quota', scope: 'region' },
    ],
    ['a compartment quota', refusal(400, 'QuotaExceeded', 'quota'), { kind: 'quota' }],
    ['a wrong parameter', refusal(400, 'InvalidParameter', 'shape'), { kind: 'invalid' }],
    [
      'a missing or hidden resource',
      refusal(404, 'NotAuthorizedOrNotFound', 'Authorization failed or not found'),
      { kind: 'denied' },
    ],
    ['a changing resource', refusal(409, 'IncorrectState', 'busy'), { kind: 'transient' }],
    ['a used retry token', refusal(409, 'InvalidatedRetryToken', 'used'), { kind: 'transient' }],
    ['a gateway', { status: 502, body: '<html>' }, { kind: 'transient', code: 'Http502' }],
    ['a redirect', { status: 302, body: '' }, { kind: 'invalid', code: 'Http302' }],
    ['no answer', 'dropped', { kind: 'transient', code: 'Unreachable' }],
  ])('makes one call and classifies %s', async (_what, mishap, expected) => {
    fake.fail('LaunchInstance', mishap);
    const fault = await faultOf(driver.provision(spec(), contextOf()));
    expect(fault).toMatchObject(expected);
    if (typeof mishap === 'object' && 'message' in mishap) expect(fault.message).toContain(mishap.message);
    expect(fake.called('LaunchInstance')).toHaveLength(1);
    expect(fake.instances.size).toBe(0);
  });

  it('creates one machine even if the response is lost and the machine is not listed for a while', async () => {
    await begin({ hiddenLists: 3 });
    fake.fail('LaunchInstance', 'lost');
    expect(await faultOf(driver.provision(spec(), contextOf()))).toMatchObject({ kind: 'transient' });
    const { providerRef } = await driver.provision(spec(), contextOf());
    expect((await driver.describe([refOf(spec())], contextOf()))[0]?.state).toBe('gone');
    expect((await driver.provision(spec(), contextOf())).providerRef).toBe(providerRef);
    expect(fake.instances.size).toBe(1);
    const tokens = fake.called('LaunchInstance').map(({ retryToken, body }) => `${retryToken} ${body}`);
    expect(new Set(tokens).size).toBe(1);
    expect(fake.called('LaunchInstance')[0]?.retryToken?.length).toBeLessThanOrEqual(64);
  });

  it('creates no second machine for an attempt whose machine has ended', async () => {
    const wanted = spec();
    await driver.provision(wanted, contextOf());
    await driver.destroy(refOf(wanted), contextOf());
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('gone');
    expect(await faultOf(driver.provision(wanted, contextOf()))).toMatchObject({
      kind: 'invalid',
      code: 'MachineEnded',
    });
    expect(fake.instances.size).toBe(1);
  });

  it.each<[string, (wanted: NodeSpec) => Partial<NodeSpec>, string]>([
    ['image', () => ({ image: ocid('image') }), 'denied'],
    ['image by name', () => ({ image: 'ubuntu' }), 'invalid'],
    ['shape', ({ machine }) => ({ machine: { ...machine, type: 'VM.Huge' } }), 'invalid'],
    ['subnet', ({ place }) => ({ place: { ...place, subnet: ocid('subnet') } }), 'denied'],
    ['subnet by name', ({ place }) => ({ place: { ...place, subnet: 'x&compartmentId=y' } }), 'invalid'],
    ['network by name', ({ place }) => ({ place: { ...place, network: 'none' } }), 'invalid'],
    ['security group', ({ place }) => ({ place: { ...place, networkTags: ['none'] } }), 'invalid'],
    ['zone', ({ place }) => ({ place: { ...place, zone: 'eu-frankfurt-1-ad-9' } }), 'invalid'],
    ['zone in the spec', ({ place }) => ({ place: { ...place, zone: null } }), 'invalid'],
    ['region in the spec', ({ place }) => ({ place: { ...place, region: null } }), 'invalid'],
    ['identity', () => ({ identity: 'me' }), 'invalid'],
    ['room for more labels', () => ({ userLabels: labels(10) }), 'invalid'],
    ['type of disk', ({ disks }) => ({ disks: disks.map((disk) => ({ ...disk, type: 'gp3' })) }), 'invalid'],
    ['disk with that many IOPS', ({ disks }) => ({ disks: disks.map((disk) => ({ ...disk, iops: 9000 })) }), 'invalid'],
  ])('refuses a spec without a valid %s', async (_what, change, kind) => {
    const wanted = spec();
    expect(await faultOf(driver.provision({ ...wanted, ...change(wanted) }, contextOf()))).toMatchObject({ kind });
    expect(fake.instances.size).toBe(0);
  });

  it('accepts as many labels as Oracle Cloud allows', async () => {
    await driver.provision(spec({ userLabels: labels(6) }), contextOf());
    await driver.provision(spec({ userLabels: labels(9) }), contextOf());
    for (const made of launched()) expect(Object.keys(made['freeformTags'] as object)).toHaveLength(10);
  });

  it('names the invalid credential, and repeats no secret', async () => {
    const { privateKey } = newRsaPair();
    const wrong: [Record<string, string>, string][] = [
      [{ OCI_PRIVATE_KEY: privateKey }, 'authentication'],
      [{ OCI_USER_OCID: ocid('user') }, 'authentication'],
      [{ OCI_PRIVATE_KEY: 'secret words' }, 'OCI_PRIVATE_KEY'],
      [{ OCI_FINGERPRINT: 'secret words' }, 'OCI_FINGERPRINT'],
      [{ OCI_TENANCY_OCID: 'secret words' }, 'OCI_TENANCY_OCID'],
      [{ OCI_COMPARTMENT_OCID: 'secret words&x=y' }, 'OCI_COMPARTMENT_OCID'],
      [{ OCI_COMPARTMENT_OCID: ocid('compartment') }, 'policy'],
    ];
    for (const [change, words] of wrong) {
      const credentials = { ...fake.credentials, ...change };
      const fault = await faultOf(driver.provision(spec(), contextOf({ credentials })));
      expect(fault.kind).toBe('denied');
      expect(fault.message).toContain(words);
      expect(JSON.stringify([fault, fault.message, fault.stack])).not.toContain('secret words');
    }
  });

  it('masks secrets and control characters that a response quotes', async () => {
    const wanted = spec();
    const script = Buffer.from(bootScript(wanted, null)).toString('base64');
    const message = `No: ${wanted.boot.bootstrapToken} ${script} \u001b[31m`;
    fake.fail('LaunchInstance', refusal(400, 'Invalid\nParameter', message));
    const fault = await faultOf(driver.provision(wanted, contextOf()));
    expect(fault.message).toBe('No: *** ***  [31m.');
    expect(fault.code).toBe('Http400');
  });

  it('ends a call whose signal aborts', async () => {
    fake.fail('ListInstances', 'hangs');
    const began = performance.now();
    const fault = await faultOf(driver.provision(spec(), contextOf({ signal: AbortSignal.timeout(300) })));
    expect(fault).toMatchObject({ kind: 'transient', code: 'Timeout' });
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it.each(Object.keys(HOSTILE_SERVERS) as HostileServer[])('survives a server that %s', async (behaviour) => {
    const server = await serveOnLoopback(HOSTILE_SERVERS[behaviour]);
    try {
      const lured = new OciDriver({ bootScript, outbound, endpoint: server.url });
      const context = contextOf({ signal: AbortSignal.timeout(2000) });
      const fault = await faultOf(lured.describe([refOf(spec())], context));
      expect(fault.kind).toBe('transient');
    } finally {
      await server.stop();
    }
  });

  it.each([
    ['the same page again', () => 'next'],
    ['more and more pages', () => randomUUID()],
  ])('stops reading a list that has %s', async (_what, next) => {
    const server = await serveOnLoopback((request, response) =>
      answering(200, [], { 'opc-next-page': next() })(request, response),
    );
    try {
      const lured = new OciDriver({ bootScript, outbound, endpoint: server.url });
      expect(await faultOf(lured.describe([refOf(spec())], contextOf()))).toMatchObject({ code: 'StrangeAnswer' });
    } finally {
      await server.stop();
    }
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['invalid items', [null, 1, 'two', []]],
    ['fields of other types', [{ id: 7, freeformTags: 'x', lifecycleState: {}, timeCreated: [], metadata: 1 }]],
  ])('refuses a list that is or has %s', async (_what, body) => {
    fake.fail('ListInstances', { status: 200, body: JSON.stringify(body) });
    expect(await faultOf(driver.describe([refOf(spec())], contextOf()))).toMatchObject({ kind: 'transient' });
  });

  it('refuses a response with another machine than the requested one', async () => {
    fake.fail('LaunchInstance', { status: 200, body: JSON.stringify({ id: ocid('instance'), freeformTags: {} }) });
    expect(await faultOf(driver.provision(spec(), contextOf()))).toMatchObject({ code: 'StrangeAnswer' });
  });

  it('reports no address if the network interface is gone or invalid', async () => {
    await driver.provision(spec(), contextOf());
    fake.fail('GetVnic', refusal(404, 'NotAuthorizedOrNotFound', 'gone'), {
      status: 200,
      body: '{"privateIp":"$(reboot)"}',
    });
    for (let at = 0; at < 2; at += 1)
      expect(await driver.describe([refOf(spec())], contextOf())).toMatchObject([
        { state: 'running', privateIp: null },
      ]);
  });

  it('describes many nodes with one list of their compartment', async () => {
    await begin({ pageSize: 7 });
    const tokens = Array.from({ length: 20 }, (_, at) => `many-${at}`);
    for (const token of tokens) await driver.provision(spec({}, token), contextOf());
    fake.calls.length = 0;
    const nodes = await driver.describe(
      tokens.map((token) => refOf(spec({}, token))),
      contextOf(),
    );
    expect(nodes.map(({ state, labels: { nodeToken } }) => `${nodeToken} ${state}`)).toEqual(
      tokens.map((token) => `${token} running`),
    );
    expect(new Set(nodes.map(({ privateIp }) => privateIp)).size).toBe(20);
    expect(fake.called('ListInstances')).toHaveLength(3);
  });

  it('refuses to stop a preemptible machine', async () => {
    const wanted = spec({ market: 'spot' });
    expect(driver.canStop({ market: 'spot', type: wanted.machine.type })).toBe(false);
    await driver.provision(wanted, contextOf());
    expect(await faultOf(driver.stop(refOf(wanted), contextOf()))).toMatchObject({ kind: 'invalid' });
  });

  it('does not report a preemptible machine that it terminated itself as preempted', async () => {
    const wanted = spec({ market: 'spot' });
    await driver.provision(wanted, contextOf());
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('going');
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('gone');
    expect(await driver.describe([refOf(wanted)], contextOf())).toMatchObject([{ state: 'gone' }]);
  });

  it('terminates a preemptible machine even if it cannot mark it', async () => {
    const wanted = spec({ market: 'spot' });
    await driver.provision(wanted, contextOf());
    fake.fail('UpdateInstance', refusal(409, 'IncorrectState', 'ended'));
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('going');
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('gone');
  });

  it('removes everything of a node, including its disks', async () => {
    const wanted = spec();
    await driver.provision(wanted, contextOf());
    await driver.destroy(refOf(wanted), contextOf());
    const left = fake.addVolume(machineName(wanted.labels.nodeToken));
    const foreign = fake.addVolume('platform-other');
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('going');
    expect(await driver.destroy(refOf(wanted), contextOf())).toBe('gone');
    expect(left.fields.lifecycleState).toBe('TERMINATED');
    expect(foreign.fields.lifecycleState).toBe('AVAILABLE');
    expect(living()).toEqual([foreign.fields.displayName]);
  });

  const living = () =>
    [...fake.volumes.values()]
      .filter(({ fields }) => fields.lifecycleState !== 'TERMINATED')
      .map(({ fields }) => fields.displayName);

  it.each([
    ['Out of host capacity.', { kind: 'capacity', scope: 'zone' }],
    ['The image is not compatible with the shape.', { kind: 'transient' }],
  ])('reports why a machine failed after Oracle Cloud accepted it: %s', async (message, fault) => {
    fake.failLaunches = { code: 'InternalError', message };
    for (const market of ['on-demand', 'spot'] as const) {
      const wanted = spec({ market }, `failed-${market}`);
      expect(await driver.provision(wanted, contextOf())).toMatchObject({ state: 'pending' });
      const seen = async () => (await driver.describe([refOf(wanted)], contextOf()))[0];
      await seen();
      expect(await seen()).toMatchObject({ state: 'failed', fault: { ...fault, message } });
      expect(await faultOf(driver.provision(wanted, contextOf()))).toMatchObject({ ...fault, message });
    }
  });

  it('reports a failed machine only as gone if the user may not read the reason', async () => {
    fake.failLaunches = { code: 'InternalError', message: 'Out of host capacity.' };
    await driver.provision(spec(), contextOf());
    const denied = refusal(404, 'NotAuthorizedOrNotFound', 'Authorization failed or not found');
    fake.fail('ListWorkRequests', denied, denied);
    const described = async () => (await driver.describe([refOf(spec())], contextOf()))[0];
    await described();
    expect(await described()).toMatchObject({ state: 'gone', fault: null });
  });

  it.each(['TerminateInstance', 'DeleteVolume'])('reports that the user may not call %s', async (operation) => {
    await driver.provision(spec(), contextOf());
    if (operation === 'DeleteVolume') {
      await driver.destroy(refOf(spec()), contextOf());
      fake.addVolume(machineName('token-1'));
      // The fake ends the machine with this call.
      await driver.describe([refOf(spec())], contextOf());
    }
    fake.fail(operation, refusal(404, 'NotAuthorizedOrNotFound', 'Authorization failed or not found'));
    expect(await faultOf(driver.destroy(refOf(spec()), contextOf()))).toMatchObject({ kind: 'denied' });
  });

  it('sweeps disks of terminated machines, and none of another installation or of a live node', async () => {
    const tags = (installation: string, node: string) => ({
      ...{ platform_installation: installation, platform_node: node, platform_cluster: '7_11', platform_attempt: '1' },
    });
    const old = new Date(Date.now() - 3_600_000);
    for (const [installation, token] of [
      ['own', 'a'],
      ['own', 'b'],
      ['other', 'c'],
    ] as const)
      fake.addInstance(machineName(token), tags(installation, token), { lifecycleState: 'TERMINATED' });
    for (const token of ['a', 'b', 'c', 'never']) {
      fake.addVolume(machineName(token), 'volume', old);
      fake.addVolume(`${machineName(token)} (Boot Volume)`, 'bootVolume', old);
    }
    fake.addVolume(machineName('a'), 'volume', new Date());
    const swept = await driver.sweep(
      {
        ...{ installationId: 'own', place: spec().place, olderThan: new Date(Date.now() - 600_000) },
        liveAmong: (tokens) => Promise.resolve(new Set(tokens.filter((token) => token === 'b'))),
      },
      contextOf(),
    );
    expect(swept).toEqual({ removed: ['a'], failed: [] });
    const kept = ['b', 'c', 'never'].flatMap((token) => [machineName(token), `${machineName(token)} (Boot Volume)`]);
    expect(living().sort()).toEqual([machineName('a'), ...kept].sort());
  });

  it('sweeps a machine that a user renamed', async () => {
    await driver.provision(spec(), contextOf());
    const [machine] = fake.instances.values();
    if (machine) machine.fields.displayName = 'mine';
    const scope = { installationId: 'own', place: spec().place, olderThan: new Date(Date.now() + 60_000) };
    const swept = await driver.sweep({ ...scope, liveAmong: () => Promise.resolve(new Set()) }, contextOf());
    expect(swept).toEqual({ removed: ['token-1'], failed: [] });
    expect(machine?.fields.lifecycleState).toBe('TERMINATING');
  });
});

function refusal(status: number, code: string, message: string, headers?: Record<string, string>): OciMishap {
  return { status, code, message, ...(headers ? { headers } : {}) };
}

function labels(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`label${at}`, 'value']));
}
