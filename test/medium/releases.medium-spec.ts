import { createHash } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import {
  AGENT_BASE_PATH,
  type PollResponse,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  type RegisterResponse,
  type ReportRequest,
} from '../../libs/contracts/agent-protocol';
import { ALWAYS } from '../harness/invariants.cjs';
import type { Config } from '../../src/config/config';
import { createDataSource } from '../../src/database/data-source';
import { CLUSTER_WORKFLOWS } from '../../src/modules/execution/clusters/lifecycle/cluster-workflows';
import { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { DestroyClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/destroy-cluster.workflow';
import { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { StartClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/start-cluster.workflow';
import { StopClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/stop-cluster.workflow';
import { ThisWorker } from '../../src/platform/background/workers/this-worker';
import { WorkflowRunner } from '../../src/platform/background/workflows/workflow-runner';
import { WorkerModule } from '../../src/worker.module';
import { lacking, type RecordedExchange, type RecordedRelease, recordedReleases } from '../harness/recorded-releases';
import { type Caller, People } from './harness/people';
import { ScriptedProvider } from './harness/scripted-provider';
import { configure, createEmptyDatabase, prepare, TestApi, type TestDatabase } from './harness/test-api';

/** The parts of a replayed request that differ from the recorded one. */
interface Sent {
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

const BOOTSTRAP_TOKEN = 'bootstrap';

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

// Real: the whole API, the workflows of the worker and PostgreSQL with the rows and the agent's requests of a release.
// Left out: the provider and the processes of the node.
describe.each(recordedReleases().map((release) => [release.name, release] as const))(
  'a cluster of %s',
  (_name, release) => {
    let database: TestDatabase;
    let api: TestApi;
    let worker: INestApplicationContext;
    let admin: Caller;
    let nodeId: number;
    /** The token of the node. */
    let token: string;
    let instance = 0;

    beforeAll(async () => {
      database = await createEmptyDatabase();
      const config = configure(database.url);
      await restore(config, release);
      await prepare(config);
      api = await TestApi.startWhole(config);
      worker = await NestFactory.createApplicationContext(WorkerModule, { logger: false, abortOnError: false });
      const provider = new ScriptedProvider();
      const withDriver: ClusterSnapshots['withDriver'] = (_facts, _caller, use) => use(provider as never, {} as never);
      worker.get(ClusterSnapshots).withDriver = withDriver;
      worker.get(Drivers).isolateTenants = () => true;
      worker.get(ThisWorker).setId(1);
      const [node] = await sql<{ node_id: number; tenant_id: string }>(
        'SELECT node_id, tenant_id FROM cluster_nodes WHERE cluster_id = $1',
        release.clusterId,
      );
      nodeId = node!.node_id;
      token = `${nodeId}.recorded`;
      await sql(
        `UPDATE cluster_nodes SET node_token_hash = $2, bootstrap_token_hash = $3, bootstrap_expires_at = NULL,
           last_seen_at = now() WHERE node_id = $1`,
        ...[nodeId, hashOf(token), hashOf(BOOTSTRAP_TOKEN)],
      );
      const people = new People(api);
      admin = await people.admin(node!.tenant_id);
    });

    afterAll(async () => {
      await worker?.close();
      await api?.stop();
      await database?.drop();
    });

    const sql = async <T>(statement: string, ...parameters: unknown[]): Promise<T[]> =>
      api.database.query<T[]>(statement, parameters);

    /** Sends the recorded request of the agent, and expects at least the recorded response. */
    async function replay(
      exchange: RecordedExchange,
      { path = exchange.path, body = exchange.body, headers = {} }: Partial<Sent> = {},
    ): Promise<unknown> {
      const { method, type, answer } = exchange;
      const bearer = exchange.token === 'bootstrap' ? BOOTSTRAP_TOKEN : token;
      const response = await fetch(new URL(`${AGENT_BASE_PATH}${path}`, await api.app.getUrl()), {
        method,
        headers: { authorization: `Bearer ${bearer}`, ...(type === null ? {} : { 'content-type': type }), ...headers },
        ...(method === 'GET' ? {} : { body: type === 'application/json' ? JSON.stringify(body) : bytesOf(body) }),
      });
      const answered = {
        call: `${method} ${path}`,
        status: response.status,
        type: response.headers.get('content-type'),
      };
      expect(answered).toEqual({ call: `${method} ${path}`, status: answer.status, type: answer.type });
      if (!answer.type?.startsWith('application/json')) return Buffer.from(await response.arrayBuffer());
      const present: unknown = await response.json();
      expect({ ...answered, lacking: lacking(answer.body, present) }).toEqual({ ...answered, lacking: [] });
      return present;
    }

    const ofPath = (path: RegExp) => release.exchanges.filter((exchange) => path.test(exchange.path));

    async function poll(more: object = {}, headers: Record<string, string> = {}): Promise<PollResponse> {
      // A response with a run has the most fields.
      const recorded = ofPath(/^\/poll/).find(({ answer }) => (answer.body as PollResponse).runs.length > 0)!;
      const body = { ...(recorded.body as object), version: 0, wait_ms: 0, ...more };
      return (await replay(recorded, { body, headers })) as PollResponse;
    }

    /** Replays all requests of the agent about one of its runs, for another run of the kind. */
    async function replayRun(recordedId: string, runId: string, stop: () => Promise<void>): Promise<void> {
      const { runs } = await poll();
      const [told] = runs;
      expect(told?.run_id).toBe(runId);
      for (const exchange of release.exchanges) {
        const report = exchange.path === '/report' ? (exchange.body as ReportRequest) : null;
        if (report?.runs.some(({ run_id }) => run_id === recordedId)) {
          if (report.runs.some(({ state }) => state === 'stopping')) await stop();
          const ofRun = report.runs.map((one) => ({ ...one, run_id: runId }));
          await replay(exchange, { body: { ...report, runs: ofRun } });
        } else if (exchange.path.startsWith(`/runs/${recordedId}/`)) {
          const path = exchange.path
            .replace(`/runs/${recordedId}/`, `/runs/${runId}/`)
            .replace(/wait_ms=\d+/, 'wait_ms=0');
          const [, index] = /files\/(\d+)/.exec(path) ?? [];
          const files = [told!.spec.application, told!.spec.function?.project, ...told!.spec.files];
          const key = files.find((file) => file?.index === Number(index))?.key;
          await replay(exchange, { path: path.replace(/key=.*/, `key=${encodeURIComponent(key ?? '')}`) });
        }
      }
    }

    const cluster = async () => (await admin.call('GET', `/cluster?cluster_id=${release.clusterId}`)).body;

    async function operate(operation: 'start' | 'stop' | 'destroy'): Promise<void> {
      const { status } = await admin.call('POST', `/cluster/${operation}`, { cluster_id: release.clusterId });
      expect(status).toBe(200);
      instance = (await cluster()).workflow_job_instance_details.workflow_job_instance_status.workflow_job_instance_id;
      await goOn(operation);
    }

    async function goOn(operation: 'start' | 'stop' | 'destroy'): Promise<void> {
      const classes = { start: StartClusterWorkflow, stop: StopClusterWorkflow, destroy: DestroyClusterWorkflow };
      const workflow = worker.get<StartClusterWorkflow | StopClusterWorkflow | DestroyClusterWorkflow>(
        classes[operation],
      );
      await worker.get(WorkflowRunner).continue(CLUSTER_WORKFLOWS[operation], instance, workflow);
    }

    async function upload(path: string, text: string): Promise<void> {
      const answer = await fetch(api.urlOf(`/workspace/files?workspace_id=1&overwrite=true&path=${path}`), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${admin.token}`,
          'content-type': 'application/octet-stream',
          'x-file-size': String(Buffer.byteLength(text)),
        },
        body: text,
      });
      expect([answer.status, path]).toEqual([200, path]);
    }

    async function submit(name: string): Promise<string> {
      const { status, body } = await admin.call('POST', '/workspace/1/spark/job', { job_conf_name: name });
      expect([status, body]).toEqual([200, expect.objectContaining({ job_status: 'SUBMITTED' })]);
      return String(body.job_id);
    }

    const job = async (id: string) => (await admin.call('GET', `/workspace/1/spark/job/${id}`)).body;
    const confs = () =>
      sql<{ name: string; language: string }>(`SELECT name, language FROM job_confs WHERE kind = 'job'`);

    it('lets its agents register again', async () => {
      const [registration] = ofPath(/^\/register/);
      token = ((await replay(registration!)) as RegisterResponse).node_token;
      await poll();
    });

    it('continues to run unchanged', async () => {
      expect(await cluster()).toMatchObject({ cluster_status: 'RUNNING', nodes: [{ node_status: 'RUNNING' }] });
      expect(await poll()).toMatchObject({ daemons: { role: 'single' }, runs: [] });
      const { body } = await admin.call('GET', `/cluster/status?cluster_id=${release.clusterId}`);
      expect(body.data[0]).toMatchObject({ cluster_status: 'RUNNING', step: null, end_time: 'infinity' });
    });

    it('may have agents of a newer release, whose version is stored', async () => {
      const version = async () =>
        (await sql<{ protocol_version: number | null }>('SELECT protocol_version FROM cluster_nodes'))[0]
          ?.protocol_version;
      expect(await version()).toBeNull();
      const headers = { [PROTOCOL_HEADER]: String(PROTOCOL_VERSION + 1) };
      await poll({ unheard: { of: ['things'] } }, headers);
      expect(await version()).toBe(PROTOCOL_VERSION + 1);
      const ready = ofPath(/^\/report/).find(({ body }) => (body as ReportRequest).daemons.state === 'ready')!;
      const { daemons, runs } = ready.body as ReportRequest;
      await replay(ready, { body: { daemons: { ...daemons, unheard: 1 }, runs, unheard: {} }, headers });
      await poll();
      expect(await version()).toBeNull();
    });

    it('gets a run, which its agent completes', async () => {
      await upload('demo/machine_types.py', 'print(1)');
      await upload('demo/machine-types.jsonl', '{}');
      const { name } = (await confs()).find(({ language }) => language === 'Python3')!;
      const id = await submit(name);
      await replayRun('1', id, () => Promise.resolve());
      expect(await job(id)).toMatchObject({ job_status: 'DONE' });
    });

    it('serves a function, which is stopped', async () => {
      await upload('demo-function/serve.py', 'def serve(request): return 1');
      const { name } = (await confs()).find(({ language }) => language.endsWith('_FUNCTIONS'))!;
      const id = await submit(name);
      await replayRun('3', id, async () => {
        expect((await admin.call('POST', `/workspace/1/spark/job/kill/${id}`)).status).toBe(201);
      });
      expect(await job(id)).toMatchObject({ job_status: 'STOPPED' });
    });

    it('is stopped, started and destroyed', async () => {
      await operate('stop');
      expect(await cluster()).toMatchObject({ cluster_status: 'STOPPED', nodes: [{ node_status: 'STOPPED' }] });
      const refused = await fetch(new URL(`${AGENT_BASE_PATH}/poll`, await api.app.getUrl()), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ version: 0, wait_ms: 0 }),
      });
      expect(refused.status).toBe(410);
      await operate('start');
      expect((await cluster()).cluster_status).toBe('INITIATING');
      for (const exchange of ofPath(/^\/report/).filter(({ body }) => (body as ReportRequest).runs.length === 0))
        await replay(exchange);
      await goOn('start');
      expect(await cluster()).toMatchObject({ cluster_status: 'RUNNING', nodes: [{ node_status: 'RUNNING' }] });
      await operate('destroy');
      expect(await cluster()).toMatchObject({ cluster_status: 'DESTROYED', nodes: [] });
    });

    it('has histories without gaps, and is billed for its runtime', async () => {
      for (const { name, sql: query } of ALWAYS)
        expect([name, await sql(query, release.clusterId)]).toEqual([name, []]);
      const states = await sql<{ status: string; step: string | null }>(
        `SELECT status, step FROM cluster_states WHERE cluster_id = $1 AND step IS NOT NULL ORDER BY sequence`,
        release.clusterId,
      );
      expect(states.map(({ status, step }) => [status, step])).toEqual([
        ['STOPPED', 'mark-stopped'],
        ['RUNNING', 'mark-running'],
        ['DESTROYED', 'mark-destroyed'],
      ]);
    });
  },
);

/** Restores the database as the release left it. */
async function restore(config: Config, { migration, rows }: RecordedRelease): Promise<void> {
  const dataSource = await createDataSource(config.database, 'test').initialize();
  try {
    const time = (name: string) => Number(name.slice(-13));
    const { migrations } = dataSource;
    const earlier = migrations.filter(({ name, constructor }) => time(name ?? constructor.name) <= time(migration));
    migrations.splice(0, migrations.length, ...earlier);
    await dataSource.runMigrations();
    await dataSource.transaction(async (tx) => {
      // Some rows refer to reference data, which the API writes only when it starts.
      await tx.query('SET LOCAL session_replication_role = replica');
      for (const { table, row } of rows)
        await tx.query(
          `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::${table}, $1)`,
          [JSON.stringify(row)],
        );
      await tx.query(`SELECT setval(pg_get_serial_sequence(c.table_name, c.column_name), 1000)
        FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.is_identity = 'YES'`);
    });
  } finally {
    await dataSource.destroy();
  }
}

/** Returns the recorded bytes, or as many others if only their number was recorded. */
function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body, 'base64');
  return Buffer.alloc(body === null ? 0 : (body as { bytes: number }).bytes, 'x');
}
