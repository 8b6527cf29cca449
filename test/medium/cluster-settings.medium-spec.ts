import type { DesiredRun, PollResponse } from '../../libs/contracts/agent-protocol';
import { IdleClustersRepository } from '../../src/modules/execution/clusters/scaling/idle-clusters.repository';
import { settingsOf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import { RunClusterUse } from '../../src/modules/execution/runs/jobs/run-cluster-use.repository';
import { KernelInstanceUse } from '../../src/modules/execution/notebooks/instances/kernel-instance-use.repository';
import { type Caller, People, refusal } from './harness/people';
import { makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

const MEMORY_MB = 16_384;

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends, and the worker.
describe('settings of a cluster with nodes', () => {
  const api = wholeApi({ BOOTSTRAP_TIMEOUT_MS: '5000' });
  const people = new People(api);
  let caller: Caller;
  let tenancy: Tenancy;
  let agent: TestAgent;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
    caller = await people.as(await people.user([['PLATFORM ADMIN', null]]), tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    await ofNode(`cores = 4, memory_mb = ${MEMORY_MB}`);
  });

  beforeEach(() => ofCluster(`status = 'RUNNING', spark_config = '{}', max_parallel_jobs = 5`));

  const ofNode = (values: string) =>
    api.database.query(`UPDATE cluster_nodes SET ${values} WHERE node_id = $1`, [agent.nodeId]);
  const ofCluster = (values: string) =>
    api.database.query(`UPDATE clusters SET ${values} WHERE cluster_id = $1`, [tenancy.clusterId]);
  const update = (body: object) => caller.call('PUT', `/cluster?cluster_id=${tenancy.clusterId}`, body);

  /** Assigns a run to the node and returns the part of it that the node receives. */
  async function nextRun(settings: object = {}): Promise<DesiredRun['spec']> {
    const id = await agent.assignRun(tenancy, settingsOf({ command: 'job.py', ...settings }));
    const found = (await agent.poll()).runs.find(({ run_id }) => run_id === String(id));
    if (!found) throw new Error(`The node was not told of run ${id}`);
    return found.spec;
  }
  const daemons = async (): Promise<PollResponse['daemons']> => (await agent.poll()).daemons;

  it('of Spark apply from the next run on', async () => {
    const before = await nextRun();
    expect(before).toMatchObject({ conf: [], env: {}, packages: [], jars: [], files: [], py_files: [], archives: [] });
    const repository = { name: 'maven', url: 'https://maven.example/m2/' };
    expect((await caller.call('POST', '/dependency-repository', repository)).status).toBe(200);
    const spark_config = {
      conf: ['spark.a 1'],
      packages: ['g:a:1'],
      repositories: [repository.url],
      jars: ['lib/a.jar'],
      archives: ['a.zip#env'],
      env_var: ['A=b'],
      files: ['a.txt'],
      'py-files': ['a.py'],
    };
    expect((await update({ spark_config })).status).toBe(201);
    const after = await nextRun({ conf: ['spark.b=2'] });
    expect(after).toMatchObject({
      ...{ conf: ['spark.a=1', 'spark.b=2'], packages: ['g:a:1'], repositories: [repository.url], env: { A: 'b' } },
      ...{ jars: [{ name: 'a.jar' }], archives: [{ name: 'a.zip', alias: 'env' }], files: [{ name: 'a.txt' }] },
      py_files: [{ name: 'a.py' }],
    });
    expect((await update({ spark_config: { conf: null, jars: ['lib/b.jar'] } })).status).toBe(201);
    expect(await nextRun()).toMatchObject({ conf: [], jars: [{ name: 'b.jar' }], env: { A: 'b' } });
  });

  it('name the secrets that runs get', async () => {
    const spark_config = { env_var_secret: { TOKEN: 'no-such-secret' }, conf_secret: { 'spark.my.key': 'nor-this' } };
    expect((await update({ spark_config })).status).toBe(201);
    expect((await nextRun()).secrets?.fault).toMatch(/no-such-secret/);
  });

  it('determine the default memory of a driver', async () => {
    expect((await nextRun()).driver_memory).toBe('3072m');
    await ofCluster('max_parallel_jobs = 3');
    expect((await nextRun()).driver_memory).toBe('5120m');
    expect((await update({ spark_config: { conf: ['spark.driver.memory 2g'] } })).status).toBe(201);
    expect((await nextRun()).driver_memory).toBe('2g');
    const query = `machine_memory=16&max_parallel_spark_job_execution_per_instance=3`;
    expect((await caller.call('GET', `/cluster/driver_memory?${query}`)).body.message).toContain('5 GB');
  });

  it('reserve memory for query acceleration', async () => {
    await ofNode(`role = 'master-and-workers'`);
    await ofCluster('num_of_workers = 2');
    const plain = (MEMORY_MB - 1024) / 2;
    expect(await daemons()).toMatchObject({ workers: 2, worker_cores: 2, worker_memory_mb: plain });
    await ofCluster('is_turbo_enabled = true');
    expect((await daemons()).worker_memory_mb).toBe((plain * 2) / 3);
    expect(await daemons()).not.toHaveProperty('gpus');
    await ofCluster('is_turbo_enabled = false, is_cuda_enabled = true');
    // A machine with four cores.
    await ofNode('machine_type_id = 143');
    expect(await daemons()).toMatchObject({ worker_memory_mb: plain, gpus: 4 });
    expect((await nextRun()).accelerator).toEqual({ kind: 'cuda', gpu_percent: 18 });
    await ofCluster('is_cuda_enabled = false, num_of_workers = NULL');
    await ofNode(`role = 'single'`);
    expect(await nextRun()).not.toHaveProperty('accelerator');
  });

  it('include the script of a node and its timeout', async () => {
    await ofCluster(`bootstrap_shell_script = 'echo hello'`);
    expect(await daemons()).toMatchObject({ bootstrap_script: 'echo hello', bootstrap_timeout_ms: 5000 });
  });

  it('that are durations apply from the next decision on', async () => {
    await api.database.query(`UPDATE runs SET ended_at = now(), status = 'DONE' WHERE ended_at IS NULL`);
    await ofCluster(`last_active_at = platform_now() - interval '90 seconds', idle_timeout_ms = 7200000`);
    const isIdle = () =>
      new IdleClustersRepository(new RunClusterUse(new KernelInstanceUse())).isIdle(
        autocommit(api.database.manager),
        tenancy.clusterId,
      );
    expect(await isIdle()).toBe(false);
    expect((await update({ idle_timeout_ms: 60_000, clean_up_timeout: 1 })).status).toBe(201);
    expect(await isIdle()).toBe(true);
    const sql = 'SELECT clean_up_timeout FROM clusters WHERE cluster_id = $1';
    expect(await api.database.query(sql, [tenancy.clusterId])).toEqual([{ clean_up_timeout: 1 }]);
  });

  it.each<[string, object]>([
    ['turbo', { is_turbo_enabled: true }],
    ['CUDA', { is_cuda_enabled: true }],
    ['the script of its nodes', { bootstrap_shell_script: 'true' }],
    ['parallel jobs', { engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 2 } }],
    ['labels', { labels: { a: 'b' } }],
    ['the scratch disk', { keep_scratch_disk: true }],
    ['a public address', { enable_public_ip: true }],
    ['keys of the project', { block_project_ssh_keys: false }],
    ['its identity', { cloud_identity: 'me' }],
    ['disks', { number_of_disks: 2 }],
  ])('cannot change while there are nodes: %s', async (_what, body) => {
    expect(refusal(await update(body))).toEqual([409, 'CLUSTER.INVALID_STATE']);
  });
});
