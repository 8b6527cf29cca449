import { eventually } from '../harness/eventually';
import { isLong } from '../harness/long';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, type Estate, reachStatus, stateReason } from './harness/estate';
import { PlatformUnderTest } from './harness/platform';
import {
  CLUSTER_STEPS,
  CRASH_MOMENTS,
  type CrashMoment,
  endedWorkflow,
  expectNoStrayNodes,
  expectSound,
  historyOf,
  holdNode,
  nodesOf,
  QUICK_RECOVERY,
} from './harness/survival';

const NODES = 2;

/** The worker has this long to end in order, which is less than the step waits for the driver. */
const SHUTDOWN_MS = 30_000;

type Operation = 'start' | 'stop' | 'destroy';

let platform: PlatformUnderTest;
let client: ApiClient;
let estate: Estate;
let made = 0;

beforeAll(async () => {
  const env = { ...QUICK_RECOVERY, SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_MS) };
  platform = await PlatformUnderTest.start({ name: 'survival-worker', env });
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

/** Returns every step, and every moment of some step; with `npm run test:long` every step at every moment. */
function points(steps: readonly string[]): [string, CrashMoment][] {
  const isTried = (place: number, turn: number) => isLong || place % 3 === turn;
  return steps.flatMap((step, place) =>
    CRASH_MOMENTS.filter((_moment, turn) => isTried(place, turn)).map((moment): [string, CrashMoment] => [
      step,
      moment,
    ]),
  );
}

async function newCluster(fields: object = {}): Promise<number> {
  made += 1;
  const instances = { min_instances: NODES, max_instances: NODES };
  return createCluster(client, estate, `cluster-${made}`, { ...instances, ...fields });
}

async function ask(operation: Operation, clusterId: number): Promise<void> {
  await client.post(`/cluster/${operation}`, { cluster_id: clusterId });
}

async function runningCluster(): Promise<number> {
  const clusterId = await newCluster();
  await ask('start', clusterId);
  await reachStatus(client, clusterId, 'RUNNING');
  await endedWorkflow(platform, clusterId);
  return clusterId;
}

/** Lets a worker that kills itself at the crash point begin the operation, and another one recover it. */
async function crashDuring(operation: Operation, clusterId: number, step: string, moment: CrashMoment): Promise<void> {
  await platform.killWorker();
  await ask(operation, clusterId);
  await platform.startWorkerThatCrashes(`cluster.${operation}:${step}:${moment}`);
  expect(await platform.workerEnded()).toBe('SIGKILL');
  await platform.startWorker();
}

/** Checks that the operation ended as usual, and that its steps show where it was interrupted. */
async function expectRecovered(clusterId: number, step: string, moment: CrashMoment): Promise<void> {
  const { state, steps } = await endedWorkflow(platform, clusterId);
  expect(state).toBe('DONE');
  const interrupted = steps.filter(({ outcome }) => outcome === 'interrupted').map(({ name }) => name);
  // A committed step is not interrupted: the next worker begins with the step after it. That step may be interrupted, too,
  // because on a busy machine the worker may not extend its short lease in time.
  expect(interrupted.filter((name) => name === step).length > 0).toBe(moment !== 'committed');
  expect(steps.filter(({ name, outcome }) => name === step && outcome === 'done')).toHaveLength(1);
}

async function clear(clusterId: number): Promise<void> {
  await ask('destroy', clusterId);
  await reachStatus(client, clusterId, 'DESTROYED');
}

describe('kill -9 of the worker during a start', () => {
  it.each(points(CLUSTER_STEPS.start))('%s, %s', async (step, moment) => {
    const clusterId = await newCluster();
    await crashDuring('start', clusterId, step, moment);
    await reachStatus(client, clusterId, 'RUNNING');
    await expectRecovered(clusterId, step, moment);
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: NODES });
    await expectNoStrayNodes(platform);
    await clear(clusterId);
  });

  it('that resumes stopped nodes', async () => {
    const clusterId = await runningCluster();
    const before = await nodesOf(platform, clusterId);
    await ask('stop', clusterId);
    await reachStatus(client, clusterId, 'STOPPED');
    await crashDuring('start', clusterId, 'provision-nodes', 'after');
    await reachStatus(client, clusterId, 'RUNNING');
    await expectRecovered(clusterId, 'provision-nodes', 'after');
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'STOPPING', 'STOPPED', 'INITIATING', 'RUNNING'];
    await expectSound(platform, clusterId, { history, nodes: NODES });
    expect(await nodesOf(platform, clusterId)).toEqual(before);
    await clear(clusterId);
  });

  it('that has failed and cleans up', async () => {
    const clusterId = await newCluster({ bootstrap_shell_script: 'echo no such disk >&2; exit 3' });
    await platform.killWorker();
    await ask('start', clusterId);
    await platform.startWorkerThatCrashes('cluster.start:compensate:before');
    expect(await platform.workerEnded()).toBe('SIGKILL');
    await platform.startWorker();
    await reachStatus(client, clusterId, 'ERROR');
    expect(await stateReason(client, clusterId)).toMatch(/Step await-nodes failed: Node \d.*no such disk/s);
    const { state, steps } = await endedWorkflow(platform, clusterId);
    expect(state).toBe('ERROR');
    expect(steps.filter(({ name }) => name === 'compensate').map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'done',
    ]);
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'ERROR'], nodes: 0 });
    await expectNoStrayNodes(platform);
  });
});

describe('kill -9 of the worker during a stop', () => {
  it.each(points(CLUSTER_STEPS.stop))('%s, %s', async (step, moment) => {
    const clusterId = await runningCluster();
    await crashDuring('stop', clusterId, step, moment);
    await reachStatus(client, clusterId, 'STOPPED');
    await expectRecovered(clusterId, step, moment);
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'STOPPING', 'STOPPED'];
    await expectSound(platform, clusterId, { history, nodes: NODES });
    await expectNoStrayNodes(platform);
    await clear(clusterId);
  });
});

describe('kill -9 of the worker during a destroy', () => {
  it.each(points(CLUSTER_STEPS.destroy))('%s, %s', async (step, moment) => {
    const clusterId = await runningCluster();
    await crashDuring('destroy', clusterId, step, moment);
    await reachStatus(client, clusterId, 'DESTROYED');
    await expectRecovered(clusterId, step, moment);
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'DESTROYING', 'DESTROYED'];
    await expectSound(platform, clusterId, { history, nodes: 0 });
    await expectNoStrayNodes(platform);
  });
});

describe('SIGTERM of the worker in the middle of a step', () => {
  it('ends it in time, and another worker continues', async () => {
    const clusterId = await runningCluster();
    const [first] = await nodesOf(platform, clusterId);
    const release = await holdNode(platform, first?.token ?? '');
    try {
      await ask('stop', clusterId);
      await eventually(() => openStep(clusterId, 'stop-nodes'), { what: 'the step that waits for the driver' });
      const requestedAt = performance.now();
      platform.askWorkerToEnd();
      expect(await platform.workerEnded()).toBeNull();
      expect(performance.now() - requestedAt).toBeLessThan(SHUTDOWN_MS);
    } finally {
      await release();
    }
    await platform.startWorker();
    await reachStatus(client, clusterId, 'STOPPED');
    const { state, steps } = await endedWorkflow(platform, clusterId);
    expect(state).toBe('DONE');
    // The end of a worker is not a failure of the step.
    expect(steps.map(({ error }) => error)).toEqual(steps.map(() => null));
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'STOPPING', 'STOPPED'];
    await expectSound(platform, clusterId, { history, nodes: NODES });
    await clear(clusterId);
  });
});

describe('two workers', () => {
  it('execute each operation once', async () => {
    const second = await platform.startSecondWorker();
    try {
      const clusterIds = await Promise.all(Array.from({ length: 4 }, () => newCluster({ min_instances: 1 })));
      for (const [operation, status] of [
        ['start', 'RUNNING'],
        ['stop', 'STOPPED'],
        ['destroy', 'DESTROYED'],
      ] as const) {
        await Promise.all(clusterIds.map((id) => ask(operation, id)));
        await Promise.all(clusterIds.map((id) => reachStatus(client, id, status)));
      }
      for (const clusterId of clusterIds) {
        const { steps } = await endedWorkflow(platform, clusterId);
        // A worker without the folder of local nodes, or whose lease has ended, leaves its turns to the other one.
        const carriedOut = steps.filter(({ outcome }) => outcome !== 'waiting' && outcome !== 'interrupted');
        expect(carriedOut.map(({ name, outcome }) => [name, outcome])).toEqual(
          CLUSTER_STEPS.destroy.map((name) => [name, 'done']),
        );
        expect(await historyOf(platform, 'cluster_states', 'cluster_id', clusterId)).toHaveLength(7);
      }
      await expectNoStrayNodes(platform);
    } finally {
      await second();
    }
  });
});

async function openStep(clusterId: number, name: string): Promise<boolean> {
  const open = await platform.sql(
    `SELECT 1 FROM workflow_steps s JOIN clusters c USING (workflow_job_instance_id)
     WHERE c.cluster_id = $1 AND s.name = $2 AND s.ended_at IS NULL`,
    [clusterId, name],
  );
  return open.length > 0;
}
