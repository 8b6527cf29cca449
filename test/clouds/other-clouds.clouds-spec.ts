import { destroyCluster, startCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest, readRuntime } from '../e2e/harness/platform';
import { isLong } from '../harness/long';
import { describeCloud } from './harness/cloud-estate';
import { azure, type Counterpart, google, oci, proxmox } from './harness/counterparts';
import { MachineRoom } from './harness/machine-room';
import { layPreparedImage } from './harness/runtime-image';
import { RuntimeMirror } from './harness/runtime-mirror';

const COUNT = `from pyspark import SparkContext
print("rows", SparkContext.getOrCreate().parallelize(range(1000), 1).count())
`;

const ALL: [string, () => Promise<Counterpart>][] = [
  ['Google Cloud', google],
  ['Azure', azure],
  ['Oracle Cloud', oci],
  ['Proxmox VE', proxmox],
];

// Real: API, worker, drivers, SDKs, the boot script, agents, Spark. Stand-ins: the clouds; their machines are folders.
describe('a cluster', () => {
  let counterpart: Counterpart;
  let platform: PlatformUnderTest | undefined;
  let room: MachineRoom | undefined;

  afterEach(async () => {
    await platform?.close();
    await room?.close();
    await counterpart.stop();
    [platform, room] = [undefined, undefined];
  });

  /** Starts a cluster with one node, runs a job, and destroys the cluster. */
  async function live(name: string, env: Record<string, string>, image: (root: string) => void): Promise<void> {
    platform = await PlatformUnderTest.create({ name });
    const all = { ...counterpart.env(platform.sharedDir), ...env };
    await platform.startApi(all);
    await platform.startWorker(all);
    const { sparkVersion } = platform.runtime;
    room = new MachineRoom({
      ...{ list: () => Promise.resolve(counterpart.list()), image },
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
    await desk.succeed(clusterId, 'count', { job_type: 'Python3', command: 'count.py' });
    await destroyCluster(client, clusterId);
    expect(counterpart.list()).toEqual([]);
  }

  it.each(isLong ? ALL : ALL.slice(0, 1))(
    'on %s starts, runs a job, and is destroyed with its machines',
    async (_name, start) => {
      counterpart = await start();
      const { sparkVersion } = readRuntime();
      await live(start.name, {}, (root) => layPreparedImage(root, sparkVersion));
    },
  );

  const ofMirror = async () => {
    counterpart = await google();
    const mirror = await RuntimeMirror.open();
    try {
      await live('mirror', mirror.env, () => undefined);
      expect(mirror.served.toSorted()).toEqual(mirror.paths.toSorted());
    } finally {
      await mirror.close();
    }
  };
  // Packing the archives of the mirror takes minutes.
  if (isLong) it('of machines that have nothing installs all from the mirror, by checksum', ofMirror, 900_000);
});
