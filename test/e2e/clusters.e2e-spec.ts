import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import { bodyOf } from '../samples';
import type { ApiClient, Json } from './harness/api-client';
import {
  clusterBody,
  createCluster,
  describeEstate,
  destroyCluster,
  type Estate,
  reachStatus,
  startCluster,
  stateReason,
  stopCluster,
} from './harness/estate';
import { clientOf, createTenant, createUser } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const ABSENT = 999_999_999;

let platform: SharedPlatform;
let admin: ApiClient;
let estate: Estate;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'clusters');
  admin = await platform.admin();
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

const create = (name: string, fields: object = {}) => createCluster(admin, estate, name, fields);
const get = (id: number): Promise<Json> => admin.get('/cluster', { cluster_id: id });
const post = (operation: string, id: number) =>
  admin.request('POST', `/cluster/${operation}`, { json: { cluster_id: id } });
const put = (operation: string, id: number) =>
  admin.request('PUT', `/cluster/${operation}`, { json: { cluster_id: id } });

/** Returns the command lines of the running processes of all nodes. */
async function commands(): Promise<string[]> {
  return (await platform.nodeProcesses()).map(({ pid, command }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return command;
    }
  });
}

/** Only the daemons themselves; the command lines of their sandboxes end with theirs. */
async function daemons(): Promise<{ masters: number; workers: number }> {
  const running = (await commands()).filter((command) => /^\S+\/java /.test(command));
  const count = (main: string) =>
    running.filter((command) => command.includes(`org.apache.spark.deploy.${main}`)).length;
  return { masters: count('master.Master'), workers: count('worker.Worker') };
}

async function expectNothingLeft(): Promise<void> {
  expect(await platform.nodeProcesses()).toEqual([]);
  expect(await platform.nodeFolders()).toEqual([]);
}

/** Returns the whole history and checks that it is newest first and without gaps. */
async function history(
  path: '/cluster/status' | '/cluster/node/events',
  query: Record<string, number>,
): Promise<Json[]> {
  const { data } = await admin.get(path, { ...query, limit: 1000 });
  expect(data[0].end_time).toBe('infinity');
  for (let at = 1; at < data.length; at += 1) expect(data[at].end_time).toBe(data[at - 1].start_time);
  return data;
}

const statuses = async (id: number) =>
  (await history('/cluster/status', { cluster_id: id })).map((state) => state.cluster_status).reverse();

async function expectRefused(answer: ReturnType<typeof post>, status: number, code: string, ...words: string[]) {
  const { body } = (await answer).expectError(status, code);
  for (const word of words) expect(body.error_message).toContain(word);
}

describe('a PLATFORM cluster', () => {
  it('begins as STOPPED, starts, stops, starts again and is destroyed without a trace', async () => {
    const id = await create('cycle', { description: 'round and round' });
    const resting = await get(id);
    expect(resting).toMatchObject({
      cluster_status: 'STOPPED',
      cluster_type: 'PLATFORM',
      nodes: [],
      instance_size: 0,
      to_date: 'infinity',
    });
    await expectNothingLeft();

    const started = await admin.post('/cluster/start', { cluster_name: 'cycle' });
    expect(started.CosiStart.engine_cluster_instance_id).toBe(id);
    const running = await reachStatus(admin, id, 'RUNNING');
    expect(running).toMatchObject({ instance_size: 1, nodes: [{ node_number: 0, node_status: 'RUNNING' }] });
    expect(running.total_ycu).toBeGreaterThan(0);
    expect(running.workflow_job_instance_details.workflow_job_instance_status).toMatchObject({
      workflow_job_instance_id: started.CosiStart.workflow_job_instance_id,
    });
    expect((await platform.nodeProcesses()).length).toBeGreaterThan(0);
    expect(await platform.nodeFolders()).toHaveLength(1);
    // A PLATFORM node has no Spark daemons: each job starts its own Spark.
    expect(await daemons()).toEqual({ masters: 0, workers: 0 });

    const stopped = await stopCluster(admin, id);
    expect(stopped.nodes).toMatchObject([{ node_number: 0, node_status: 'STOPPED' }]);
    expect(await platform.nodeProcesses()).toEqual([]);
    expect(await platform.nodeFolders()).toHaveLength(1);

    const again = await startCluster(admin, id);
    expect(again.nodes).toHaveLength(1);
    expect(await platform.nodeFolders()).toHaveLength(1);

    const destroyed = await destroyCluster(admin, id);
    expect(destroyed).toMatchObject({ nodes: [], instance_size: 0 });
    await expectNothingLeft();

    expect(await statuses(id)).toEqual([
      'STOPPED',
      'INITIATING',
      'RUNNING',
      'STOPPING',
      'STOPPED',
      'INITIATING',
      'RUNNING',
      'DESTROYING',
      'DESTROYED',
    ]);
    const states = await history('/cluster/status', { cluster_id: id });
    for (const state of states) expect(state.reason).toMatch(/\w{3}/);
    expect(states.at(-1)).toMatchObject({ reason: 'Created', created_by: platform.username, current_node_size: 0 });
    expect(states.map((state) => state.current_node_size).reverse()).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 0]);
    const nodes = await history('/cluster/node/events', { cluster_id: id, node_number: 0 });
    expect(nodes.map((state) => state.node_status).reverse()).toEqual([
      'INITIATING',
      'RUNNING',
      'STOPPING',
      'STOPPED',
      'INITIATING',
      'RUNNING',
      'DESTROYING',
      'DESTROYED',
    ]);
    expect((await admin.get('/cluster/node/events', { cluster_id: id, node_number: 5 })).data).toEqual([]);
    const page = await admin.get('/cluster/status', { cluster_name: 'cycle', limit: 2, pageNumber: 2 });
    expect(page.data.map((state: Json) => state.cluster_status)).toEqual(['INITIATING', 'RUNNING'].reverse());
    expect(page.result_set).toMatchObject({ total_objects: 9, total_pages: 5, next_page: 3 });
  });

  it('refuses operations that its state does not allow', async () => {
    const gate = join(platform.sharedDir, 'gate');
    const bootstrap_shell_script = `while [ ! -e '${gate}' ]; do sleep 0.05; done`;
    const id = await create('stubborn', { bootstrap_shell_script });
    const restricted = () =>
      admin.request('PUT', '/cluster', { query: { cluster_id: id }, json: { enable_public_ip: true } });
    const refused = 'CLUSTER.INVALID_STATE';

    await expectRefused(post('stop', id), 400, refused, '"stubborn"', 'STOPPED', 'RUNNING');
    await expectRefused(put('disable', id), 409, refused, 'STOPPED', 'DESTROYED');
    await expectRefused(put('enable', id), 409, refused, 'enabled');
    await expectRefused(restricted(), 409, refused, 'enable_public_ip', 'STOPPED');

    await admin.post('/cluster/start', { cluster_id: id });
    for (const operation of ['start', 'stop', 'destroy'])
      await expectRefused(post(operation, id), 400, refused, 'INITIATING');
    await expectRefused(put('disable', id), 409, refused, 'INITIATING');
    await expectRefused(restricted(), 409, refused, 'INITIATING');
    writeFileSync(gate, '');
    await reachStatus(admin, id, 'RUNNING');

    await expectRefused(post('start', id), 400, refused, 'RUNNING');
    await expectRefused(put('disable', id), 409, refused, 'RUNNING');
    await expectRefused(put('enable', id), 409, refused, 'enabled');
    await expectRefused(restricted(), 409, refused, 'RUNNING');

    await destroyCluster(admin, id);
    for (const operation of ['start', 'stop', 'destroy'])
      await expectRefused(post(operation, id), 400, refused, 'DESTROYED');
    await expectRefused(put('enable', id), 409, refused, 'enabled');

    expect((await put('disable', id)).status).toBe(201);
    expect((await get(id)).to_date).not.toBe('infinity');
    await expectRefused(put('disable', id), 409, 'CLUSTER.DISABLED');
    for (const operation of ['start', 'stop', 'destroy']) expect((await post(operation, id)).status).toBe(400);
    const of = async (enable: boolean) =>
      (await admin.get('/clusters', { enable })).data.map((cluster: Json) => cluster.cluster_id);
    expect(await of(true)).not.toContain(id);
    expect(await of(false)).toEqual([id]);

    expect((await put('enable', id)).body).toMatchObject({ cluster_id: String(id), to_date: null });
    expect(await get(id)).toMatchObject({ cluster_status: 'STOPPED', nodes: [], to_date: 'infinity' });
    await startCluster(admin, id);
    await destroyCluster(admin, id);
    await expectNothingLeft();
  });

  it('can be changed if its state allows it', async () => {
    const id = await create('changing');
    const query = { cluster_id: id };
    const always = {
      name: 'changed',
      description: 'anew',
      idle_timeout_ms: 60_000,
      clean_up_timeout: 5,
      spark_config: { conf: ['spark.sql.shuffle.partitions 2'], env_var: ['A=b=c'] },
    };
    const written = await admin.put('/cluster', always, 201, { query });
    expect(written).toMatchObject({
      cluster_id: String(id),
      name: 'changed',
      idle_timeout_ms: '60000',
      clean_up_timeout: '5',
    });
    expect(await get(id)).toMatchObject({ ...always, spark_config: always.spark_config });
    await admin.put('/cluster', { spark_config: { conf: null } }, 201, { query });
    expect((await get(id)).spark_config).toMatchObject({ conf: null, env_var: ['A=b=c'] });
    await admin.expectError('PUT', '/cluster', { query, json: {} }, 400, 'REQUEST.EMPTY_UPDATE');
    const type = await admin.expectError(
      'PUT',
      '/cluster',
      { query, json: { cluster_type: 'CLUSTER' } },
      400,
      'REQUEST.INVALID',
    );
    expect(type.error_message).toContain('cluster_type');
    for (const json of [
      { min_instances: 2 },
      { bootstrap_shell_script: 'true' },
      { labels: {} },
      { cloud_env_id: estate.cloudEnvId },
    ]) {
      await admin.expectError('PUT', '/cluster', { query, json }, 409, 'CLUSTER.INVALID_STATE');
    }
    await admin.post('/cluster/destroy', query);
    await reachStatus(admin, id, 'DESTROYED');
    const anywhere = { min_instances: 2, max_instances: 3, bootstrap_shell_script: 'true', labels: { team: 'data' } };
    await admin.put('/cluster', anywhere, 201, { query });
    const read = await get(id);
    expect(read).toMatchObject({ min_instances: 2, max_instances: 3, bootstrap_shell_script: 'true' });
    expect(read.labels).toMatchObject({ team: 'data' });
    await admin.expectError('PUT', '/cluster', { query, json: { min_instances: 4 } }, 400, 'CLUSTER.INSTANCES_INVALID');
    await admin.expectError('PUT', '/cluster', { query, json: { cloud_env_id: ABSENT } }, 404, 'CLOUD_ENV.NOT_FOUND');
    await admin.put('/cluster/disable', query);
    await admin.put('/cluster/enable', query);
    const running = await startCluster(admin, id);
    expect(running.nodes).toHaveLength(2);
    expect(await platform.nodeFolders()).toHaveLength(2);
    await destroyCluster(admin, id);
    await expectNothingLeft();
  });
});

describe('a cluster with a Spark master', () => {
  it.each([
    ['STANDALONE', 'standalone', {}, 1],
    ['CLUSTER', 'master-and-worker', { min_instances: null, max_instances: null }, 2],
  ])('of type %s has its daemons while it runs, and only then', async (cluster_type, name, fields, size) => {
    const id = await create(name, { cluster_type, ...fields });
    const running = await startCluster(admin, id);
    expect(running.nodes).toHaveLength(size);
    expect(await platform.nodeFolders()).toHaveLength(size);
    expect(await daemons()).toEqual({ masters: 1, workers: 1 });

    for (const { node_status_id } of running.nodes) {
      const query = { cluster_id: id, node_status_id };
      // The daemon logs the address that it listens on a moment after it starts.
      const whole = await eventually(
        async () => {
          const text = await admin.text('/cluster/log/stderr', query);
          return /Master|Worker/.test(text) && text.trimEnd().includes('\n') ? text : null;
        },
        { what: 'a log line of Spark' },
      );
      const head = await admin.request('GET', '/cluster/log/stderr', { query: { ...query, file_size_bytes: 20 } });
      expect(head.text).toBe(whole.slice(0, 20));
      expect(head.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(head.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"]+"$/);
      const tail = await admin.text('/cluster/log/stderr', { ...query, last_n_lines: 2 });
      expect(tail.trimEnd().split('\n')).toHaveLength(2);
      const known = await admin.text('/cluster/log/stderr', query);
      expect(known.startsWith(whole)).toBe(true);
    }

    await stopCluster(admin, id);
    expect(await platform.nodeProcesses()).toEqual([]);
    expect(await platform.nodeFolders()).toHaveLength(size);
    await startCluster(admin, id);
    expect(await daemons()).toEqual({ masters: 1, workers: 1 });
    await destroyCluster(admin, id);
    await expectNothingLeft();
  });
});

describe('node logs', () => {
  it('are selected by a state of a node of the cluster', async () => {
    const id = await create('logged');
    const other = await create('unlogged');
    const { nodes } = await startCluster(admin, id);
    const { node_status_id } = nodes[0];
    const refuses = (path: string, query: Record<string, number | string | undefined>, status: number, code: string) =>
      admin.expectError('GET', path, { query }, status, code);
    await refuses('/cluster/log/events', { cluster_id: id, node_status_id }, 400, 'REQUEST.INVALID');
    await refuses('/cluster/log/stdout', { cluster_id: id }, 400, 'REQUEST.INVALID');
    await refuses('/cluster/log/stdout', { node_status_id }, 400, 'REQUEST.SELECTOR_MISSING');
    await refuses('/cluster/log/stdout', { cluster_id: other, node_status_id }, 404, 'NODE_STATE.NOT_FOUND');
    for (const part of [{ last_n_lines: 0 }, { last_n_lines: 1001 }, { file_size_bytes: 0 }, { bytes: 1 }]) {
      await refuses('/cluster/log/stdout', { cluster_id: id, node_status_id, ...part }, 400, 'REQUEST.INVALID');
    }
    await refuses(`/cluster/${other}/errors`, { node_status_id }, 404, 'NODE_STATE.NOT_FOUND');
    expect((await admin.get(`/cluster/${id}/errors`, { node_status_id })).data).toEqual([]);
    await destroyCluster(admin, id);
    await destroyCluster(admin, other);
  });
});

describe('a start that fails', () => {
  it('because of its bootstrap script says so with the output, and leaves nothing', async () => {
    const bootstrap_shell_script = 'echo preparing\necho "no such package: frobnicate" >&2\nexit 7\n';
    const id = await create('broken', { bootstrap_shell_script });
    await admin.post('/cluster/start', { cluster_id: id });
    const failed = await reachStatus(admin, id, 'ERROR');
    expect(failed.nodes).toEqual([]);
    await expectNothingLeft();
    const reason = await stateReason(admin, id);
    expect(reason).toContain('frobnicate');
    expect(reason).toMatch(/\b7\b/);
    expect(reason).toMatch(/bootstrap/i);
    const events = await history('/cluster/node/events', { cluster_id: id });
    const error = events.find((event) => event.node_status === 'ERROR');
    expect(error?.reason).toContain('frobnicate');
    const query = { cluster_id: id, node_status_id: error?.node_status_id };
    const errors = await admin.get(`/cluster/${id}/errors`, { node_status_id: error?.node_status_id });
    expect(JSON.stringify(errors.data)).toContain('frobnicate');
    // The node is gone, but its log is kept.
    const log = (await admin.text('/cluster/log/stdout', query)) + (await admin.text('/cluster/log/stderr', query));
    expect(log).toContain('preparing');
    expect(log).toContain('no such package: frobnicate');
    await expectRefused(post('start', id), 400, 'CLUSTER.INVALID_STATE', 'ERROR');
    await admin.put('/cluster', { bootstrap_shell_script: null }, 201, { query: { cluster_id: id } });
    await destroyCluster(admin, id);
    await admin.put('/cluster/disable', { cluster_id: id });
    await admin.put('/cluster/enable', { cluster_id: id });
    await startCluster(admin, id);
    await destroyCluster(admin, id);
    await expectNothingLeft();
  });

  it('keeps its nodes with keep_scratch_disk', async () => {
    const id = await create('kept', { bootstrap_shell_script: 'exit 3', keep_scratch_disk: true });
    await admin.post('/cluster/start', { cluster_id: id });
    const failed = await reachStatus(admin, id, 'ERROR');
    expect(failed.nodes).toHaveLength(1);
    expect(await platform.nodeProcesses()).toEqual([]);
    expect(await platform.nodeFolders()).toHaveLength(1);
    await destroyCluster(admin, id);
    await expectNothingLeft();
  });

  it('because of a missing Spark names its version', async () => {
    const versions = await admin.get('/lookup_spark_infra_version');
    const version = versions.find(
      (row: Json) => row.spark_version !== platform.runtime.sparkVersion && row.spark_version.startsWith('3.'),
    );
    const json = clusterBody(estate, 'outdated', { spark_infra_version_id: version.spark_infra_version_id });
    await admin.expectError('POST', '/cluster', { json }, 400, 'CLUSTER.SPARK_NOT_INSTALLED');
    // An upgrade may remove a Spark version later.
    const id = await create('outdated');
    const change = 'UPDATE clusters SET spark_infra_version_id = $2 WHERE cluster_id = $1';
    await platform.sql(change, [id, version.spark_infra_version_id]);
    await admin.post('/cluster/start', { cluster_id: id });
    await reachStatus(admin, id, 'ERROR');
    const reason = await stateReason(admin, id);
    expect(reason).toContain(`Spark ${version.spark_version}`);
    expect(reason).toContain(platform.runtime.sparkVersion);
    await expectNothingLeft();
    await destroyCluster(admin, id);
  });
});

describe('the resources of a cluster', () => {
  it('cannot be removed while a cluster may use them', async () => {
    const own = await describeEstate(admin, platform.runtime.sparkVersion, 'own');
    const { volume_conf_id } = await admin.post('/machine/volume', { name: 'own', ...bodyOf('volume_conf') });
    await admin.put('/cluster/conf', { volume_conf_id: Number(volume_conf_id) }, 201, {
      query: { cluster_conf_id: own.clusterConfId },
    });
    const id = await createCluster(admin, own, 'owner');
    const records = [
      ['/machine/volume', { volume_conf_id }, { size: 30 }],
      ['/cluster/cloud/environment', { cloud_env_id: own.cloudEnvId }, { description: 'moved' }],
    ] as const;
    for (const [path, query, json] of records) {
      const update = await admin.expectError('PUT', path, { query, json }, 409, 'RECORD.IN_USE');
      const removal = await admin.expectError('DELETE', path, { query }, 400, 'RECORD.IN_USE');
      for (const { error_message, details } of [update, removal]) {
        expect(error_message).toContain('"owner"');
        expect(details).toMatchObject({ clusters: [{ cluster_id: id, name: 'owner', status: 'STOPPED' }] });
      }
    }
    const conf = { query: { cluster_conf_id: own.clusterConfId } };
    await admin.expectError('DELETE', '/cluster/conf', conf, 400, 'RECORD.IN_USE');
    await destroyCluster(admin, id);
    for (const [path, query, json] of records) await admin.put(path, json, 201, { query });
    expect((await get(id)).machine_volume_config.size).toBe(30);
    await admin.expectError('DELETE', '/cluster/conf', conf, 400, 'RECORD.IN_USE');
  });

  it('must fit together', async () => {
    const refuses = (fields: object, status: number, code: string) =>
      admin.expectError('POST', '/cluster', { json: clusterBody(estate, 'unfit', fields) }, status, code);
    const workers = (num_of_workers: number) => ({ engine_cluster_spark_config: { num_of_workers } });
    await refuses({ min_instances: undefined }, 400, 'CLUSTER.INSTANCES_REQUIRED');
    await refuses({ min_instances: 2 }, 400, 'CLUSTER.INSTANCES_INVALID');
    await refuses({ max_instances: 31 }, 400, 'REQUEST.INVALID');
    await refuses({ min_instances: 0 }, 400, 'REQUEST.INVALID');
    await refuses({ cluster_type: 'STANDALONE', ...workers(0) }, 400, 'REQUEST.INVALID');
    await refuses({ cluster_type: 'HADOOP' }, 400, 'REQUEST.INVALID');
    await refuses({ is_spot_instance: undefined }, 400, 'REQUEST.INVALID');
    await refuses({ is_spot_instance: true }, 400, 'CLUSTER.SPOT_UNSUPPORTED');
    const cuda = await refuses({ is_cuda_enabled: true }, 400, 'CLUSTER.ACCELERATOR_UNSUPPORTED');
    expect(cuda.error_message).toMatch(
      /^Spark infra version \S+ does not support CUDA\. Versions that do: v3\.2\.2-20\.$/,
    );
    await refuses({ size: 20 }, 400, 'CLUSTER.DISK_TYPE_REQUIRED');
    await refuses({ cloud_env_id: ABSENT }, 404, 'CLOUD_ENV.NOT_FOUND');
    await refuses({ cluster_conf_id: ABSENT }, 404, 'CLUSTER_CONF.NOT_FOUND');
    await refuses({ spark_infra_version_id: ABSENT }, 404, 'SPARK_INFRA_VERSION.NOT_FOUND');
    await refuses({ object_storage_manager_id: 1 }, 404, 'OBJECT_STORAGE_MANAGER.NOT_FOUND');
    await refuses({ spark_config: { conf: ['nonsense'] } }, 400, 'CLUSTER.INVALID_SPARK_CONF');
    await refuses({ spark_config: { env_var: ['1A=b'] } }, 400, 'CLUSTER.INVALID_ENV_VAR');
    const unknown = await refuses({ spark_config: { heat: ['x'] } }, 400, 'REQUEST.INVALID');
    expect(unknown.error_message).toContain('heat');
    await refuses({ spark_config: { conf_secret: { 'spark.x': 1 } } }, 400, 'CLUSTER.INVALID_CONF_SECRET');
    const labels = Object.fromEntries(Array.from({ length: 26 }, (_, index) => [`l${index}`, 'x']));
    await refuses({ labels }, 400, 'CLUSTER.TOO_MANY_LABELS');
    const { cluster_conf_id } = await admin.post('/cluster/conf', { name: 'gcp', machine_type_id: 3 });
    await refuses({ cluster_conf_id: Number(cluster_conf_id) }, 400, 'CLUSTER.PROVIDER_MISMATCH');
    expect((await admin.get('/clusters/search', { cluster_name: 'unfit' })).data).toEqual([]);
  });
});

describe('clusters', () => {
  it('are listed by their attributes', async () => {
    const first = await create('list-a');
    const second = await create('list-b', {
      cluster_type: 'STANDALONE',
      engine_cluster_spark_config: { num_of_workers: 1 },
    });
    const ids = async (query: Record<string, string | number | boolean | string[]>) =>
      (await admin.get('/clusters/search', { cluster_name: 'LIST-', ...query })).data.map(
        (cluster: Json) => cluster.cluster_id,
      );
    expect(await ids({})).toEqual([second, first]);
    expect(await ids({ cluster_types: 'standalone' })).toEqual([second]);
    expect(await ids({ cluster_types: ['PLATFORM', 'STANDALONE'], limit: 1, pageNumber: 2 })).toEqual([first]);
    expect(await ids({ cluster_status: 'RUNNING,STOPPED' })).toEqual([second, first]);
    expect(await ids({ cluster_status: 'RUNNING' })).toEqual([]);
    expect(
      await ids({ cluster_conf_id: estate.clusterConfId, cloud_providers: 'Proxmox', machine_type_ids: '1486,3' }),
    ).toEqual([second, first]);
    expect(await ids({ cluster_conf_name: 'local', enable: true })).toEqual([second, first]);
    expect(await ids({ cloud_providers: 'AWS' })).toEqual([]);
    await admin.expectError('GET', '/clusters', { query: { cluster_status: 'ASLEEP' } }, 400, 'REQUEST.INVALID');
    await admin.expectError('POST', '/cluster', { json: clusterBody(estate, 'list-a') }, 409, 'RECORD.DUPLICATE_NAME');
    expect(await admin.get('/cluster/stats', { cluster_id: first })).toEqual({
      SUBMITTED: 0,
      RUNNING: 0,
      DONE: 0,
      ERROR: 0,
      TERMINATED: 0,
      STOPPING: 0,
      STOPPED: 0,
      TOTAL_JOB_COUNT: 0,
    });
    const memory = { machine_memory: 16, max_parallel_spark_job_execution_per_instance: 4 };
    expect((await admin.get('/cluster/driver_memory', memory)).message).toContain('3840 MB');
  });

  it('require the role, and are visible only in their tenant', async () => {
    const id = await create('private');
    const { tenant_id } = await admin.get('/user/info');
    await createUser(platform, 'worker-bee', 'USER', [tenant_id]);
    const user = await clientOf(platform, 'worker-bee');
    expect((await user.get('/cluster', { cluster_id: id })).name).toBe('private');
    await user.expectError('POST', '/cluster', { json: clusterBody(estate, 'mine') }, 403, 'AUTH.ROLE_REQUIRED');
    for (const operation of ['start', 'stop', 'destroy']) {
      await user.expectError('POST', `/cluster/${operation}`, { json: { cluster_id: id } }, 403, 'AUTH.ROLE_REQUIRED');
    }
    await createUser(platform, 'neighbour', 'ADMIN', [await createTenant(platform, 'next-door')]);
    const neighbour = await clientOf(platform, 'neighbour');
    for (const path of ['/cluster', '/cluster/status', '/cluster/node/events', '/cluster/stats']) {
      await neighbour.expectError('GET', path, { query: { cluster_id: id } }, 404, 'CLUSTER.NOT_FOUND');
    }
    for (const operation of ['start', 'stop', 'destroy']) {
      await neighbour.expectError(
        'POST',
        `/cluster/${operation}`,
        { json: { cluster_id: id } },
        404,
        'CLUSTER.NOT_FOUND',
      );
    }
    await neighbour.expectError(
      'PUT',
      '/cluster',
      { query: { cluster_id: id }, json: { name: 'taken' } },
      404,
      'CLUSTER.NOT_FOUND',
    );
    expect((await neighbour.get('/clusters')).data).toEqual([]);
    const foreignEstate = clusterBody(estate, 'borrowed');
    await neighbour.expectError('POST', '/cluster', { json: foreignEstate }, 404, 'CLOUD_ENV.NOT_FOUND');
    await admin.expectError('POST', '/cluster/start', { json: {} }, 400, 'REQUEST.SELECTOR_MISSING');
    await admin.expectError('POST', '/cluster/start', {}, 400, 'REQUEST.SELECTOR_MISSING');
    await admin.expectError(
      'POST',
      '/cluster/start',
      { json: { cluster_id: id, force: true } },
      400,
      'REQUEST.INVALID',
    );
    await admin.expectError(
      'POST',
      '/cluster/start',
      { json: { cluster_id: id, cluster_name: 'else' } },
      404,
      'CLUSTER.NOT_FOUND',
    );
  });
});
