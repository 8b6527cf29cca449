import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { DataSource } from 'typeorm';
import { AwsDriver } from '../../libs/compute-drivers/aws/aws-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
  type SweepScope,
} from '../../libs/compute-drivers/compute-driver';
import { GoogleDriver } from '../../libs/compute-drivers/google/google-driver';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { answering, HOSTILE_SERVERS, type HostileServer } from '../fakes/http/hostile-http';
import { bodyOf, type LoopbackServer, serveOnLoopback } from '../fakes/http/loopback-server';
import { rsaPair } from '../harness/rsa-pair';
import type { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import type { MachinePlacesRepository } from '../../src/modules/execution/clusters/provisioning/machine-places.repository';
import type { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { OrphanSweeper } from '../../src/modules/execution/clusters/provisioning/orphan-sweeper';
import type { CredentialsConfsService } from '../../src/modules/infrastructure/environments/credentials/credentials-confs.service';
import type { Installation } from '../../src/platform/kernel/installation/installation';
import { createLogger } from '../../src/platform/kernel/logging/logger';

const MINUTE_MS = 60_000;
/** The deadline of one call. */
const DEADLINE_MS = 1_000;
const SECRET = 'hush-nobody-sees-this';
const OWN = '2c6f4a52-5d0e-4d8e-9d0e-7f6a5b4c3d2e';
const LIVE = randomUUID();
const ORPHAN = randomUUID();
const OLD = new Date(Date.now() - 20 * MINUTE_MS).toISOString();

/** Deep JSON and many values are one case, because the parser is limited by bytes. */
const HARMS = (Object.keys(HOSTILE_SERVERS) as HostileServer[]).filter((one) => one !== 'sends millions of values');

/** A machine that the hostile provider claims exists. */
interface Claim {
  /** The provider's id. */
  id: string;
  token?: string;
  installation?: string;
  created?: string | null;
  /** Google's zone. */
  zone?: string;
}

/** A provider in the hands of an attacker. */
interface Attacked {
  driver(endpoint: string): ComputeDriver;
  region: string;
  account: string | null;
  credentials: Record<string, string>;
  /** Secret values of the credentials, which must not leak. */
  secrets: readonly string[];
  /** Returns the provider's id for a number. */
  id(number: number): string;
  /** Ids that mean another resource when they are put into a request. */
  strayIds: readonly string[];
  /** Returns these machines and as many disks for every list request, and records the removals it receives. */
  serving(claims: readonly Claim[], next: () => string | null, removed: string[]): RequestListener;
  refusing(message: string): RequestListener;
  /** Serves a list longer than the limit; `askForMany` is the call that requests it. */
  overfull(): RequestListener;
  askForMany(driver: ComputeDriver, place: SweepScope['place'], context: DriverContext): Promise<unknown>;
}

const labelsOf = ({ token = ORPHAN, installation = OWN }: Claim) => ({
  platform_installation: installation,
  platform_cluster: '7_11',
  platform_node: token,
  platform_attempt: '1',
});

const PLACE: SweepScope['place'] = {
  ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });
const bootScript = () => '';

const aws: Attacked = {
  driver: (endpoint) => new AwsDriver({ bootScript, outbound, endpoint }),
  ...{ region: 'us-east-1', account: null },
  credentials: { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: SECRET, AWS_DEFAULT_REGION: 'us-east-1' },
  secrets: [SECRET],
  id: (number) => `i-${number.toString(16).padStart(17, '0')}`,
  strayIds: ['i-0&amp;InstanceId.2=i-1', 'r-0123', ''],
  serving: (claims, next, removed) => async (request, response) => {
    const call = new URLSearchParams(await bodyOf(request));
    const action = call.get('Action') ?? '';
    const targets = [...call].filter(([name]) => /^(InstanceId\.\d+|VolumeId)$/.test(name));
    removed.push(...targets.map(([, id]) => id));
    const token = next();
    const page = token === null ? '' : `<nextToken>${token}</nextToken>`;
    const tags = (claim: Claim) =>
      `<tagSet>${Object.entries(labelsOf(claim))
        .map(([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`)
        .join('')}</tagSet>`;
    const time = (name: string, { created = OLD }: Claim) => (created === null ? '' : `<${name}>${created}</${name}>`);
    const lists: Record<string, () => string> = {
      DescribeInstances: () =>
        `<reservationSet><item><instancesSet>${claims
          .map(
            (one) =>
              `<item><instanceId>${one.id}</instanceId><instanceState><name>running</name></instanceState>` +
              `${time('launchTime', one)}${tags(one)}</item>`,
          )
          .join('')}</instancesSet></item></reservationSet>`,
      DescribeVolumes: () =>
        `<volumeSet>${claims
          .map((one) => `<item><volumeId>vol-${one.id}</volumeId>${time('createTime', one)}${tags(one)}</item>`)
          .join('')}</volumeSet>`,
    };
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(`<${action}Response>${lists[action]?.() ?? ''}${page}</${action}Response>`);
  },
  refusing: (message) =>
    answering(
      400,
      `<Response><Errors><Error><Code>Bad</Code><Message>${message}</Message></Error></Errors></Response>`,
    ),
  overfull: () => {
    const subnets = '<item><availabilityZone>a</availabilityZone></item>'.repeat(100_001);
    return answering(
      200,
      `<DescribeSubnetsResponse><subnetSet>${subnets}</subnetSet><nextToken>next</nextToken></DescribeSubnetsResponse>`,
    );
  },
  askForMany: (driver, place, context) => driver.zones?.(place, context) ?? Promise.resolve(),
};

const PRIVATE_KEY = rsaPair().privateKey;

const google: Attacked = {
  driver: (endpoint) => new GoogleDriver({ bootScript, outbound, endpoint }),
  ...{ region: 'europe-west1', account: 'own-project' },
  credentials: { CLIENT_EMAIL: 'nodes@own-project.iam.gserviceaccount.com', PRIVATE_KEY, PRIVATE_KEY_ID: '1' },
  secrets: [PRIVATE_KEY.slice(100, 140)],
  id: (number) => `platform-${number}`,
  strayIds: ['../../../other/instances/x', 'a?b', '..', ''],
  serving: (claims, next, removed) => (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://google');
    if (request.method === 'DELETE') removed.push(pathname.split('/').at(-1) ?? '');
    const kind = pathname.split('/').at(-1) ?? '';
    const items = claims.map((one) => ({
      ...{ name: kind === 'disks' ? `disk-${one.id}` : one.id, zone: `zones/${one.zone ?? 'europe-west1-b'}` },
      ...{
        status: 'RUNNING',
        labels: labelsOf(one),
        creationTimestamp: one.created ?? (one.created === null ? undefined : OLD),
      },
    }));
    const listed = kind === 'instances' || kind === 'disks' ? { 'zones/europe-west1-b': { [kind]: items } } : {};
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind: 'compute#list', items: listed, nextPageToken: next() ?? undefined }));
  },
  refusing: (message) => answering(400, { error: { message, errors: [{ reason: 'bad' }] } }),
  overfull() {
    const claims = Array.from({ length: 30_001 }, (_, at) => ({ id: this.id(at) }));
    return this.serving(claims, () => 'next', []);
  },
  askForMany: (driver, place, context) => driver.listOwned({ installationId: OWN, place }, context),
};

// Real: the drivers with their SDKs, and the sweeper's rules. Left out: the database. The provider is the attacker's.
describe.each([
  ['EC2', aws],
  ['Compute Engine', google],
])('a hostile server in the place of %s', (_provider, attacked) => {
  let server: LoopbackServer;
  let listener: RequestListener;
  let requests: number;
  const { credentials, region, account, secrets } = attacked;
  const logger = createLogger('test', 'silent');

  beforeAll(async () => {
    server = await serveOnLoopback((request, response) => {
      requests += 1;
      // A reused connection might be closing, and the call would fail for that reason alone.
      response.setHeader('connection', 'close');
      listener(request, response);
    });
  });
  beforeEach(() => (requests = 0));
  afterAll(() => server?.stop());

  const context = (signal = AbortSignal.timeout(MINUTE_MS)): DriverContext => ({
    ...{ endpoint: null, credentials, correlationId: 'attack', signal },
  });
  const place = { ...PLACE, account, region };
  const listing = (signal?: AbortSignal) =>
    attacked.driver(server.url).listOwned({ installationId: OWN, place }, context(signal));
  const faultOf = (work: Promise<unknown>) =>
    work.then(
      () => Promise.reject(new Error('it did not fail')),
      (error: unknown) => error as Error,
    );

  /** Sweeps the place once; returns the number of removals and the warnings of the log. */
  async function sweep(): Promise<{ removed: number; logged: string }> {
    const warnings = jest.spyOn(logger, 'warn');
    let removed = -1;
    const found = {
      machine_place_id: 1,
      tenant_id: OWN,
      credentials_conf_id: 1,
      cloud_provider_id: 0,
      account,
      region,
    };
    const turns = [{ ...found, endpoint: '' }];
    const places = {
      claim: () => Promise.resolve(turns.pop() ?? null),
      recordSweep: (_id: number, outcome: { removed: number }) => Promise.resolve(void ({ removed } = outcome)),
      recordFailure: () => Promise.resolve(1),
      release: () => Promise.resolve(),
    };
    const drivers = { serves: () => true, forEnvironment: () => Promise.resolve(attacked.driver(server.url)) };
    const sweeper = new OrphanSweeper(
      {} as DataSource,
      places as unknown as MachinePlacesRepository,
      {
        liveAmong: (tokens: string[]) => Promise.resolve(new Set(tokens.filter((token) => token === LIVE))),
      } as unknown as ClusterNodesRepository,
      { reveal: () => Promise.resolve({ values: credentials }) } as unknown as CredentialsConfsService,
      drivers as unknown as Drivers,
      { id: () => Promise.resolve(OWN) } as unknown as Installation,
      logger,
    );
    await sweeper.reconcile(AbortSignal.timeout(MINUTE_MS));
    return { removed, logged: JSON.stringify(warnings.mock.calls) };
  }

  it('causes the removal of nothing but an old machine of this installation without a node', async () => {
    const asked: string[] = [];
    const orphan = { id: attacked.id(1) };
    const others: Omit<Claim, 'id'>[] = [
      { token: LIVE },
      { installation: randomUUID() },
      { installation: '' },
      { installation: `${OWN} ` },
      { token: 'a-token-of-no-form' },
      { token: ORPHAN.toUpperCase() },
      { token: '' },
      { created: new Date().toISOString() },
      { created: '9999-12-31T23:59:59Z' },
      { created: null },
    ];
    const strays = attacked.strayIds.map((id) => ({ id }));
    const claims = [orphan, ...others.map((one, at) => ({ id: attacked.id(at + 2), ...one })), ...strays];
    listener = attacked.serving(claims, () => null, asked);
    expect((await sweep()).removed).toBe(1);
    expect(asked.filter((id) => !id.includes('vol-') && !id.includes('disk-'))).toEqual([orphan.id]);
    // The sweep keeps the disks of a node that has, or has just lost, a machine. Only the orphan's disks may go.
    const disks = asked.filter((id) => id.includes('vol-') || id.includes('disk-'));
    expect(disks.filter((id) => !id.endsWith(orphan.id))).toEqual([]);
  });

  it('cannot make the driver read pages without an end, empty or repeated', async () => {
    let count = 0;
    listener = attacked.serving([], () => `page-${(count += 1)}`, []);
    expect(await faultOf(listing())).toBeInstanceOf(ComputeDriverError);
    expect(requests).toBeLessThanOrEqual(100);
  });

  it('cannot fill the memory with more than the driver requests', async () => {
    listener = attacked.overfull();
    const fault = await faultOf(attacked.askForMany(attacked.driver(server.url), place, context()));
    expect(fault).toBeInstanceOf(ComputeDriverError);
    expect(fault.message).toContain('never ends');
    expect(requests).toBe(1);
  });

  it.each(HARMS)('gains nothing if it %s', async (kind) => {
    // The deadline starts when the server receives the call: on a busy machine it might otherwise be over by then.
    const over = new AbortController();
    const hostile: RequestListener = HOSTILE_SERVERS[kind];
    listener = (request, response) => {
      setTimeout(
        () => over.abort(new DOMException('The time of the call is over', 'TimeoutError')),
        DEADLINE_MS,
      ).unref();
      hostile(request, response);
    };
    const fault = await faultOf(listing(over.signal));
    expect(fault).toBeInstanceOf(ComputeDriverError);
    expect(fault.message.length).toBeLessThan(1_000);
    expect(requests).toBe(1);
  });

  it('gets no secrets, no control characters and no long text into the log', async () => {
    const [secret = ''] = secrets;
    listener = attacked.refusing(`\u001b[2J\u0007\u202e${Object.values(credentials).join(' ')} ${'x'.repeat(100_000)}`);
    const { logged } = await sweep();
    expect(logged).toContain('Search for machines that no cluster owns failed');
    expect(logged).toContain('xxxx');
    expect(logged).not.toContain(secret);
    expect(logged).not.toMatch(/\\u001b|\\u0007|\u202e/);
    expect(logged.length).toBeLessThan(5_000);
  });

  it('cannot redirect a call to another server', async () => {
    let followed = false;
    const other = await serveOnLoopback((_request, response) => {
      followed = true;
      response.end('{}');
    });
    try {
      listener = (_request, response) => void response.writeHead(307, { location: other.url }).end();
      expect(await faultOf(listing())).toBeInstanceOf(ComputeDriverError);
      expect(followed).toBe(false);
    } finally {
      await other.stop();
    }
  });
});

it('a hostile server in the place of EC2 gains nothing by deeply nested XML or by entities', async () => {
  const depth = 100_000;
  const entities = `<!DOCTYPE R [<!ENTITY a "${'a'.repeat(1_000)}"><!ENTITY b "${'&a;'.repeat(1_000)}">]>`;
  const bodies = [
    `<DescribeInstancesResponse>${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}</DescribeInstancesResponse>`,
    `${entities}<DescribeInstancesResponse>${'&b;'.repeat(1_000)}</DescribeInstancesResponse>`,
  ];
  for (const body of bodies) {
    const server = await serveOnLoopback(answering(200, body, { 'content-type': 'text/xml' }));
    try {
      const signal = AbortSignal.timeout(MINUTE_MS);
      const context = { endpoint: null, credentials: aws.credentials, correlationId: 'attack', signal };
      const scope = { installationId: OWN, place: PLACE };
      await expect(aws.driver(server.url).listOwned(scope, context)).rejects.toBeInstanceOf(ComputeDriverError);
    } finally {
      await server.stop();
    }
  }
});
