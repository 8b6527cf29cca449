import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { INSTALLATION_LABEL } from '../../libs/compute-drivers/cloud-driver';
import { eventually } from '../../libs/testing/eventually';
import type { ApiClient } from '../e2e/harness/api-client';
import { destroyCluster, reachStatus, startCluster, stopCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest } from '../e2e/harness/platform';
import { type CloudEstate, describeCloud } from './harness/cloud-estate';
import { Ec2Proxy } from './harness/ec2-proxy';
import { MachineRoom, type RoomMachine } from './harness/machine-room';
import { layPreparedImage } from './harness/runtime-image';

const US_EAST_1A = 303;
const M5_LARGE = 100;
const GP3 = 4;
const REGION = 'us-east-1';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret', AWS_DEFAULT_REGION: REGION };

const COUNT = `from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print("rows", spark.range(1000).count())
`;

/** Machines that EC2 has for an installation, with what they boot by. */
class Instances {
  private readonly client: EC2Client;
  private readonly userData = new Map<string, string>();
  private readonly lives = new Map<string, { state: string; boots: number }>();

  constructor(
    endpoint: string,
    private readonly installationId: string,
  ) {
    const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' };
    this.client = new EC2Client({ endpoint, region: REGION, credentials });
  }

  async list(): Promise<RoomMachine[]> {
    const filter = { Name: `tag:${INSTALLATION_LABEL}`, Values: [this.installationId] };
    const { Reservations = [] } = await this.client.send(new DescribeInstancesCommand({ Filters: [filter] }));
    const machines: RoomMachine[] = [];
    for (const { InstanceId: id = '', State } of Reservations.flatMap(({ Instances: found = [] }) => found)) {
      const state = State?.Name;
      if (state !== 'running' && state !== 'stopped') continue;
      const life = this.lives.get(id);
      const boots = (life?.boots ?? 0) + (state === 'running' && life?.state !== 'running' ? 1 : 0);
      this.lives.set(id, { state, boots });
      machines.push({ id, state, boots, userData: await this.userDataOf(id) });
    }
    return machines;
  }

  /** Names the usual subnets of the region alike, in every zone; answers their network and that name. */
  async subnetsInAllZones(proxy: Ec2Proxy): Promise<{ network_name: string; subnet: string }> {
    const subnet = `nodes-${process.pid}`;
    const { network_name } = await this.subnet();
    const Filters = [{ Name: 'default-for-az', Values: ['true'] }];
    const { Subnets = [] } = await this.client.send(new DescribeSubnetsCommand({ Filters }));
    for (const { SubnetId = '' } of Subnets)
      await proxy.ask({ Action: 'CreateTags', 'ResourceId.1': SubnetId, 'Tag.1.Key': 'Name', 'Tag.1.Value': subnet });
    return { network_name, subnet };
  }

  /** Zones of the machines that are there. */
  async zones(): Promise<(string | undefined)[]> {
    const filter = { Name: `tag:${INSTALLATION_LABEL}`, Values: [this.installationId] };
    const running = { Name: 'instance-state-name', Values: ['running'] };
    const { Reservations = [] } = await this.client.send(new DescribeInstancesCommand({ Filters: [filter, running] }));
    const all = Reservations.flatMap(({ Instances: found = [] }) => found);
    return all.map(({ Placement }) => Placement?.AvailabilityZone);
  }

  /** The usual subnet of the zone. */
  async subnet(): Promise<{ network_name: string; subnet: string }> {
    const filters = { 'default-for-az': 'true', 'availability-zone': 'us-east-1a' };
    const { Subnets: [found] = [] } = await this.client.send(
      new DescribeSubnetsCommand({
        Filters: Object.entries(filters).map(([Name, Value]) => ({ Name, Values: [Value] })),
      }),
    );
    return { network_name: found?.VpcId ?? '', subnet: found?.SubnetId ?? '' };
  }

  private async userDataOf(id: string): Promise<string> {
    const known = this.userData.get(id);
    if (known !== undefined) return known;
    const { UserData } = await this.client.send(
      new DescribeInstanceAttributeCommand({ InstanceId: id, Attribute: 'userData' }),
    );
    const text = Buffer.from(UserData?.Value ?? '', 'base64').toString();
    this.userData.set(id, text);
    return text;
  }
}

// Real: API, worker, the driver, the AWS SDK, the boot script, agents, Spark. Stand-in: EC2, which is moto behind a proxy;
// its machines are folders with an address each.
describe('clusters on AWS', () => {
  let platform: PlatformUnderTest;
  let proxy: Ec2Proxy;
  let instances: Instances;
  let room: MachineRoom;
  let client: ApiClient;
  let desk: JobDesk;
  let described: CloudEstate;
  let describeAt: (name: string, network: { network_name: string; subnet: string }) => Promise<CloudEstate>;

  beforeAll(async () => {
    proxy = await Ec2Proxy.before(process.env.TEST_EC2_URL ?? '');
    platform = await PlatformUnderTest.start({ name: 'aws', env: { COMPUTE_EC2_ENDPOINT: proxy.url } });
    const [installation] = await platform.sql<{ installation_id: string }>('SELECT installation_id FROM installation');
    instances = new Instances(proxy.url, installation?.installation_id ?? '');
    const { sparkVersion } = platform.runtime;
    room = new MachineRoom({ list: () => instances.list(), image: (root) => layPreparedImage(root, sparkVersion) });
    room.open();
    client = await platform.admin();
    describeAt = (name, network) =>
      describeCloud(client, sparkVersion, {
        ...{ name, providerId: 1, zoneId: US_EAST_1A, credentialTypeId: 1, credentials: CREDENTIALS },
        network: { ...network, network_project_id: 'account', network_tags: [] },
        ...{
          cloudProject: 'account',
          image: 'ami-03cf127a',
          machineTypeId: M5_LARGE,
          diskTypeId: GP3,
          encrypted: true,
        },
      });
    described = await describeAt('aws', await instances.subnet());
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
    const job = await desk.complete(clusterId, name, { job_type: 'Python3', command: 'count.py' });
    expect(job).toMatchObject({ job_status: 'DONE' });
    expect(await desk.log(Number(job.job_id), 'stdout')).toContain('rows 1000');
  };

  it('of three nodes start, run a job, stop, start again with their disks, and leave nothing', async () => {
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

  it('have another spot machine in place of one that is taken back', async () => {
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
      { timeoutMs: 90_000, what: 'another machine' },
    );
    await reachStatus(client, clusterId, 'RUNNING');
    await counts(clusterId, 'afterwards');
    await destroyCluster(client, clusterId);
    expect(await states()).toEqual([]);
  });

  it("are made in the next zone where the environment's has no room, and a spot cluster says that a stop destroys it", async () => {
    const estate = await describeAt('zones', await instances.subnetsInAllZones(proxy));
    const fields = { cluster_type: 'PLATFORM', min_instances: 2, max_instances: 2, is_spot_instance: true };
    const clusterId = await createCluster('zones', { ...fields, ...estate });
    const before = proxy.callsOf('RunInstances').length;
    const message = 'We currently do not have sufficient m5.large capacity in the Availability Zone (us-east-1a).';
    proxy.fail('RunInstances', { status: 500, code: 'InsufficientInstanceCapacity', message });
    await startCluster(client, clusterId);
    expect(await instances.zones()).toEqual(['us-east-1b', 'us-east-1b']);
    // One of the two has asked for both.
    expect(proxy.callsOf('RunInstances').length - before).toBe(3);
    expect(await client.get('/cluster', { cluster_id: clusterId })).toMatchObject({ stop_destroys_nodes: true });
    const stopping = await client.post('/cluster/stop', { cluster_id: clusterId });
    expect(stopping).toMatchObject({ CosiStop: { stop_destroys_nodes: true } });
    await reachStatus(client, clusterId, 'STOPPED');
    expect(await instances.zones()).toEqual([]);
    await destroyCluster(client, clusterId);
  });

  it('say that the region has no room, where the subnet is in one zone', async () => {
    const clusterId = await createCluster('full', { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 1 });
    const message = 'We currently do not have sufficient m5.large capacity.';
    proxy.fail('RunInstances', { status: 500, code: 'InsufficientInstanceCapacity', message });
    await client.post('/cluster/start', { cluster_id: clusterId });
    const words =
      /No machine m5\.large is to be had in the region us-east-1\. us-east-1a: InsufficientInstanceCapacity/;
    await expect(reachStatus(client, clusterId, 'RUNNING')).rejects.toThrow(words);
    expect(await states()).toEqual([]);
    await destroyCluster(client, clusterId);
  });

  it('say why they do not start, with the words of EC2, and leave no machine', async () => {
    const clusterId = await createCluster('refused', { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 1 });
    const message = 'You have requested more vCPU capacity than your current vCPU limit of 0 allows.';
    proxy.fail('RunInstances', { status: 400, code: 'VcpuLimitExceeded', message });
    await client.post('/cluster/start', { cluster_id: clusterId });
    await expect(reachStatus(client, clusterId, 'RUNNING')).rejects.toThrow(
      /does not allow a machine m5\.large in the region us-east-1\. VcpuLimitExceeded: .*vCPU limit of 0/,
    );
    expect(await states()).toEqual([]);
  });
});
