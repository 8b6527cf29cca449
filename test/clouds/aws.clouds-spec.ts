import { eventually } from '../harness/eventually';
import type { ApiClient } from '../e2e/harness/api-client';
import { destroyCluster, reachStatus, startCluster, stopCluster } from '../e2e/harness/estate';
import { GatedJob } from '../e2e/harness/gated-job';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest } from '../e2e/harness/platform';
import { historyOf } from '../e2e/harness/survival';
import { isLong } from '../harness/long';
import { type CloudEstate, describeCloud } from './harness/cloud-estate';
import { EC2_CREDENTIALS, EC2_IDS, EC2_IMAGE, Ec2Instances } from './harness/ec2-instances';
import { Ec2Proxy } from './harness/ec2-proxy';
import { MachineRoom } from './harness/machine-room';
import { layPreparedImage } from './harness/runtime-image';

const COUNT = `from pyspark import SparkContext
print("rows", SparkContext.getOrCreate().parallelize(range(1000), 1).count())
`;

// Real: API, worker, the driver, the AWS SDK, the boot script, agents, Spark. Stand-in: EC2, which is moto behind a proxy,
// with folders as machines, each with its own address.
describe('clusters on AWS', () => {
  let platform: PlatformUnderTest;
  let proxy: Ec2Proxy;
  let instances: Ec2Instances;
  let room: MachineRoom;
  let client: ApiClient;
  let desk: JobDesk;
  let described: CloudEstate;

  beforeAll(async () => {
    proxy = await Ec2Proxy.before(process.env.TEST_EC2_URL ?? '');
    platform = await PlatformUnderTest.start({ name: 'aws', env: { COMPUTE_EC2_ENDPOINT: proxy.url } });
    const [installation] = await platform.sql<{ installation_id: string }>('SELECT installation_id FROM installation');
    instances = new Ec2Instances(proxy.url, installation?.installation_id ?? '');
    const { sparkVersion } = platform.runtime;
    room = new MachineRoom({ list: () => instances.list(), image: (root) => layPreparedImage(root, sparkVersion) });
    room.open();
    client = await platform.admin();
    described = await describeCloud(client, sparkVersion, {
      ...{ name: 'aws', ...EC2_IDS, credentials: EC2_CREDENTIALS, cloudProject: 'account', image: EC2_IMAGE },
      network: { ...(await instances.subnet()), network_project_id: 'account', network_tags: [] },
      encrypted: true,
    });
    desk = await JobDesk.open(client, 'desk');
    await desk.upload('count.py', COUNT);
  });

  afterAll(async () => {
    await platform?.close();
    await room?.close();
    await proxy?.stop();
  });

  const createCluster = async (name: string, fields: object) => {
    const body = { name, ...described, is_spot_instance: false, enable_public_ip: false, ...fields };
    return Number((await client.post('/cluster', body)).cluster_id);
  };
  const states = async () => (await instances.list()).map(({ state }) => state);
  const counts = async (clusterId: number, name: string) => {
    const job = await desk.succeed(clusterId, name, { job_type: 'Python3', command: 'count.py' });
    expect(await desk.log(Number(job.job_id), 'stdout')).toContain('rows 1000');
  };

  it('start with three nodes, run a job, stop, start again with their disks, and leave nothing behind', async () => {
    const clusterId = await createCluster('three', { cluster_type: 'PLATFORM', min_instances: 3, max_instances: 3 });
    await startCluster(client, clusterId);
    expect(await states()).toEqual(['running', 'running', 'running']);
    await counts(clusterId, 'first');
    const before = (await instances.list()).map(({ id }) => id).sort();
    await stopCluster(client, clusterId);
    expect(await states()).toEqual(['stopped', 'stopped', 'stopped']);
    await startCluster(client, clusterId);
    expect((await instances.list()).map(({ id, boots }) => ({ id, boots }))).toEqual(
      expect.arrayContaining(before.map((id) => ({ id, boots: 2 }))),
    );
    await counts(clusterId, 'second');
    await destroyCluster(client, clusterId);
    expect(await states()).toEqual([]);
    expect(proxy.callsOf('RunInstances').length).toBe(3);
  });

  it('add a machine for waiting jobs, and remove it later', async () => {
    const sizes = { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 2, clean_up_timeout: 0 };
    const clusterId = await createCluster('breathes', {
      ...sizes,
      engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 1 },
    });
    await startCluster(client, clusterId);
    const job = await GatedJob.describe(platform, client, clusterId, 'breathes');
    const runs = [await job.submit(), await job.submit()];
    const busy = `SELECT DISTINCT node_id FROM runs WHERE cluster_id = $1 AND status = 'RUNNING'`;
    await eventually(async () => (await platform.sql(busy, [clusterId])).length === 2, {
      ...{ timeoutMs: 240_000, what: 'two jobs, each on its machine' },
    });
    expect(await states()).toEqual(['running', 'running']);
    job.open();
    for (const run of runs) expect(await job.ended(run)).toMatchObject({ status: 'DONE' });
    await eventually(async () => (await states()).length === 1, { timeoutMs: 180_000, what: 'one machine' });
    await reachStatus(client, clusterId, 'RUNNING');
    const history = (await historyOf(platform, 'cluster_states', 'cluster_id', clusterId)).map(({ status }) => status);
    expect(history).toEqual(['STOPPED', 'INITIATING', 'RUNNING', 'RESIZING_UP', 'RUNNING', 'RESIZING_DOWN', 'RUNNING']);
    await destroyCluster(client, clusterId);
    expect(await states()).toEqual([]);
  });

  const ofWorkers = async () => {
    const sizes = { cluster_type: 'CLUSTER', min_instances: 1, max_instances: 1 };
    const clusterId = await createCluster('workers', sizes);
    await startCluster(client, clusterId);
    expect(await states()).toEqual(['running', 'running']);
    await counts(clusterId, 'workers');
    await destroyCluster(client, clusterId);
    expect(await states()).toEqual([]);
  };
  if (isLong) it('of a master and a worker run a job, and leave nothing', ofWorkers);

  it('replace an interrupted spot machine', async () => {
    const fields = { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 1, is_spot_instance: true };
    const clusterId = await createCluster('spot', fields);
    await startCluster(client, clusterId);
    const [first] = await instances.list();
    await proxy.interrupt(first?.id ?? '');
    await eventually(
      async () => {
        const [now] = await instances.list();
        return now !== undefined && now.id !== first?.id;
      },
      { timeoutMs: 180_000, what: 'another machine' },
    );
    await reachStatus(client, clusterId, 'RUNNING');
    await counts(clusterId, 'afterwards');
    await destroyCluster(client, clusterId);
    expect(await states()).toEqual([]);
  });

  it('report why they do not start, with the message of EC2, and leave no machine behind', async () => {
    const clusterId = await createCluster('refused', { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 1 });
    const message = 'You have requested more vCPU capacity than your current vCPU limit of 0 allows.';
    proxy.fail('RunInstances', { status: 400, code: 'VcpuLimitExceeded', message });
    await client.post('/cluster/start', { cluster_id: clusterId });
    await expect(reachStatus(client, clusterId, 'RUNNING')).rejects.toThrow('vCPU limit of 0');
    expect(await states()).toEqual([]);
  });
});
