import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAKE_AZURE, FakeAzure } from '../../libs/testing/fake-azure';
import { FakeGoogleCompute } from '../../libs/testing/fake-google-compute';
import { FakeOci } from '../../libs/testing/fake-oci';
import { destroyCluster, startCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest } from '../e2e/harness/platform';
import { isLong } from '../harness/long';
import { type CloudDescription, describeCloud } from './harness/cloud-estate';
import { MachineRoom, type RoomMachine } from './harness/machine-room';
import { layPreparedImage } from './harness/runtime-image';

/** What such credentials need besides, and nothing here uses. */
const GOOGLE_REST = {
  CLIENT_ID: '1',
  AUTH_URI: 'https://accounts.google.com/o/oauth2/auth',
  AUTH_PROVIDER_X509_CERT_URL: 'https://www.googleapis.com/oauth2/v1/certs',
  CLIENT_X509_CERT_URL: 'https://www.googleapis.com/robot/v1/metadata/x509/nodes',
};
const AZURE_REST = { STORAGE_ACCOUNT_NAME: 'account', CONTAINER_NAME: 'container' };

const COUNT = `from pyspark.sql import SparkSession
print("rows", SparkSession.builder.getOrCreate().range(1000).count())
`;

/** A counterpart that runs, and how clusters there are described. */
interface Counterpart {
  env(folder: string): Record<string, string>;
  cloud: Omit<CloudDescription, 'name'>;
  list(): RoomMachine[];
  scriptAtEachBoot?: boolean;
  stop(): Promise<void>;
}

async function google(): Promise<Counterpart> {
  const fake = await FakeGoogleCompute.start();
  return {
    env: () => ({ COMPUTE_GOOGLE_ENDPOINT: fake.url }),
    cloud: {
      ...{ providerId: 0, zoneId: 42, credentialTypeId: 0, cloudProject: fake.project },
      credentials: { ...fake.credentials, ...GOOGLE_REST },
      network: { network_project_id: 'host-project', network_name: 'shared', subnet: 'nodes', network_tags: [] },
      ...{ image: 'projects/images/global/images/spark', machineTypeId: 3, diskTypeId: 0 },
    },
    list: () => fake.machines(),
    scriptAtEachBoot: true,
    stop: () => fake.stop(),
  };
}

async function azure(): Promise<Counterpart> {
  const fake = await FakeAzure.start();
  const { networkGroup: network_project_id, network: network_name, subnet } = FAKE_AZURE;
  return {
    env(folder) {
      const file = join(folder, 'azure.pem');
      writeFileSync(file, fake.ca);
      return {
        COMPUTE_AZURE_ENDPOINT: fake.url,
        COMPUTE_AZURE_AUTHORITY: fake.url,
        NODE_EXTRA_CA_CERTS: file,
      };
    },
    cloud: {
      ...{ providerId: 2, zoneId: 125, credentialTypeId: 2, credentials: { ...FAKE_AZURE.credentials, ...AZURE_REST } },
      network: { network_project_id, network_name, subnet, network_tags: [] },
      ...{ cloudProject: FAKE_AZURE.group, image: FAKE_AZURE.image, machineTypeId: 200, diskTypeId: 7 },
    },
    list: () =>
      fake.machines().map(({ name: id, running, customData: userData }) => ({
        ...{ id, userData, boots: 1, state: running ? ('running' as const) : ('stopped' as const) },
      })),
    stop: () => fake.stop(),
  };
}

async function oci(): Promise<Counterpart> {
  const fake = await FakeOci.start();
  return {
    env: () => ({ COMPUTE_OCI_ENDPOINT: fake.url }),
    cloud: {
      ...{ providerId: 4, zoneId: 413, credentialTypeId: 4, credentials: fake.credentials },
      network: { network_name: 'workspace', subnet: 'nodes & more', network_tags: [] },
      ...{ image: fake.image, machineTypeId: 1000, diskTypeId: 14 },
    },
    list: () => fake.running().map((machine) => ({ ...machine, state: 'running', boots: 1 })),
    stop: () => fake.stop(),
  };
}

const ALL: [string, () => Promise<Counterpart>][] = [
  ['Google Cloud', google],
  ['Azure', azure],
  ['Oracle Cloud', oci],
];

// Real: API, worker, drivers, SDKs, the boot script, agents, Spark. Stand-ins: the clouds; their machines are folders.
describe.each(isLong ? ALL : ALL.slice(0, 1))('a cluster on %s', (_name, start) => {
  let counterpart: Counterpart;
  let platform: PlatformUnderTest | undefined;
  let room: MachineRoom | undefined;

  afterEach(async () => {
    await platform?.close();
    await room?.close();
    await counterpart.stop();
  });

  it('starts, runs a job, and is destroyed with its machines', async () => {
    counterpart = await start();
    const name = start.name;
    platform = await PlatformUnderTest.create({ name });
    const env = counterpart.env(platform.sharedDir);
    await platform.startApi(env);
    await platform.startWorker(env);
    const { sparkVersion } = platform.runtime;
    room = new MachineRoom({
      list: () => Promise.resolve(counterpart.list()),
      image: (root) => layPreparedImage(root, sparkVersion),
      ...(counterpart.scriptAtEachBoot ? { scriptAtEachBoot: true } : {}),
    });
    room.open();
    const client = await platform.admin();
    const estate = await describeCloud(client, sparkVersion, { name, ...counterpart.cloud });
    const desk = await JobDesk.open(client, 'desk');
    await desk.upload('count.py', COUNT);
    const one = { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 1 };
    const body = { name, ...estate, ...one, is_spot_instance: false, enable_public_ip: false };
    const clusterId = Number((await client.post('/cluster', body)).cluster_id);
    await startCluster(client, clusterId);
    expect(counterpart.list()).toHaveLength(1);
    const job = await desk.complete(clusterId, 'count', { job_type: 'Python3', command: 'count.py' });
    expect(job).toMatchObject({ job_status: 'DONE' });
    await destroyCluster(client, clusterId);
    expect(counterpart.list()).toEqual([]);
  });
});
