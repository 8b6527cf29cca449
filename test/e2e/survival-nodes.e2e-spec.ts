import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { plainNodeSpec } from '../../libs/compute-drivers/compute-driver.contract';
import { LocalDriver } from '../../libs/compute-drivers/local/local-driver';
import { eventually } from '../harness/eventually';
import type { ApiClient } from './harness/api-client';
import {
  createCluster,
  describeEstate,
  destroyCluster,
  type Estate,
  startCluster,
  stateReason,
} from './harness/estate';
import { GatedJob } from './harness/gated-job';
import { PlatformUnderTest } from './harness/platform';
import {
  expectNoStrayNodes,
  expectSound,
  historyOf,
  kill9,
  nodeDirectory,
  nodeOf,
  processesOfNode,
  QUICK_RECOVERY,
} from './harness/survival';

/** The platform probes a silent node after half of the lease and marks it as lost after the lease and the margin. */
const LEASE_MS = 12_000;

let platform: PlatformUnderTest;
let client: ApiClient;
let estate: Estate;
/** A running cluster without work. */
let quiet: number;
let startedQuiet: Date;

beforeAll(async () => {
  const env = {
    ...QUICK_RECOVERY,
    AGENT_LEASE_MS: String(LEASE_MS),
    AGENT_LEASE_MARGIN_MS: '1000',
    CLUSTER_REPLACEMENTS_PER_HOUR: '0',
  };
  platform = await PlatformUnderTest.start({ name: 'survival-nodes', env });
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
  quiet = await createCluster(client, estate, 'quiet');
  await startCluster(client, quiet);
  startedQuiet = await lastSeen(quiet);
});

afterAll(() => platform?.close());

/** Starts a cluster of one node and a job that is in its loop there. */
async function running(name: string) {
  const clusterId = await createCluster(client, estate, name);
  await startCluster(client, clusterId);
  const job = await GatedJob.describe(platform, client, clusterId, name);
  const runId = await job.submit();
  await job.inLoop();
  const { token } = await nodeOf(platform, clusterId);
  return { clusterId, job, runId, token };
}

async function lastSeen(clusterId: number): Promise<Date> {
  const [node] = await platform.sql<{ last_seen_at: Date }>(
    `SELECT last_seen_at FROM cluster_nodes WHERE cluster_id = $1 AND to_date = 'infinity'`,
    [clusterId],
  );
  if (!node) throw new Error('no node');
  return node.last_seen_at;
}

describe('a node whose agent or supervisor is killed', () => {
  it('continues its run: the agent is killed twice, then supervisor and agent', async () => {
    const { clusterId, job, runId, token } = await running('agent-killed');
    const driver = processesOfNode(platform, token).others;
    expect(driver.length).toBeGreaterThan(0);
    for (let time = 0; time < 2; time += 1) {
      const { supervisors, agents } = processesOfNode(platform, token);
      kill9(agents);
      await eventually(
        () => {
          const now = processesOfNode(platform, token);
          expect(now.supervisors).toEqual(supervisors);
          expect(now.agents).toHaveLength(1);
          expect(now.agents).not.toEqual(agents);
          return true;
        },
        { what: 'another agent under the same supervisor' },
      );
    }

    const killed = processesOfNode(platform, token);
    kill9([...killed.supervisors, ...killed.agents]);
    await eventually(
      () => {
        const { supervisors, agents } = processesOfNode(platform, token);
        expect([supervisors.length, agents.length]).toEqual([1, 1]);
        return true;
      },
      { timeoutMs: 180_000, what: 'a supervisor and an agent again' },
    );
    // The test waits first: the last heartbeat of the killed agent may be recorded a second after its death.
    const before = await lastSeen(clusterId);
    await eventually(async () => (await lastSeen(clusterId)) > before, {
      timeoutMs: 180_000,
      what: 'a sign of life of the revived node',
    });
    // The same driver still runs: none was ended or started.
    expect(processesOfNode(platform, token).others).toEqual(expect.arrayContaining(driver));

    job.open();
    expect(await job.ended(runId)).toMatchObject({ status: 'DONE', reasonCode: 'COMPLETED', exitCode: 0 });
    expect(job.starts()).toBe(1);
    await job.expectWholeLog(runId);
    const states = await historyOf(platform, 'run_states', 'run_id', runId);
    expect(states.map(({ status }) => status)).toEqual(['SUBMITTED', 'RUNNING', 'DONE']);
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });
});

describe('a node that is lost', () => {
  it('ends its run with NODE_LOST and, without a replacement, its cluster in ERROR, which can be destroyed', async () => {
    const { clusterId, job, runId, token } = await running('node-lost');
    const { supervisors, agents, others } = processesOfNode(platform, token);
    kill9([...supervisors, ...agents, ...others]);
    rmSync(nodeDirectory(platform, token), { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    expect(await job.ended(runId)).toMatchObject({
      status: 'TERMINATED',
      reasonCode: 'NODE_LOST',
      exitCode: null,
    });
    await eventually(async () => (await client.get('/cluster', { cluster_id: clusterId })).cluster_status === 'ERROR', {
      what: 'the cluster in ERROR',
    });
    expect(await stateReason(client, clusterId)).toMatch(/ Latest loss: Node 0 is lost: its machine has disappeared/);
    const states = await historyOf(platform, 'run_states', 'run_id', runId);
    expect(states.map(({ status }) => status)).toEqual(['SUBMITTED', 'RUNNING', 'TERMINATED']);
    await destroyCluster(client, clusterId);
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'ERROR', 'DESTROYING', 'DESTROYED'];
    await expectSound(platform, clusterId, { history, nodes: 0 });
    await expectNoStrayNodes(platform);
  });
});

describe('a machine that no cluster owns', () => {
  it('is destroyed', async () => {
    const { sparkVersion, sparkHome } = platform.runtime;
    const driver = new LocalDriver({
      dir: platform.localDir,
      sparks: {
        [sparkVersion]: { home: sparkHome, classArchive: null, connectors: null, scalaKernel: null, turbo: null },
      },
      sparkInstaller: null,
      javaHome: platform.runtime.javaHome,
      python: platform.runtime.python,
      confinement: { kind: 'none' },
      sharedDirs: [],
      agentApiUrl: platform.baseUrl,
      agentEntry: resolve(__dirname, '..', '..', 'dist', 'libs', 'node-agent', 'main.js'),
    });
    const token = randomUUID();
    await platform.stopWorker();
    const call = { endpoint: 'local://', credentials: {}, correlationId: 'test', signal: AbortSignal.timeout(240_000) };
    const [row] = await platform.sql<{ installation_id: string }>('SELECT installation_id FROM installation');
    const foreign = randomUUID();
    for (const [nodeToken, installationId] of [
      [token, row?.installation_id ?? ''],
      [foreign, randomUUID()],
    ] as const) {
      const plain = plainNodeSpec(nodeToken, platform.runtime.sparkVersion);
      const labels = { installationId, clusterId: '999999', tenantId: randomUUID(), nodeToken };
      await driver.provision({ ...plain, labels }, call);
      expect(existsSync(nodeDirectory(platform, nodeToken))).toBe(true);
    }
    await platform.startWorker();
    await eventually(() => !existsSync(nodeDirectory(platform, token)), {
      timeoutMs: 180_000,
      what: 'the end of the orphan',
    });
    expect(processesOfNode(platform, token)).toEqual({ supervisors: [], agents: [], others: [] });
    // This folder belongs to another installation that shares the machine.
    expect(existsSync(nodeDirectory(platform, foreign))).toBe(true);
    await driver.destroy({ nodeToken: foreign }, call);
  });
});

describe('an idle node', () => {
  it('stays with its cluster for longer than its lease', async () => {
    const longAfter = startedQuiet.getTime() + 2 * LEASE_MS;
    await eventually(async () => (await lastSeen(quiet)).getTime() > longAfter, {
      timeoutMs: 180_000,
      what: 'a sign of life after the lease',
    });
    await expectSound(platform, quiet, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
  });
});
