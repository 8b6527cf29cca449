import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { KernelTestClient } from '../harness/kernel-client';
import type { Answer, ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, type Estate, reachStatus, startCluster } from './harness/estate';
import { GatedJob } from './harness/gated-job';
import { code, NotebookDesk } from './harness/notebooks';
import { PlatformUnderTest } from './harness/platform';
import {
  endedWorkflow,
  expectNoStrayNodes,
  expectSound,
  historyOf,
  kill9,
  nodeOf,
  processesOfNode,
  QUICK_RECOVERY,
} from './harness/survival';

const CALLERS = 20;

let platform: PlatformUnderTest;
let client: ApiClient;
let estate: Estate;
let made = 0;

beforeAll(async () => {
  platform = await PlatformUnderTest.start({ name: 'survival-api', env: QUICK_RECOVERY });
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

async function newCluster(): Promise<number> {
  made += 1;
  return createCluster(client, estate, `cluster-${made}`);
}

async function statusInDatabase(clusterId: number): Promise<string | undefined> {
  const [row] = await platform.sql<{ status: string }>('SELECT status FROM clusters WHERE cluster_id = $1', [
    clusterId,
  ]);
  return row?.status;
}

describe('kill -9 of the API', () => {
  it('right after it has accepted a start: the worker executes it, a restarted API shows it', async () => {
    const clusterId = await newCluster();
    await client.post('/cluster/start', { cluster_id: clusterId });
    await platform.killApi();
    // Without the API no agent can register, so the start waits and does not fail.
    await eventually(async () => (await platform.sql('SELECT 1 FROM cluster_nodes')).length > 0, { what: 'a node' });
    await platform.startApi();
    await reachStatus(client, clusterId, 'RUNNING');
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
  });

  it('as soon as the start is committed, whether or not it was answered', async () => {
    const clusterId = await newCluster();
    const request = client.post('/cluster/start', { cluster_id: clusterId }).catch((error: unknown) => error);
    const begun = async () => (await statusInDatabase(clusterId)) !== 'STOPPED';
    await eventually(begun, { everyMs: 1, what: 'the commit' });
    await platform.killApi();
    await request;
    await platform.startApi();
    await reachStatus(client, clusterId, 'RUNNING');
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
  });

  it('in the middle of many requests: each is executed completely or not at all', async () => {
    const clusterIds = await Promise.all(Array.from({ length: 6 }, () => newCluster()));
    const requests = clusterIds.map((id) => client.post('/cluster/start', { cluster_id: id }).catch(() => null));
    const anyBegun = async () =>
      (await Promise.all(clusterIds.map(statusInDatabase))).some((status) => status !== 'STOPPED');
    await eventually(anyBegun, { everyMs: 1, what: 'the first commit' });
    await platform.killApi();
    const answered = (await Promise.all(requests)).map((answer) => answer !== null);
    await platform.startApi();
    for (const [index, clusterId] of clusterIds.entries()) {
      const begun = (await statusInDatabase(clusterId)) !== 'STOPPED';
      // Requests with a response are committed; the others may be.
      if (answered[index]) expect(begun).toBe(true);
      if (begun) await reachStatus(client, clusterId, 'RUNNING');
      const history = begun ? ['STOPPED', 'INITIATING', 'RUNNING'] : ['STOPPED'];
      await expectSound(platform, clusterId, { history, nodes: begun ? 1 : 0 });
    }
    await expectNoStrayNodes(platform);
    await Promise.all(clusterIds.map((id) => client.post('/cluster/destroy', { cluster_id: id })));
    await Promise.all(clusterIds.map((id) => reachStatus(client, id, 'DESTROYED')));
  });

  it('after a job was submitted to a stopped cluster, and again while it runs: one run that ends DONE', async () => {
    const clusterId = await newCluster();
    const job = await GatedJob.describe(platform, client, clusterId, 'api-killed');
    const runId = await job.submit();
    await platform.killApi();
    await platform.startApi();
    await job.inLoop();
    await platform.killApi();
    // The run continues without the API, and ends during its absence.
    job.open();
    const { token } = await nodeOf(platform, clusterId);
    await eventually(() => processesOfNode(platform, token).others.length === 0, {
      timeoutMs: 180_000,
      what: 'the end of the driver',
    });
    await platform.startApi();
    expect(await job.ended(runId)).toMatchObject({ status: 'DONE', reasonCode: 'COMPLETED', exitCode: 0 });
    expect(job.starts()).toBe(1);
    await job.expectWholeLog(runId);
    await historyOf(platform, 'run_states', 'run_id', runId);
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
  });
});

describe('the same operation from many callers at once', () => {
  it(`start, stop and destroy are each accepted once of ${CALLERS} times`, async () => {
    const clusterId = await newCluster();
    const history = ['STOPPED'];
    for (const [operation, begin, end] of [
      ['start', 'INITIATING', 'RUNNING'],
      ['stop', 'STOPPING', 'STOPPED'],
      ['destroy', 'DESTROYING', 'DESTROYED'],
    ] as const) {
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, () =>
          client.request('POST', `/cluster/${operation}`, { json: { cluster_id: clusterId } }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) expectStateError(answer);
      await reachStatus(client, clusterId, end);
      expect((await endedWorkflow(platform, clusterId)).state).toBe('DONE');
      history.push(begin, end);
      await expectSound(platform, clusterId, { history, nodes: operation === 'destroy' ? 0 : 1 });
    }
    const workflows = await platform.sql('SELECT 1 FROM workflow_jobs WHERE cluster_id = $1', [clusterId]);
    expect(workflows).toHaveLength(3);
    const nodes = await platform.sql('SELECT 1 FROM cluster_nodes WHERE cluster_id = $1', [clusterId]);
    expect(nodes).toHaveLength(1);
  });

  it('start and destroy against each other leave one of the two', async () => {
    const clusterId = await newCluster();
    const [start, destroy] = await Promise.all([
      client.request('POST', '/cluster/start', { json: { cluster_id: clusterId } }),
      client.request('POST', '/cluster/destroy', { json: { cluster_id: clusterId } }),
    ]);
    expect([start.status, destroy.status].filter((status) => status === 200)).toHaveLength(1);
    await reachStatus(client, clusterId, start.status === 200 ? 'RUNNING' : 'DESTROYED');
    expectStateError(start.status === 200 ? destroy : start);
  });
});

function expectStateError(answer: Answer<Json>): void {
  expect([400, 409]).toContain(answer.status);
  expect(answer.body.error_code).toBe('CLUSTER.INVALID_STATE');
}

describe('a run request repeated with one Idempotency-Key', () => {
  it('creates one run and returns the same response each time', async () => {
    const clusterId = await newCluster();
    const job = await GatedJob.describe(platform, client, clusterId, 'repeated');
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = (json: object) => client.request('POST', job.path, { json, headers });
    const made = async () => (await platform.sql('SELECT 1 FROM runs WHERE job_conf_id = $1', [job.jobConfId])).length;
    // Without a worker the run stays in SUBMITTED.
    await platform.stopWorker();
    try {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(job.body)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(new Set([...answers, await send(job.body)].map(({ text }) => text)).size).toBe(1);
      expect(await made()).toBe(1);
      const starts = await platform.sql(
        `SELECT 1 FROM workflow_jobs j JOIN workflow_job_instances i USING (workflow_job_id)
         WHERE j.cluster_id = $1 AND i.job_name = 'cluster.start'`,
        [clusterId],
      );
      expect(starts).toHaveLength(1);

      (await send({ ...job.body, arguments: 'other' })).expectError(409, 'REQUEST.IDEMPOTENCY_MISMATCH');
      const elsewhere = await client.request('POST', '/cluster/start', { json: { cluster_id: clusterId }, headers });
      expect(elsewhere.body.error_code).toBe('REQUEST.IDEMPOTENCY_MISMATCH');
      expect(await made()).toBe(1);
      const runId = Number(answers[0]?.body.job_id);
      await client.post(`${job.path}/kill/${runId}`, undefined, 201);
      expect((await job.ended(runId)).status).toBe('STOPPED');
    } finally {
      await platform.startWorker();
    }
    await reachStatus(client, clusterId, 'RUNNING');
    expect(job.starts()).toBe(0);
  });

  it('holds beyond a kill -9 of the API', async () => {
    const clusterId = await newCluster();
    const headers = { 'Idempotency-Key': randomUUID() };
    const json = { cluster_id: clusterId };
    const first = await client.request('POST', '/cluster/start', { json, headers });
    await platform.killApi();
    await platform.startApi();
    const again = await client.request('POST', '/cluster/start', { json, headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
    await reachStatus(client, clusterId, 'RUNNING');
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
  });
});

describe('a notebook', () => {
  it('loses and repeats nothing when the API and then the agent die during a cell', async () => {
    const clusterId = await newCluster();
    await startCluster(client, clusterId);
    const desk = await NotebookDesk.open(client, clusterId, 'notebooks');
    const gate = join(platform.sharedDir, 'over');
    const text = `import os, time
n = 0
while not os.path.exists(${JSON.stringify(gate)}):
    print("n", n, flush=True)
    n += 1
    time.sleep(0.1)
print("over", n)`;
    const conf = await desk.describe('survives', 'python3', [code('one', text)]);
    const id = await desk.start(conf);
    const first = await desk.connect(id);
    const printed = (by: KernelTestClient, more: number) => {
      const before = by.texts('one').length;
      return eventually(() => Promise.resolve(by.texts('one').length >= before + more), { timeoutMs: 180_000 });
    };
    first.execute('one', text);
    await printed(first, 4);
    await platform.killApi();
    await platform.startApi();
    const again = await desk.connect(id);
    // This repeats a request that the kernel already has.
    again.execute('one', text);
    await printed(again, 4);
    const { token } = await nodeOf(platform, clusterId);
    const { agents } = processesOfNode(platform, token);
    kill9(agents);
    await eventually(() => Promise.resolve(processesOfNode(platform, token).agents.length === 1));
    expect(processesOfNode(platform, token).agents).not.toEqual(agents);
    await printed(again, 4);
    writeFileSync(gate, '');
    expect((await again.replied('one')).content.status).toBe('ok');
    const [output, ...others] = await desk.outputsOf(conf, 'one');
    const lines = output?.Celloutput.split('\n').slice(0, -1) ?? [];
    const count = lines.length - 1;
    expect(lines).toEqual([...Array.from({ length: count }, (_, n) => `n ${n}`), `over ${count}`]);
    expect(others).toEqual([]);
    const seen = [...first.texts('one'), ...again.texts('one')].join('');
    for (const line of lines) expect(seen).toContain(`${line}\n`);
    expect(again.replies('one')).toHaveLength(1);
    await client.post(`${desk.path}/notebook/kill/${id}`, {}, 201);
    await desk.ended(id);
    desk.disconnect();
  });
});
