import { NODE_LABEL } from '../../libs/compute-drivers/cloud-driver';
import { seededRandom } from '../harness/seeded-random.cjs';
import type { ApiClient } from '../e2e/harness/api-client';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest } from '../e2e/harness/platform';
import { CLUSTER_STEPS, CRASH_MOMENTS, QUICK_RECOVERY } from '../e2e/harness/survival';
import { isLong } from '../harness/long';
import { describeCloud } from './harness/cloud-estate';
import { ClusterLife, type LifeOperation, OPERATIONS, type ProviderView } from './harness/cluster-life';
import { EC2_CREDENTIALS, EC2_IDS, EC2_IMAGE, Ec2Instances } from './harness/ec2-instances';
import { type Ec2Fault, Ec2Proxy } from './harness/ec2-proxy';
import { StandInAgents } from './harness/stand-in-agents';

/** Seed of the random faults; TEST_SEED overrides it. */
const SEED = Number(process.env['TEST_SEED'] ?? '1');
const SECRET = 'secret-of-the-account';
const AT_ONCE = 8;
/** Numbers of tested clusters: with a fault in each operation, with a refusal, and with killed workers. */
const [LIVES, REFUSALS, KILLED_LIVES] = isLong ? [Infinity, Infinity, Infinity] : [3, 3, 1];

const LAUNCH = ['DescribeInstances', 'DescribeSubnets', 'DescribeImages', 'RunInstances'];
const REMOVAL = [
  ...['DescribeInstances', 'TerminateInstances', 'DescribeVolumes', 'DescribeNetworkInterfaces', 'DescribeAddresses'],
];
/** EC2's actions of each operation. */
const CALLS: Readonly<Record<LifeOperation, readonly string[]>> = {
  start: LAUNCH,
  stop: ['DescribeInstances', 'StopInstances'],
  restart: ['DescribeInstances', 'StartInstances'],
  grow: LAUNCH,
  shrink: REMOVAL,
  destroy: REMOVAL,
};

type FaultName = keyof typeof FAULTS | 'killed';

/** Faults that an operation survives. For `killed`, the worker is killed once the call has succeeded. */
const FAULTS = {
  lost: 'lost',
  late: 'late',
  page: 'page',
  unseen: 'unseen',
  throttled: { status: 503, code: 'RequestLimitExceeded', message: 'Request limit exceeded.' },
  failing: { status: 500, code: 'InternalError', message: 'An internal error has occurred' },
  unavailable: { status: 503, code: 'Unavailable', message: 'The service is unavailable.' },
} as const satisfies Record<string, Ec2Fault>;

/** Faults that end an operation, with a part of the reason that users see. */
const REFUSALS_OF: Readonly<Record<string, { fault: Ec2Fault; words: string; calls: RegExp }>> = {
  capacity: {
    fault: { status: 500, code: 'InsufficientInstanceCapacity', message: 'We do not have enough m5.large capacity.' },
    ...{ words: 'do not have enough m5.large capacity', calls: /^(Run|Start)Instances$/ },
  },
  quota: {
    fault: { status: 400, code: 'VcpuLimitExceeded', message: 'Your current vCPU limit of 0 does not allow it.' },
    ...{ words: 'vCPU limit of 0', calls: /^(Run|Start)Instances$/ },
  },
  stillborn: { fault: 'stillborn', words: 'Insufficient capacity to satisfy', calls: /^RunInstances$/ },
  denied: {
    fault: { status: 403, code: 'UnauthorizedOperation', message: 'You are not authorized to perform this operation.' },
    ...{ words: 'not authorized', calls: /./ },
  },
};

/** The workflow of each operation, around whose steps a worker is killed. */
const WORKFLOWS: Readonly<Record<LifeOperation, keyof typeof CLUSTER_STEPS>> = {
  ...{ start: 'start', stop: 'stop', restart: 'start', grow: 'resize-up', shrink: 'resize-down', destroy: 'destroy' },
};

interface Kill {
  operation: LifeOperation;
  /** Name of a point of a workflow in `PlatformUnderTest`. */
  point: string;
}

interface Trial {
  operation: LifeOperation;
  action: string;
  fault: string;
  /** Calls of the action without a fault before: those for another node. */
  skip: number;
}

/** True if the action can have the fault: only new machines may be missing from lists. */
function suits(fault: FaultName, action: string, operation: LifeOperation): boolean {
  if (fault === 'unseen') return action === 'DescribeInstances' && (operation === 'start' || operation === 'grow');
  if (fault === 'late' || fault === 'killed') return !action.startsWith('Describe') || fault === 'killed';
  return true;
}

const FAULT_NAMES = [...Object.keys(FAULTS), 'killed'] as FaultName[];

/** Combines operations, calls and faults, for the first node or the second if the cluster has two. */
function trialsOf(operation: LifeOperation): Trial[] {
  const nodes = operation === 'grow' || operation === 'shrink' ? 1 : 2;
  return CALLS[operation].flatMap((action) =>
    FAULT_NAMES.filter((fault) => suits(fault, action, operation)).map((fault, at) => ({
      operation,
      action,
      fault,
      skip: at % nodes,
    })),
  );
}

/** Combines steps and moments. */
function killsOf(operation: LifeOperation): Kill[] {
  const workflow = WORKFLOWS[operation];
  return CLUSTER_STEPS[workflow].flatMap((step) =>
    CRASH_MOMENTS.map((moment) => ({ operation, point: `cluster.${workflow}:${step}:${moment}` })),
  );
}

/** Distributes all trials over clusters, one per operation. */
function lives<T>(of: (operation: LifeOperation) => T[], seed: number): T[][] {
  const random = seededRandom(seed);
  const table = OPERATIONS.map((operation) => random.shuffled(of(operation)));
  const count = Math.max(...table.map(({ length }) => length));
  return Array.from({ length: count }, (_, life) => table.map((all) => all[life % all.length] as T));
}

/** Combines operations, calls and refusals. */
function refusals(): Trial[] {
  const operations = OPERATIONS.filter((operation) => operation !== 'shrink');
  const all = operations.flatMap((operation) =>
    CALLS[operation].flatMap((action) =>
      Object.entries(REFUSALS_OF)
        .filter(([, { calls }]) => calls.test(action))
        .map(([fault]) => ({ operation, action, fault, skip: 0 })),
    ),
  );
  return seededRandom(SEED + 1).shuffled(all);
}

// Real: API, worker, drivers and their SDK. Stand-ins: EC2, which is moto behind a proxy, and the agents of its machines.
describe('faults of AWS in the operations of clusters', () => {
  let platform: PlatformUnderTest;
  let proxy: Ec2Proxy;
  let instances: Ec2Instances;
  let agents: StandInAgents;
  let client: ApiClient;
  let desk: JobDesk;
  let tenantId: string;
  let network: { network_name: string; subnet: string };
  let restart = Promise.resolve();

  beforeAll(async () => {
    proxy = await Ec2Proxy.before(process.env.TEST_EC2_URL ?? '');
    platform = await PlatformUnderTest.start({
      name: 'aws-faults',
      env: { ...QUICK_RECOVERY, COMPUTE_EC2_ENDPOINT: proxy.url },
    });
    const [installation] = await platform.sql<{ installation_id: string }>('SELECT installation_id FROM installation');
    instances = new Ec2Instances(proxy.url, installation?.installation_id ?? '');
    agents = new StandInAgents(() => instances.list()).open();
    client = await platform.admin();
    desk = await JobDesk.open(client, 'desk');
    await desk.upload('job.py', '');
    const [tenant] = await platform.sql<{ tenant_id: string }>('SELECT tenant_id FROM workspaces LIMIT 1');
    tenantId = tenant?.tenant_id ?? '';
  });

  beforeEach(async () => {
    proxy.nextAccount();
    network = await instances.subnet();
  });

  afterAll(async () => {
    await platform?.close();
    await agents?.close();
    await proxy?.stop();
  });

  const provider: ProviderView = {
    async machinesOf(clusterId) {
      const living = (await ofCluster(clusterId)).filter(({ state }) => state !== 'terminated');
      return living.map(({ nodeToken, state }) => ({ nodeToken, state: state as 'running' }));
    },
    async createdFor(clusterId) {
      return (await ofCluster(clusterId)).map(({ nodeToken }) => nodeToken).filter((token) => token !== '');
    },
    leftoversOf: (clusterId) => instances.partsWithTag('platform_cluster', `${tenantId}_${clusterId}`),
  };

  async function ofCluster(clusterId: number): Promise<{ nodeToken: string; state: string }[]> {
    const found = await instances.withTag('platform_cluster', `${tenantId}_${clusterId}`);
    return found.map(({ Tags = [], State }) => ({
      nodeToken: Tags.find(({ Key }) => Key === NODE_LABEL)?.Value ?? '',
      state: String(State?.Name),
    }));
  }

  /** Starts another worker. */
  const killWorker = () =>
    (restart = restart.then(async () => {
      await platform.killWorker();
      await platform.startWorker();
    }));

  function arm({ action, fault, skip }: Trial, key: string): void {
    const known = fault === 'killed' ? killWorker : (FAULTS[fault as keyof typeof FAULTS] ?? REFUSALS_OF[fault]?.fault);
    proxy.fail(action, known, 1, { key, skip });
  }

  async function lifeOf(name: string): Promise<{ life: ClusterLife; key: string }> {
    const key = `AKIA${name.toUpperCase()}`;
    const credentials = { ...EC2_CREDENTIALS, AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: SECRET };
    const estate = await describeCloud(client, platform.runtime.sparkVersion, {
      ...{ name, ...EC2_IDS, credentials, cloudProject: 'account', image: EC2_IMAGE },
      network: { ...network, network_project_id: 'account', network_tags: [] },
    });
    return { life: await ClusterLife.begin({ platform, desk, agents, provider, estate, name }), key };
  }

  async function live(trials: readonly Trial[], at: number): Promise<string[]> {
    const { life, key } = await lifeOf(`life${at}`);
    const missed: string[] = [];
    for (const trial of trials) {
      arm(trial, key);
      await life.run(trial.operation).catch((error: unknown) => {
        throw new Error(`${nameOf(trial)} in life ${at} of seed ${SEED}: ${String(error)}`, { cause: error });
      });
      if (proxy.cancelFaults(key) > 0) missed.push(nameOf(trial));
    }
    return missed;
  }

  /** Kills the worker of the operation at the point, and starts another one. */
  async function killAt(point: string): Promise<void> {
    await platform.startWorkerThatCrashes(point);
    try {
      expect(await platform.workerEnded()).toBe('SIGKILL');
    } finally {
      await platform.killWorker();
      await platform.startWorker();
    }
  }

  async function liveThroughKills(kills: readonly Kill[], at: number): Promise<void> {
    const { life } = await lifeOf(`killed${at}`);
    for (const { operation, point } of kills) {
      await platform.killWorker();
      const outcomes = await Promise.allSettled([killAt(point), life.run(operation)]);
      const failed = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason));
      if (failed.length > 0)
        throw new Error(`${operation}: ${point} in killed life ${at} of seed ${SEED}: ${failed.join('\n')}`);
    }
  }

  async function refuse(trial: Trial, at: number): Promise<void> {
    const { life, key } = await lifeOf(`refusal${at}`);
    const { operation } = trial;
    try {
      for (const before of OPERATIONS.slice(0, OPERATIONS.indexOf(operation)))
        if (before === 'start' || (operation === 'restart' && before === 'stop')) await life.run(before);
      arm(trial, key);
      const reason = await life.runIntoRefusal(operation);
      expect(reason).toContain(REFUSALS_OF[trial.fault]?.words);
      if (operation === 'start') {
        await life.expectNoMachine();
        expect((await life.nodeReasons()).join()).toContain(REFUSALS_OF[trial.fault]?.words);
      }
      await life.run('destroy');
    } catch (error) {
      throw new Error(`${nameOf(trial)}, refusal ${at} of seed ${SEED}: ${String(error)}`, { cause: error });
    }
  }

  it.each(groupsOf(lives(trialsOf, SEED).slice(0, LIVES)))(
    'do not stop an operation, and leave one machine per node and no leftovers: clusters from %i on',
    async (_first, group) => {
      const missed = (await atOnce(group, live)).flat();
      // A fault that no call has met proves nothing.
      expect(missed).toEqual([]);
    },
  );

  it.each(groupsOf(refusals().slice(0, REFUSALS)))(
    'that end an operation are reported with the message of EC2, and leave nothing behind: from %i on',
    async (_first, group) => void (await atOnce(group, refuse)),
  );

  // A worker has one point at which it dies, so these tests run one after the other.
  it.each([
    ...lives(killsOf, SEED + 2)
      .slice(0, KILLED_LIVES)
      .entries(),
  ])(
    'do not stop an operation whose worker is killed around a step, and leave one machine per node: cluster %i',
    async (at, kills) => liveThroughKills(kills, at),
  );

  it('write no secret to a log', () => {
    for (const log of [platform.workerLog(), platform.apiLog()]) expect(log).not.toContain(SECRET);
  });
});

const nameOf = ({ operation, action, fault, skip }: Trial) => `${operation}: ${action} ${fault}, after ${skip}`;

/** Groups of trials that run at the same time, each with its index. */
function groupsOf<T>(all: readonly T[]): [number, [number, T][]][] {
  const placed = [...all.entries()];
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, group) => [
    group * AT_ONCE,
    placed.slice(group * AT_ONCE, (group + 1) * AT_ONCE),
  ]);
}

/** Runs the work of a group at the same time, and reports all failures together. */
async function atOnce<T, R>(group: readonly [number, T][], work: (one: T, at: number) => Promise<R>): Promise<R[]> {
  const results = await Promise.allSettled(group.map(([at, one]) => work(one, at)));
  const failed = results.filter((result) => result.status === 'rejected').map(({ reason }) => String(reason));
  if (failed.length > 0) throw new Error(failed.join('\n'));
  return results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
}
