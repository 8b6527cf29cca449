import { decodeRecords, encodeRecords } from '../../libs/contracts/channel-records';
import type { RunState } from '../../libs/contracts/agent-protocol';
import { Config } from '../../src/config/config';
import { eventually } from '../harness/eventually';
import { NOTEBOOK_SETTINGS } from '../../src/modules/execution/notebooks/content/dto/notebook-conf.dto';
import { IdleClustersRepository } from '../../src/modules/execution/clusters/scaling/idle-clusters.repository';
import { RunClusterUse } from '../../src/modules/execution/runs/jobs/run-cluster-use.repository';
import { KernelInstanceUse } from '../../src/modules/execution/notebooks/instances/kernel-instance-use.repository';
import { IdleKernels } from '../../src/modules/execution/notebooks/instances/background/idle-kernels';
import { ENDED_KERNELS, KernelsRepository } from '../../src/modules/execution/notebooks/instances/kernels.repository';
import { NotebookInstancesService } from '../../src/modules/execution/notebooks/instances/notebook-instances.service';
import { LOGGER, type Logger } from '../../src/platform/kernel/logging/logger';
import { RetentionSweeper } from '../../src/platform/background/workflows/retention';
import { KernelTestClient as Client } from '../harness/kernel-client';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

interface KernelRequest {
  op: string;
  generation?: number;
  message?: { header: { msg_id: string; msg_type: string }; content: { code?: string } };
}

/** Waits until all expectations hold. */
const until = (expected: () => unknown) =>
  eventually(async () => {
    await expected();
    return true;
  });

// Real: the whole API and PostgreSQL. Left out: the agents and their kernels, which the test replaces.
describe('notebook instances', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenancy: Tenancy;
  let agent: TestAgent;
  let admin: Caller;
  let confId: number;
  let frames: Map<string, number>;
  const clients: Client[] = [];

  beforeEach(async () => {
    frames = new Map();
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    admin = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    confId = await notebookConf('explore');
  });

  afterEach(() => clients.splice(0).forEach(({ socket }) => socket.terminate()));

  async function notebookConf(name: string, values: object = {}): Promise<number> {
    const row = await insertPlain(api.database.manager, 'job_confs', {
      tenant_id: tenancy.tenantId,
      workspace_id: tenancy.workspaceId,
      cluster_id: tenancy.clusterId,
      name,
      kind: 'notebook',
      job_type: 'NOTEBOOK',
      language: 'Python3',
      max_concurrency: 0,
      settings: Object.fromEntries([...NOTEBOOK_SETTINGS, 'command'].map((key) => [key, null])),
      ...values,
    });
    return Number(row['job_conf_id']);
  }

  const base = () => `/workspace/${tenancy.workspaceId}`;
  const report = async (id: string, seq: number, state: RunState, more: object = {}) => {
    const nothing = { application_id: null, outcome: null, reason: null, message: null, exit_code: null, pid: 1 };
    const run = { run_id: id, seq, state, at: new Date().toISOString(), ...nothing, ...more };
    const daemons = { state: 'ready', master_url: null, error: null };
    expect((await agent.send('POST', '/report', { body: { daemons, runs: [run] } })).status).toBe(200);
  };

  /** Starts an instance and accepts it as its node. */
  async function started(by = admin): Promise<string> {
    const posted = by.call('POST', `${base()}/notebook`, { notebook_conf_id: confId });
    const run = await eventually(async () => {
      const { runs } = await agent.poll();
      const [found] = runs.filter(({ run_id }) => !frames.has(run_id));
      expect(found).toBeDefined();
      return found;
    });
    expect(run?.spec).toMatchObject({ kind: 'notebook', kernel: { language: 'python' } });
    const id = String(run?.run_id);
    frames.set(id, 0);
    await report(id, 1, 'accepted');
    expect(await posted).toMatchObject({ status: 200, body: { notebook_id: id } });
    // On a busy machine, the response may come before the instance runs, so its status is read again.
    const { body } = await by.call('GET', `${base()}/notebook/${id}`);
    expect(body).toMatchObject({ notebook_status: 'RUNNING' });
    return id;
  }

  /** Returns the next request for the node. */
  async function nextRequests(id: string, after = 0): Promise<KernelRequest[]> {
    const answer = await agent.send('GET', `/runs/${id}/requests?after=${after}&wait_ms=0`);
    return decodeRecords(Buffer.from(await answer.arrayBuffer())).map(
      ({ payload }) => JSON.parse(payload.toString()) as KernelRequest,
    );
  }

  async function sendFrames(id: string, ...said: (object | string)[]): Promise<void> {
    const first = (frames.get(id) ?? 0) + 1;
    const body = encodeRecords(
      said.map((one, at) => ({
        number: first + at,
        payload: Buffer.from(typeof one === 'string' ? one : JSON.stringify(one)),
      })),
    );
    expect((await agent.send('PUT', `/runs/${id}/frames`, { body })).status).toBe(200);
    frames.set(id, first + said.length - 1);
  }

  const kernel = (state: string, generation = 1, reason: string | null = null) => ({
    op: 'kernel',
    generation,
    state,
    reason,
  });
  const message = (msgType: string, parent: string, content: object) => ({
    op: 'message',
    generation: 1,
    message: { header: { msg_type: msgType }, msg_type: msgType, parent_header: { msg_id: parent }, content },
  });
  const printed = (parent: string, text: string) => message('stream', parent, { name: 'stdout', text });
  const replied = (parent: string) => message('execute_reply', parent, { status: 'ok', execution_count: 1 });

  const pathOf = (id: string, token: string) => `${base()}/notebook/${id}/kernel/ws/any_session/${token}`;
  async function connect(id: string, by = admin): Promise<Client> {
    const client = await Client.open(api.urlOf(pathOf(id, by.token)));
    clients.push(client);
    return client;
  }

  it('start, are found while they run, and stop', async () => {
    expect(await admin.call('GET', `${base()}/notebooks`)).toMatchObject({
      status: 404,
      body: { error_code: 'NOTEBOOK.NOT_FOUND' },
    });
    const id = await started();
    const found = await admin.call('GET', `${base()}/notebooks?notebook_status=RUNNING&isActive=true`);
    expect(found).toMatchObject({
      status: 200,
      body: { data: [{ notebook_id: Number(id), notebook_status: 'RUNNING' }] },
    });
    expect(await admin.call('GET', `${base()}/notebooks?isActive=false`)).toMatchObject({ status: 404 });
    expect(await admin.call('GET', `${base()}/notebooks/search?notebook_name=XPLO`)).toMatchObject({ status: 200 });
    expect(await admin.call('GET', `${base()}/notebook/${id}`)).toMatchObject({
      status: 200,
      body: {
        notebook_conf: { notebook_name: 'explore', notebook_type: 'python3' },
        kernel_info: { kernel_status: 'starting' },
      },
    });
    // A job it is not.
    expect(await admin.call('GET', `${base()}/spark/job/${id}`)).toMatchObject({ status: 404 });
    expect((await admin.call('GET', `${base()}/spark/jobs`)).body).toMatchObject({ data: [] });
    expect(await admin.call('POST', `${base()}/notebook/kill/${id}`)).toMatchObject({
      status: 201,
      body: { NotebookKill: { notebook_id: Number(id) } },
    });
    expect(await admin.call('POST', `${base()}/notebook/kill/${id}`)).toMatchObject({ status: 409 });
    await report(id, 2, 'ended', { outcome: 'stopped', reason: 'STOP_REQUESTED', message: 'stopped' });
    expect((await admin.call('GET', `${base()}/notebook/${id}`)).body).toMatchObject({
      notebook_status: 'STOPPED',
      kernel_info: { kernel_status: 'dead' },
    });
    const log = await admin.call('GET', `${base()}/notebook/${id}/log/stdout`);
    expect(log.status).toBe(200);
  });

  it('execute code of a client once, and send the output to all clients', async () => {
    const id = await started();
    const [one, two] = [await connect(id), await connect(id)];
    await sendFrames(id, kernel('starting'), kernel('idle'));
    one.execute('cell-1', 'print(1)');
    const [request] = await eventually(async () => {
      const found = await nextRequests(id);
      expect(found).toHaveLength(1);
      return found;
    });
    expect(request).toMatchObject({
      op: 'message',
      generation: 1,
      message: { header: { msg_id: 'cell-1' }, content: { code: 'print(1)', allow_stdin: false } },
    });
    one.execute('cell-1', 'print(1)');
    one.execute('cell-2', 'print(2)');
    // The messages of a socket are processed in order: once the next one has arrived, the repetition is done.
    await until(async () => expect(await nextRequests(id, 1)).toHaveLength(1));
    await sendFrames(id, printed('cell-1', '1\n'), replied('cell-1'), kernel('idle'));
    await until(() => [one, two].forEach((client) => expect(client.replies('cell-1')).toHaveLength(1)));
    expect(one.texts()).toEqual(['1\n']);
    expect(await nextRequests(id, 2)).toEqual([]);
    // A repeated request gets the kernel's reply again, and nothing is executed.
    one.execute('cell-1', 'print(1)');
    await until(() => expect(one.replies('cell-1')).toHaveLength(2));
    expect(one.replies('cell-1')[1]?.content).toMatchObject({ status: 'ok', execution_count: 1 });
    expect(await nextRequests(id, 2)).toEqual([]);
    one.execute('cell-1:again', 'print(1)');
    await until(async () => expect(await nextRequests(id, 2)).toHaveLength(1));
    expect(await admin.call('GET', `${base()}/notebook/${id}/kernel/status`)).toMatchObject({
      status: 200,
      body: { kernel_info: { kernel_status: 'idle', connections: 1 } },
    });
  });

  it('continue a session where its last socket stopped', async () => {
    const id = await started();
    const first = await connect(id);
    await sendFrames(id, printed('x', 'one'));
    await until(() => expect(first.texts()).toEqual(['one']));
    first.socket.close();
    await until(async () => {
      const [row] = await api.database.query('SELECT delivered, seen_at FROM kernel_clients WHERE run_id = $1', [id]);
      expect(row).toMatchObject({ delivered: 1, seen_at: null });
    });
    await sendFrames(id, printed('x', 'two'), 'not JSON', '{"op":"message"}', printed('x', 'three'));
    const second = await connect(id);
    await until(() => expect(second.texts()).toEqual(['two', 'three']));
    const somebodyElse = await people.admin(tenancy.tenantId);
    const other = await connect(id, somebodyElse);
    await sendFrames(id, printed('x', 'four'));
    await until(() => expect(other.texts()).toEqual(['four']));
  });

  it('start another kernel on request, and after their kernel died', async () => {
    const id = await started();
    const at = `${base()}/notebook/${id}/kernel`;
    await sendFrames(id, kernel('idle'));
    expect(await admin.call('POST', `${at}/restart`)).toMatchObject({
      status: 201,
      body: { kernel_info: { kernel_status: 'restarting' } },
    });
    // Status messages of the previous kernel are outdated.
    await sendFrames(id, kernel('dead', 1));
    expect((await admin.call('GET', `${at}/status`)).body).toMatchObject({
      kernel_info: { kernel_status: 'restarting' },
    });
    await sendFrames(id, kernel('dead', 2, 'out of memory'));
    expect((await admin.call('GET', `${at}/status`)).body).toMatchObject({
      kernel_info: { kernel_status: 'dead', reason: 'out of memory' },
    });
    expect(await admin.call('POST', `${at}/interrupt`)).toMatchObject({
      status: 409,
      body: { error_code: 'KERNEL.NOT_RUNNING' },
    });
    expect(await admin.call('POST', `${at}/startOrGetStatus`)).toMatchObject({
      status: 200,
      body: { kernel_info: { kernel_status: 'restarting' } },
    });
    await sendFrames(id, kernel('idle', 3));
    expect(await admin.call('POST', `${at}/interrupt`)).toMatchObject({ status: 201 });
    expect(await nextRequests(id)).toEqual([
      { op: 'restart', generation: 2 },
      { op: 'restart', generation: 3 },
      { op: 'interrupt' },
    ]);
    // The new kernel does not know the requests to the previous one.
    const client = await connect(id);
    client.execute('cell', '1');
    await until(async () => expect(await nextRequests(id, 3)).toHaveLength(1));
    await admin.call('POST', `${at}/restart`);
    client.execute('cell', '1');
    await until(async () => expect((await nextRequests(id, 4)).map(({ op }) => op)).toEqual(['restart', 'message']));
  });

  it('answer open requests themselves when they end', async () => {
    const id = await started();
    const client = await connect(id);
    client.execute('waits', '1');
    await until(async () => expect(await nextRequests(id)).toHaveLength(1));
    await sendFrames(id, printed('waits', 'last words'));
    await report(id, 2, 'ended', { outcome: 'error', reason: 'OUT_OF_MEMORY', message: 'memory' });
    await until(() => expect(client.code).toBe(1000));
    expect(client.texts()).toEqual(['last words']);
    expect(client.replies('waits')).toMatchObject([{ content: { status: 'aborted' } }]);
    await expect(connect(id)).rejects.toThrow('409');
  });

  it('need RUN, and their sockets a token', async () => {
    const id = await started();
    const viewer = await people.member(tenancy.tenantId);
    await admin.call('POST', `${base()}/user`, { user_id: viewer.userId, permission_id: 0 });
    await expect(connect(id, viewer)).rejects.toThrow('403');
    await expect(Client.open(api.urlOf(pathOf(id, 'nonsense')))).rejects.toThrow('401');
    const prepare = `${base()}/notebook/${id}/kernel/ws`;
    expect(await admin.call('GET', prepare)).toMatchObject({ status: 200, body: { notebook_id: id } });
    expect(await admin.call('GET', `${prepare}?any_session=${admin.token}`)).toMatchObject({ status: 200 });
    expect(await admin.call('GET', `${prepare}?any_session=${viewer.token}`)).toMatchObject({ status: 400 });
    expect(await admin.call('GET', `${prepare}?other=1`)).toMatchObject({ status: 400 });
    expect(await viewer.call('GET', prepare)).toMatchObject({ status: 403 });
  });

  it('are stopped when they have neither work nor a client', async () => {
    await api.database.query('UPDATE clusters SET max_parallel_jobs = 3 WHERE cluster_id = $1', [tenancy.clusterId]);
    const [idle, busy, watched] = [await started(), await started(), await started()];
    await sendFrames(idle, kernel('idle'));
    await sendFrames(busy, kernel('busy'));
    await sendFrames(watched, kernel('idle'));
    await connect(watched);
    await api.database.query(`UPDATE kernels SET last_activity = now() - interval '61 minutes'`);
    const [kernels, notebooks] = [KernelsRepository, NotebookInstancesService].map((type) =>
      api.app.get(type as never, { strict: false }),
    ) as [KernelsRepository, NotebookInstancesService];
    const worker = { kernelIdleMinutes: 60, reconcileMs: 1000 };
    await new IdleKernels({ worker } as never, kernels, notebooks).reconcile(new AbortController().signal);
    const { body } = await admin.call('GET', `${base()}/notebooks`);
    const states = (body.data as { notebook_id: number; notebook_status: string }[]).map((one) => [
      String(one.notebook_id),
      one.notebook_status,
    ]);
    expect(Object.fromEntries(states)).toEqual({ [idle]: 'STOPPING', [busy]: 'RUNNING', [watched]: 'RUNNING' });
  });

  it('keep their cluster from being idle while they start, work or have a client', async () => {
    await api.database.query(
      `UPDATE clusters SET last_active_at = now() - interval '3 hours', idle_timeout_ms = 3600000 WHERE cluster_id = $1`,
      [tenancy.clusterId],
    );
    const clusters = new IdleClustersRepository(new RunClusterUse(new KernelInstanceUse()));
    const isIdle = () => clusters.isIdle(autocommit(api.database.manager), tenancy.clusterId);
    expect(await isIdle()).toBe(true);
    const id = await started();
    const is = (kernelIs: string, status = 'RUNNING') =>
      api.database.query(
        `WITH kernel AS (UPDATE kernels SET ${kernelIs} WHERE run_id = $1) UPDATE runs SET status = $2 WHERE run_id = $1`,
        [id, status],
      );
    const quiet = `state = 'idle', last_activity = now() - interval '61 minutes'`;
    await is(`state = 'idle', last_activity = now() - interval '59 minutes'`);
    expect(await isIdle()).toBe(false);
    await is(quiet);
    expect(await isIdle()).toBe(true);
    await is(quiet, 'SUBMITTED');
    expect(await isIdle()).toBe(false);
    await is(quiet.replace('idle', 'busy'));
    expect(await isIdle()).toBe(false);
    await is(quiet);
    const client = await connect(id);
    expect(await isIdle()).toBe(false);
    client.socket.terminate();
    await until(async () => expect(await isIdle()).toBe(true));
    await api.database.query(`UPDATE runs SET kind = 'job' WHERE run_id = $1`, [id]);
    expect(await isIdle()).toBe(false);
  });

  it('keep nothing for clients long after their end', async () => {
    const ended = await started();
    const client = await connect(ended);
    client.execute('cell', '1');
    await until(async () => expect(await nextRequests(ended)).toHaveLength(1));
    await report(ended, 2, 'ended', { outcome: 'done', reason: 'COMPLETED', message: 'done' });
    await until(() => expect(client.code).toBe(1000));
    const { app, database } = api;
    const sweeper = new RetentionSweeper(ENDED_KERNELS, database, app.get(Config), app.get<Logger>(LOGGER));
    const sweep = () => sweeper.reconcile(new AbortController().signal);
    const kept = async () => {
      const [row] = await api.database.query<{ requests: number; clients: number }[]>(
        `SELECT (SELECT count(*)::int FROM kernel_requests WHERE run_id = $1) AS requests,
           (SELECT count(*)::int FROM kernel_clients WHERE run_id = $1) AS clients`,
        [ended],
      );
      return row;
    };
    await sweep();
    expect(await kept()).toEqual({ requests: 1, clients: 1 });
    await api.database.query(`UPDATE runs SET ended_at = ended_at - interval '2 hours' WHERE run_id = $1`, [ended]);
    await sweep();
    expect(await kept()).toEqual({ requests: 0, clients: 0 });
  });
});
