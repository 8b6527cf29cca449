import { inspect } from 'node:util';
import { FakeGoogleCompute } from '../../../test/fakes/clouds/fake-google-compute';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { eventually } from '../../../test/harness/eventually';
import { newRsaPair } from '../../../test/harness/rsa-pair';
import { ComputeDriverError, type DriverContext, type NodeSpec, type ProviderNode } from '../compute-driver';
import { describeComputeDriverContract, plainNodeSpec, refOf } from '../compute-driver.contract';
import { GoogleDriver } from './google-driver';

const PLACE = {
  account: 'own-project',
  region: 'europe-west1',
  zone: 'europe-west1-b',
  networkAccount: 'host-project',
  network: 'shared',
  subnet: 'nodes',
  networkTags: ['spark', 'nodes'],
  networkCard: null,
  hosts: [],
};

function adapt(spec: NodeSpec): NodeSpec {
  return {
    ...spec,
    place: PLACE,
    image: 'projects/images/global/images/spark',
    machine: { ...spec.machine, type: 'e2-standard-2' },
    disks: [{ gib: 50, type: 'pd-ssd', iops: null, throughputMb: null, encrypted: true }],
  };
}

function driverFor(url: string): GoogleDriver {
  return new GoogleDriver({
    bootScript: (spec) => {
      if (spec.boot.sparkVersion !== '3.5.9')
        throw new ComputeDriverError('BOOT.SPARK_UNKNOWN', 'Unknown Spark version.', { kind: 'invalid' });
      return `#!/bin/sh\n# ${spec.boot.bootstrapToken}\n`;
    },
    outbound: new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: [], allowedNetworks: ['127.0.0.1'] }),
    endpoint: url,
  });
}

describeComputeDriverContract('The Google driver', async () => {
  const fake = await FakeGoogleCompute.start();
  return {
    driver: driverFor(fake.url),
    sparkVersion: '3.5.9',
    account: { endpoint: null, credentials: fake.credentials },
    adapt,
    interrupt: (ref) => {
      const found = fake.all().find(({ labels }) => labels['platform_node'] === ref.nodeToken);
      fake.preempt(found?.name ?? '');
      return Promise.resolve();
    },
    labelsOn: ({ nodeToken }) =>
      fake.all().flatMap(({ labels }) => (labels['platform_node'] === nodeToken ? [labels] : [])),
    close: () => fake.stop(),
  };
});

describe('The Google driver', () => {
  let fake: FakeGoogleCompute;
  let driver: GoogleDriver;
  let count = 0;

  beforeEach(async () => {
    fake = await FakeGoogleCompute.start();
    driver = driverFor(fake.url);
  });

  afterEach(() => fake.stop());

  const context = (values: Partial<DriverContext> = {}): DriverContext => ({
    endpoint: null,
    credentials: fake.credentials,
    correlationId: 'test',
    signal: AbortSignal.timeout(60_000),
    ...values,
  });

  const spec = (values: Partial<NodeSpec> = {}): NodeSpec => ({
    ...adapt(plainNodeSpec(`0b1e3c1e-9d27-4f06-8f37-${String(++count).padStart(12, '0')}`, '3.5.9')),
    ...values,
  });

  const seen = async (wanted: NodeSpec): Promise<ProviderNode | undefined> =>
    (await driver.describe([refOf(wanted)], context()))[0];

  const requested = async (values: Partial<NodeSpec>): Promise<Record<string, unknown>> => {
    await driver.provision(spec(values), context());
    return fake.all().at(-1)?.request ?? {};
  };

  const orphan = {
    platform_installation: 'own',
    platform_cluster: '7_11',
    platform_node: 'lost',
    platform_attempt: '1',
  };

  it('requests a machine with everything in the spec', async () => {
    const request = await requested({
      enablePublicIp: true,
      identity: 'nodes@own-project.iam.gserviceaccount.com',
      disks: [
        { gib: 100, type: 'hyperdisk-balanced', iops: 3000, throughputMb: 200, encrypted: true },
        { gib: 375, type: 'local-ssd', iops: null, throughputMb: null, encrypted: false },
      ],
    });
    const host = 'projects/host-project';
    expect(request).toMatchObject({
      machineType: 'zones/europe-west1-b/machineTypes/e2-standard-2',
      labels: { team: 'data', platform_installation: 'own', platform_cluster: '7_11', platform_attempt: '1' },
      networkInterfaces: [
        {
          network: `${host}/global/networks/shared`,
          subnetwork: `${host}/regions/europe-west1/subnetworks/nodes`,
          accessConfigs: [{ type: 'ONE_TO_ONE_NAT' }],
        },
      ],
      tags: { items: ['spark', 'nodes'] },
      metadata: {
        items: [
          { key: 'startup-script', value: expect.stringContaining('secret-bootstrap-token') as string },
          { key: 'block-project-ssh-keys', value: 'TRUE' },
        ],
      },
      serviceAccounts: [
        {
          email: 'nodes@own-project.iam.gserviceaccount.com',
          scopes: ['https://www.googleapis.com/auth/cloud-platform'],
        },
      ],
      scheduling: { automaticRestart: true, onHostMaintenance: 'MIGRATE' },
      disks: [
        {
          boot: true,
          autoDelete: true,
          initializeParams: {
            sourceImage: 'projects/images/global/images/spark',
            diskType: 'zones/europe-west1-b/diskTypes/pd-balanced',
            labels: { platform_installation: 'own' },
          },
        },
        {
          autoDelete: true,
          deviceName: 'platform-data-1',
          initializeParams: {
            diskSizeGb: '100',
            diskType: 'zones/europe-west1-b/diskTypes/hyperdisk-balanced',
            provisionedIops: '3000',
            provisionedThroughput: '200',
            labels: { platform_installation: 'own' },
          },
        },
        { type: 'SCRATCH', interface: 'NVME', autoDelete: true },
      ],
    });
  });

  it('requests nothing that is not in the spec', async () => {
    const request = await requested({ blockProjectSshKeys: false, disks: [] });
    expect(request).toMatchObject({ serviceAccounts: [], metadata: { items: [{ key: 'startup-script' }] } });
    expect(request['disks']).toHaveLength(1);
    expect(JSON.stringify(request)).not.toContain('accessConfigs');
  });

  it.each([
    [
      'n1-standard-4',
      'NVIDIA T4',
      [{ acceleratorType: expect.stringMatching(/nvidia-tesla-t4$/) as string, acceleratorCount: 2 }],
    ],
    // The GPUs of this family are part of the machine type.
    ['g2-standard-4', 'NVIDIA L4', undefined],
  ])('does not migrate a machine %s with GPUs', async (type, model, accelerators) => {
    const request = await requested({ machine: { ...spec().machine, type, gpu: { model, count: 2 } } });
    expect(request).toMatchObject({ scheduling: { onHostMaintenance: 'TERMINATE' } });
    expect(request['guestAccelerators']).toEqual(accelerators);
  });

  it('boots from Hyperdisk if the machine supports nothing else, and from an image family', async () => {
    const machine = { ...spec().machine, type: 'n4-standard-2' };
    const request = await requested({ machine, image: 'projects/images/global/images/family/spark' });
    expect(request['disks']).toMatchObject([
      {
        initializeParams: {
          diskType: 'zones/europe-west1-b/diskTypes/hyperdisk-balanced',
          sourceImage: 'projects/images/global/images/family/spark',
        },
      },
      {},
    ]);
  });

  it('requests a spot machine that Google stops when it preempts it', async () => {
    expect(await requested({ market: 'spot' })).toMatchObject({
      scheduling: { provisioningModel: 'SPOT', instanceTerminationAction: 'STOP', automaticRestart: false },
    });
  });

  it('creates one machine even if the response is lost and the machine is not listed yet', async () => {
    fake.hiddenMs = 600_000;
    const wanted = spec();
    fake.loseAnswer();
    await expect(driver.provision(wanted, context())).rejects.toMatchObject({ kind: 'transient' });
    const made = await driver.provision(wanted, context());
    expect(made).toMatchObject({ state: 'pending', providerRef: fake.all()[0]?.name });
    expect(fake.all()).toHaveLength(1);
  });

  it('refuses a machine of the same name with another owner', async () => {
    const wanted = spec();
    await driver.provision(wanted, context());
    const foreign = { ...wanted, labels: { ...wanted.labels, installationId: 'other' } };
    await expect(driver.provision(foreign, context())).rejects.toMatchObject({ code: 'ForeignMachine' });
  });

  it.each([
    ['ZONE_RESOURCE_POOL_EXHAUSTED', 'The zone does not have enough resources.', 'capacity', 'zone'],
    ['QUOTA_EXCEEDED', "Quota 'CPUS' exceeded. Limit: 24.0 in region europe-west1.", 'quota', 'region'],
    ['QUOTA_EXCEEDED', "Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.", 'quota', 'account'],
    ['RESOURCE_OPERATION_RATE_EXCEEDED', 'Operation rate exceeded.', 'throttled', 'account'],
    ['PERMISSIONS_ERROR', "Required 'compute.subnetworks.use' permission", 'denied', 'account'],
    ['SOMETHING_NEW', 'No.', 'invalid', 'account'],
  ])('reports an operation that failed with %s (%s)', async (code, message, kind, scope) => {
    const wanted = spec();
    fake.operationMs = 600_000;
    fake.failOperation('insert', code, message);
    expect(await driver.provision(wanted, context())).toMatchObject({ state: 'pending' });
    expect(await seen(wanted)).toMatchObject({ state: 'pending' });
    fake.endOperations();
    expect(await seen(wanted)).toMatchObject({
      state: 'failed',
      fault: { code: `GOOGLE.${code}`, message: message.replace(/([^.])$/, '$1.'), kind, scope },
    });
    // A repeated request has the result of the first.
    await expect(driver.provision(wanted, context())).rejects.toMatchObject({ kind, scope });
    expect(await driver.destroy(refOf(wanted), context())).toBe('gone');
  });

  it('does not report a machine as gone that may still appear', async () => {
    fake.operationMs = 600_000;
    fake.hiddenMs = 600_000;
    const wanted = spec();
    await driver.provision(wanted, context());
    expect(await driver.destroy(refOf(wanted), context())).toBe('going');
  });

  it('destroys a machine that is not listed yet', async () => {
    fake.hiddenMs = 600_000;
    const wanted = spec();
    await driver.provision(wanted, context());
    expect(await driver.destroy(refOf(wanted), context())).toBe('going');
    expect(await driver.destroy(refOf(wanted), context())).toBe('gone');
    expect(fake.all()).toEqual([]);
  });

  it('keeps a stopped machine whose start failed for lack of capacity, and reports the reason', async () => {
    const wanted = spec();
    const ref = refOf(wanted);
    await driver.provision(wanted, context());
    await eventually(async () => (await driver.stop(ref, context())) === 'stopped');
    fake.operationMs = 600_000;
    fake.failOperation('start', 'ZONE_RESOURCE_POOL_EXHAUSTED', 'No room.');
    await driver.start(ref, context());
    expect(await seen(wanted)).toMatchObject({ state: 'pending' });
    fake.endOperations();
    expect(await seen(wanted)).toMatchObject({ state: 'stopped', fault: { kind: 'capacity', message: 'No room.' } });
    fake.operationMs = 0;
    await driver.start(ref, context());
    await eventually(async () => (await seen(wanted))?.state === 'running');
    expect(await seen(wanted)).toMatchObject({ fault: null });
    // The script runs again.
    expect(fake.machines()).toMatchObject([
      { state: 'running', boots: 2, userData: expect.stringContaining('secret-bootstrap-token') as string },
    ]);
  });

  it('stops a machine with local disks, which are discarded', async () => {
    const wanted = spec({ disks: [{ gib: 375, type: 'local-ssd', iops: null, throughputMb: null, encrypted: false }] });
    await driver.provision(wanted, context());
    await eventually(async () => (await driver.stop(refOf(wanted), context())) === 'stopped');
  });

  it('removes disks and addresses that the node left behind, and none of another node', async () => {
    const labels = { ...orphan, platform_node: 'node-1' };
    fake.addLeftOver('disks', { name: 'old-disk', where: 'europe-west1-c', labels });
    fake.addLeftOver('addresses', { name: 'old-address', where: 'europe-west1', labels });
    fake.addLeftOver('disks', { name: 'other-disk', where: 'europe-west1-c', labels: orphan });
    const ref = { nodeToken: 'node-1', place: PLACE };
    expect(await driver.destroy(ref, context())).toBe('going');
    expect(await driver.destroy(ref, context())).toBe('gone');
    expect(fake.leftOvers()).toEqual(['other-disk']);
  });

  it('sweeps machines and leftovers of nodes that are not live, in all zones of its region', async () => {
    const labels = { ...orphan, platform_node: 'wanted' };
    fake.addLeftOver('disks', { name: 'lost', where: 'europe-west1-c', labels: orphan });
    fake.addLeftOver('disks', { name: 'wanted', where: 'europe-west1-c', labels });
    fake.addLeftOver('disks', { name: 'abroad', where: 'us-central1-a', labels: orphan });
    fake.addLeftOver('disks', {
      name: 'foreign',
      where: 'europe-west1-c',
      labels: { ...orphan, platform_installation: 'x' },
    });
    const elsewhere = spec({ place: { ...PLACE, zone: 'europe-west1-c' } });
    await driver.provision(elsewhere, context());
    const swept = await driver.sweep(
      {
        installationId: 'own',
        place: PLACE,
        olderThan: new Date(Date.now() + 60_000),
        liveAmong: () => Promise.resolve(new Set(['wanted'])),
      },
      context(),
    );
    expect(swept).toEqual({ removed: [elsewhere.labels.nodeToken, 'lost'], failed: [] });
    expect(fake.leftOvers()).toEqual(expect.arrayContaining(['wanted', 'abroad', 'foreign']));
    expect(fake.leftOvers()).not.toContain('lost');
  });

  it('reads all pages of a list', async () => {
    fake.pageSize = 2;
    const all = Array.from({ length: 5 }, () => spec());
    for (const one of all) await driver.provision(one, context());
    const listed = await driver.listOwned({ installationId: 'own', place: PLACE }, context());
    expect(listed.map(({ labels }) => labels.nodeToken).sort()).toEqual(
      all.map(({ labels }) => labels.nodeToken).sort(),
    );
  });

  it.each([
    ['image', { image: 'projects/images/global/images/absent' }, 'absent'],
    ['machine type', { machine: { ...adapt(plainNodeSpec('x', '3.5.9')).machine, type: 'e2-absent' } }, 'e2-absent'],
    ['subnet', { place: { ...PLACE, subnet: 'absent' } }, 'absent'],
    ['zone', { place: { ...PLACE, zone: 'europe-west1-z' } }, 'europe-west1-z'],
    ['project', { place: { ...PLACE, account: 'absent-project' } }, 'absent-project'],
  ])('reports that the %s does not exist', async (_what, values: Partial<NodeSpec>, named) => {
    const fault = { kind: 'invalid', message: expect.stringContaining(named) as string };
    await expect(driver.provision(spec(values), context())).rejects.toMatchObject(fault);
    expect(fake.all()).toEqual([]);
  });

  it.each<[string, Partial<NodeSpec>]>([
    ['a project that leads elsewhere', { place: { ...PLACE, account: '..' } }],
    ['a zone that leads elsewhere', { place: { ...PLACE, zone: '../x' } }],
    ['a network that is an address', { place: { ...PLACE, network: 'https://example.org' } }],
    ['no zone', { place: { ...PLACE, zone: null } }],
    ['an image that is an address', { image: 'https://example.org/image' }],
    ['a label with capitals', { userLabels: { Team: 'data' } }],
    ['too many labels', { userLabels: Object.fromEntries(Array.from({ length: 61 }, (_, at) => [`l${at}`, ''])) }],
    ['a tag with a blank', { place: { ...PLACE, networkTags: ['a b'] } }],
    ['an invalid identity', { identity: 'me' }],
    [
      'a GPU that cannot be attached',
      {
        machine: {
          ...adapt(plainNodeSpec('x', '3.5.9')).machine,
          type: 'n1-standard-4',
          gpu: { model: 'NVIDIA L4', count: 1 },
        },
      },
    ],
    [
      'a local disk of another size',
      { disks: [{ gib: 100, type: 'local-ssd', iops: null, throughputMb: null, encrypted: false }] },
    ],
  ])('makes no call for %s', async (_what, values) => {
    await expect(driver.provision(spec(values), context())).rejects.toMatchObject({ kind: 'invalid' });
    expect(fake.calls).toEqual([]);
  });

  it('names the right that the account lacks, and calls no token endpoint', async () => {
    fake.lacking.add('compute.instances.create');
    await expect(driver.provision(spec(), context())).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining("'compute.instances.create'") as string,
    });
  });

  it('reports a wrong or invalid key without repeating it', async () => {
    const wrong = { ...fake.credentials, PRIVATE_KEY: newRsaPair().privateKey };
    const describeWith = (credentials: Record<string, string>) =>
      driver.describe([refOf(spec())], context({ credentials }));
    await expect(describeWith(wrong)).rejects.toMatchObject({ kind: 'denied', code: 'GOOGLE.authError' });
    await expect(describeWith({ ...wrong, PRIVATE_KEY: 'no key' })).rejects.toMatchObject({
      kind: 'denied',
      message: 'PRIVATE_KEY is not an RSA key in PEM form.',
    });
  });

  it.each([
    [{ status: 429, reason: 'rateLimitExceeded', message: 'Slow down', retryAfter: '7' }, 'throttled', 7000],
    [{ status: 403, reason: 'rateLimitExceeded', message: 'Slow down' }, 'throttled', null],
    [{ status: 503, reason: 'backendError', message: 'Later' }, 'transient', null],
    [{ status: 403, reason: 'quotaExceeded', message: 'Quota exceeded' }, 'quota', null],
    [{ status: 403, reason: 'accessNotConfigured', message: 'The API is not enabled' }, 'denied', null],
    [{ status: 412, reason: 'conditionNotMet', message: 'Constraint vmExternalIpAccess violated' }, 'denied', null],
  ])('classifies %j as %s, and does not retry', async (refusal, kind, retryAfterMs) => {
    fake.refuse(refusal);
    await expect(driver.provision(spec(), context())).rejects.toMatchObject({ kind, retryAfterMs });
    expect(fake.calls).toHaveLength(1);
  });

  it('masks secrets and control characters that a response quotes', async () => {
    const message = `Invalid value: '${spec().boot.bootstrapToken}' \u001b[31m`;
    fake.refuse({ status: 400, reason: 'invalid\u0000', message });
    const error: unknown = await driver.provision(spec(), context()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'GOOGLE.HTTP_400', kind: 'invalid' });
    expect((error as Error).message).toMatch(/^[^\p{Cc}]+$/u);
    expect((error as Error).message).not.toContain('secret-bootstrap-token');
  });

  it.each<[string, (quoted: string) => void]>([
    ['a refusal', (quoted) => fake.refuse({ status: 400, reason: 'invalid', message: quoted })],
    ['no answer', () => fake.answerWith((request) => void request.socket.destroy())],
  ])('holds no secret at any depth of the error of %s', async (_what, fail) => {
    const wanted = spec();
    fail(wanted.boot.bootstrapToken);
    const [outcome] = await Promise.allSettled([driver.provision(wanted, context())]);
    const shown = inspect(outcome, { depth: 20, showHidden: true });
    expect(shown).toContain('ComputeDriverError');
    expect(shown).not.toMatch(/secret-bootstrap-token|Bearer|PRIVATE KEY/);
  });

  it('reports nothing as gone while a zone is unreachable', async () => {
    const warning = { code: 'UNREACHABLE', message: 'The zone europe-west1-c cannot be reached' };
    fake.answerWith((_request, response) => {
      response.end(
        JSON.stringify({
          kind: 'compute#instanceAggregatedList',
          items: { 'zones/europe-west1-c': { warning }, 'zones/europe-west1-b': {} },
        }),
      );
    });
    const fault = { kind: 'transient', message: expect.stringContaining(warning.message) as string };
    await expect(driver.destroy(refOf(spec()), context())).rejects.toMatchObject(fault);
    await expect(driver.listOwned({ installationId: 'own', place: PLACE }, context())).rejects.toMatchObject(fault);
  });

  it('accepts labels of letters without case', async () => {
    expect(await requested({ userLabels: { 部署: '数据' } })).toMatchObject({ labels: { 部署: '数据' } });
  });

  it.each([
    ['no JSON', '<html>'],
    ['a number', '7'],
    ['null', 'null'],
    ['items of any shape', JSON.stringify({ items: [null, 7, { name: 9, labels: 'x' }, { labels: [] }, [[]]] })],
    ['pages without an end', JSON.stringify({ items: [], nextPageToken: 'again' })],
    ['an error without a shape', JSON.stringify({ error: 'no' })],
  ])('survives a response of %s', async (_what, body) => {
    fake.answerWith((_request, response) => void response.end(body));
    const outcome = await Promise.allSettled([
      driver.describe([refOf(spec())], context()),
      driver.listOwned({ installationId: 'own', place: PLACE }, context()),
      driver.destroy(refOf(spec()), context()),
    ]);
    for (const one of outcome) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(ComputeDriverError);
  });

  it('ignores resources of other owners in a response', async () => {
    const zone = 'projects/p/zones/europe-west1-b';
    const foreign = { name: 'x', zone, status: 'RUNNING', labels: { ...orphan, platform_installation: 'other' } };
    fake.answerWith((_request, response) => {
      response.end(
        JSON.stringify({
          kind: 'compute#instanceAggregatedList',
          items: { 'zones/europe-west1-b': { instances: [foreign], disks: [foreign] } },
        }),
      );
    });
    const liveAmong = () => Promise.resolve(new Set<string>());
    const scope = { installationId: 'own', place: PLACE, olderThan: new Date(), liveAmong };
    expect(await driver.listOwned(scope, context())).toEqual([]);
    expect(await driver.sweep(scope, context())).toEqual({ removed: [], failed: [] });
  });

  it('follows no redirect', async () => {
    fake.answerWith((_request, response) => void response.writeHead(302, { Location: `${fake.url}/elsewhere` }).end());
    await expect(driver.describe([refOf(spec())], context())).rejects.toBeInstanceOf(ComputeDriverError);
  });

  it('times out at an endpoint that hangs', async () => {
    fake.answerWith(() => undefined);
    const signal = AbortSignal.timeout(50);
    await expect(driver.describe([refOf(spec())], context({ signal }))).rejects.toMatchObject({
      code: 'GOOGLE.TIMEOUT',
      kind: 'transient',
    });
  });

  it('creates no machine for another attempt while one exists in another zone of the region', async () => {
    const wanted = spec();
    await driver.provision(wanted, context());
    const next = { ...wanted, attempt: 2, place: { ...PLACE, zone: 'europe-west1-c' } };
    await expect(driver.provision(next, context())).rejects.toMatchObject({ kind: 'transient' });
    await eventually(async () => (await driver.destroy(refOf(wanted), context())) === 'gone', { what: 'its end' });
    await driver.provision(next, context());
    expect(fake.all().map(({ zone }) => zone)).toEqual(['europe-west1-c']);
  });

  it('calls only addresses that the outbound policy allows', async () => {
    const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: [] });
    const strict = new GoogleDriver({ bootScript: () => '', outbound, endpoint: 'https://127.0.0.1:1/' });
    await expect(strict.describe([refOf(spec())], context())).rejects.toMatchObject({ kind: 'invalid' });
  });
});
