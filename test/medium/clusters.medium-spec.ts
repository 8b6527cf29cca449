import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { randomUUID } from 'node:crypto';
import { BillingModule } from '../../src/modules/execution/billing/billing.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { RunsModule } from '../../src/modules/execution/runs/runs.module';
import type { NodeSpec } from '../../libs/compute-drivers/compute-driver';
import type { Config } from '../../src/config/config';
import { BootstrapTokens } from '../../src/modules/execution/clusters/nodes/bootstrap-tokens';
import type { CredentialsConfsService } from '../../src/modules/infrastructure/environments/credentials/credentials-confs.service';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterRowsRepository } from '../../src/modules/execution/clusters/model/cluster-rows.repository';
import type { ClusterNode } from '../../src/modules/execution/clusters';
import { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import type { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { CREDENTIAL_TYPE_ID, ReferenceData } from '../../src/modules/foundation/reference-data/reference-data';
import { Installation } from '../../src/platform/kernel/installation/installation';
import { encodedCredentials } from '../samples/sample';
import { DISK, Estate, type Parts, PROVIDER } from './harness/estate';
import { People, refusal } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import type { ClusterStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { apiOf, type TestAnswer } from './harness/test-api';

/** Ids of the reference data. */
const ST1 = 12;
const AWS_ZONE = 303;
const M5_LARGE = 100;
const SPARK_353 = 5;
const SPARK_359 = 6;

// Real: the whole API and PostgreSQL. Left out: the worker, so SQL sets the state of clusters.
describe('clusters', () => {
  const api = apiOf([IamModule, EnvironmentsApiModule, ClustersApiModule, RunsModule, BillingModule]);
  const people = new People(api);
  let estate: Estate;
  let parts: Parts;

  beforeAll(async () => {
    estate = new Estate(people, await people.as(await people.user([['PLATFORM ADMIN', null]]), await people.tenant()));
    parts = await estate.parts();
  });

  const setStatus = (cluster: number, status: ClusterStatus) => setClusterStatus(api.database.manager, cluster, status);
  const read = async (cluster: number) => (await estate.get('cluster', cluster)).body;

  describe('engine_cluster_spark_config', () => {
    const five = { max_parallel_spark_job_execution_per_instance: 5 };
    const standalone = (workers: number) => ({ ...five, num_of_workers: workers, standalone_workers_number: workers });

    it.each<[string, object | undefined, object]>([
      ['STANDALONE', undefined, standalone(1)],
      ['STANDALONE', {}, standalone(1)],
      ['STANDALONE', { num_of_workers: null }, standalone(1)],
      ['STANDALONE', { num_of_workers: 3 }, standalone(3)],
      ['CLUSTER', undefined, { ...five, num_of_workers: null }],
      ['CLUSTER', { num_of_workers: 3 }, { ...five, num_of_workers: 3 }],
      ['PLATFORM', undefined, { ...five, num_of_workers: null }],
      ['PLATFORM', { num_of_workers: 3 }, { ...five, num_of_workers: null }],
    ])('of a %s cluster may be %j', async (cluster_type, engine_cluster_spark_config, expected) => {
      const made = await estate.create('cluster', parts, { cluster_type, engine_cluster_spark_config });
      expect(made).toMatchObject({ status: 200, body: { engine_cluster_spark_config: expected } });
      const cluster = Number(made.body.cluster_id);
      expect((await read(cluster)).engine_cluster_spark_config).toEqual(expected);
      await setStatus(cluster, 'ERROR');
      const fewer = { max_parallel_spark_job_execution_per_instance: 2 };
      const updated = await estate.update('cluster', cluster, { engine_cluster_spark_config: fewer });
      expect(updated).toMatchObject({
        status: 201,
        body: { engine_cluster_spark_config: { ...expected, ...fewer } },
      });
    });

    it.each<[string, number | null, number | null]>([
      ['STANDALONE', null, 1],
      ['STANDALONE', 4, 4],
      ['CLUSTER', null, null],
      ['PLATFORM', 4, null],
    ])('of a %s cluster can be changed to %j workers', async (cluster_type, num_of_workers, expected) => {
      const cluster = await estate.id('cluster', parts, {
        cluster_type,
        engine_cluster_spark_config: { num_of_workers: 2 },
      });
      await setStatus(cluster, 'ERROR');
      const updated = await estate.update('cluster', cluster, { engine_cluster_spark_config: { num_of_workers } });
      expect([updated.status, updated.body.engine_cluster_spark_config.num_of_workers]).toEqual([201, expected]);
    });
  });

  describe('the Spark of local nodes', () => {
    const report = (host: string, versions: string[] | null, age = '1 minute') =>
      api.database.query(
        `INSERT INTO local_hosts (hostname, cores, cpu_usage, memory_bytes, memory_used_bytes, disk_bytes, disk_used_bytes,
           spark_versions, reported_at) VALUES ($1, 4, 0, 1, 0, 1, 0, $2, platform_now() - $3::interval)`,
        [host, versions, age],
      );

    afterEach(() => api.database.query('DELETE FROM local_hosts'));

    it('must be one of their machines, if these have reported recently', async () => {
      await report('of an earlier release', null);
      const local = { ...parts, cloud_env: await estate.id('cloud_env', parts, { endpoint: 'local://' }) };
      const create = (version = SPARK_353) => estate.create('cluster', local, { spark_infra_version_id: version });
      const unknown = await create();
      expect(unknown.status).toBe(200);
      await api.database.query('DELETE FROM local_hosts');
      await report('gone', ['3.5.9'], '6 minutes');
      expect((await create()).status).toBe(200);
      await report('a', ['3.5.9']);
      const refused = await create();
      expect(refusal(refused)).toEqual([400, 'CLUSTER.SPARK_NOT_INSTALLED']);
      expect(refused.body.error_message).toBe(
        'Local nodes of this installation do not have Spark 3.5.3. Available: 3.5.9.',
      );
      expect((await create(SPARK_359)).status).toBe(200);
      const versions = async (query: string) => {
        const { body } = await estate.caller.call('GET', `/lookup_spark_infra_version${query}`);
        return (body as { spark_version: string }[]).map((row) => row.spark_version);
      };
      expect(await versions(`?cloud_env_id=${local.cloud_env}`)).toEqual(['3.5.9']);
      expect(await versions(`?cloud_env_id=${parts.cloud_env}`)).toEqual(await versions(''));
      expect(await versions('')).toContain('4.3.0');
      // A cluster created before may still change its other settings.
      const cluster = Number(unknown.body.cluster_id);
      await setStatus(cluster, 'ERROR');
      expect((await estate.update('cluster', cluster, { labels: { team: 'data' } })).status).toBe(201);
      const changed = await estate.update('cluster', cluster, { spark_infra_version_id: SPARK_353 });
      expect(refusal(changed)).toEqual([400, 'CLUSTER.SPARK_NOT_INSTALLED']);
    });
  });

  describe('secrets for runs', () => {
    const hundred = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`A${at}`, 'key']));

    it.each<[string, object, string]>([
      ['a variable without a valid name', { env_var_secret: { '1A': 'key' } }, 'CLUSTER.INVALID_ENV_VAR_SECRET'],
      ['a variable of the platform', { env_var_secret: { LD_PRELOAD: 'key' } }, 'CLUSTER.INVALID_ENV_VAR_SECRET'],
      ['a name that no secret has', { env_var_secret: { A: 'No Name' } }, 'CLUSTER.INVALID_ENV_VAR_SECRET'],
      ['no name', { env_var_secret: { A: { name: 'key' } } }, 'CLUSTER.INVALID_ENV_VAR_SECRET'],
      ['too many', { env_var_secret: hundred }, 'CLUSTER.INVALID_ENV_VAR_SECRET'],
      ['a property that is not Spark’s', { conf_secret: { 'fs.s3a.key': 'key' } }, 'CLUSTER.INVALID_CONF_SECRET'],
      [
        'a property on a command line',
        { conf_secret: { 'spark.driver.memory': 'key' } },
        'CLUSTER.INVALID_CONF_SECRET',
      ],
    ])('are refused for %s', async (_what, spark_config, code) => {
      expect(refusal(await estate.create('cluster', parts, { spark_config }))).toEqual([400, code]);
      const cluster = await estate.id('cluster', parts);
      expect(refusal(await estate.update('cluster', cluster, { spark_config }))).toEqual([400, code]);
    });

    it('are stored by name, without a check that they exist', async () => {
      const spark_config = { env_var_secret: { A: 'key', B: null }, conf_secret: { 'spark.hadoop.a': 'a.b@c-d_e' } };
      const cluster = await estate.id('cluster', parts, { spark_config });
      expect((await read(cluster)).spark_config).toMatchObject(spark_config);
      await estate.update('cluster', cluster, { spark_config: { env_var_secret: null } });
      expect((await read(cluster)).spark_config).toMatchObject({ ...spark_config, env_var_secret: null });
    });
  });

  describe('Spark properties of the platform', () => {
    const owned = { conf: ['spark.a 1', 'spark.submit.deployMode cluster'] };

    it.each<[string, object]>([
      ['conf', owned],
      ['conf with =', { conf: ['spark.master=local'] }],
      ['conf_secret', { conf_secret: { 'spark.authenticate.secret': null } }],
    ])('are refused in %s of a new cluster and of a change', async (_what, spark_config) => {
      const made = await estate.create('cluster', parts, { spark_config });
      expect(refusal(made)).toEqual([400, 'CLUSTER.PROPERTY_OWNED']);
      expect(made.body.details).toEqual({ property: expect.stringMatching(/^spark\./) });
      const cluster = await estate.id('cluster', parts, { spark_config: { conf: ['spark.a 1'] } });
      expect(refusal(await estate.update('cluster', cluster, { spark_config }))).toEqual([
        400,
        'CLUSTER.PROPERTY_OWNED',
      ]);
    });

    it('stay in a cluster of an older release while other settings change', async () => {
      const cluster = await estate.id('cluster', parts);
      await api.database.query('UPDATE clusters SET spark_config = $2 WHERE cluster_id = $1', [cluster, owned]);
      const changed = await estate.update('cluster', cluster, {
        description: 'changed',
        spark_config: { env_var: ['A=b'] },
      });
      expect(changed).toMatchObject({ status: 201, body: { spark_config: { ...owned, env_var: ['A=b'] } } });
    });
  });

  /** Creates the parts of an AWS cluster, with a gp3 volume unless `volume` says otherwise. */
  async function atAws(volume: object | null = {}): Promise<Parts> {
    const credentials = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', AWS_DEFAULT_REGION: 'us-east-1' };
    const own = { ...parts };
    const provider = { cloud_provider_id: PROVIDER.AWS };
    own.credentials_conf = await estate.id(
      'credentials_conf',
      {},
      {
        credential_type_id: CREDENTIAL_TYPE_ID.awsAccessSecretKeyPair,
        base64_encoded_credentials: encodedCredentials(credentials),
      },
    );
    const zone = { availability_zone_id: AWS_ZONE };
    const network = { network_project_id: 'vpc', network_name: 'net', subnet: 'sub', network_tags: ['t'], ...zone };
    own.network_conf = await estate.id('network_conf', {}, { ...provider, ...network });
    own.boot_disk_image = await estate.id('boot_disk_image', {}, provider);
    own.cloud_env = await estate.id('cloud_env', own, {
      ...provider,
      ...zone,
      cloud_project: 'p',
      endpoint: undefined,
    });
    const speeds = { disk_type_id: DISK.gp3, disk_iops: 4000, disk_throughput_MB: 200, machine_volume_num: 2 };
    const volume_conf = volume && (await estate.id('volume_conf', {}, { ...speeds, ...volume }));
    own.cluster_conf = await estate.id('cluster_conf', {}, { machine_type_id: M5_LARGE, volume_conf_id: volume_conf });
    return own;
  }

  const snapshots = () =>
    new ClusterSnapshots(
      api.database,
      api.app.get(ClusterRowsRepository),
      api.app.get(ReferenceData),
      ...([{}, {}, { agent: {} }] as unknown as [CredentialsConfsService, Drivers, Config]),
      api.app.get(Installation),
      api.app.get(BootstrapTokens),
      api.app.get(ClusterNodesRepository),
    );

  async function nodeSpec(cluster: number): Promise<NodeSpec> {
    const reader = snapshots();
    const node = { token: randomUUID(), attempt: 1, bootstrap_token: null, bootstrap_token_hash: null };
    return reader.nodeSpec(await reader.read(cluster), node as ClusterNode);
  }

  it('are selected by name even if disabled clusters have the same name', async () => {
    const name = `again-${randomUUID()}`;
    const ask = (method: string, operation: string, selector: object) =>
      estate.caller.call(method, `/cluster/${operation}`, selector);
    const disabled = async () => {
      const cluster = await estate.id('cluster', parts, { name });
      await setStatus(cluster, 'DESTROYED');
      expect((await ask('PUT', 'disable', { cluster_name: name })).status).toBe(201);
      return cluster;
    };
    const older = await disabled();
    await disabled();
    expect(refusal(await ask('POST', 'start', { cluster_name: name }))).toEqual([400, 'CLUSTER.DISABLED']);
    expect((await ask('PUT', 'enable', { cluster_id: older })).status).toBe(201);
    const answer = await ask('POST', 'destroy', { cluster_name: name });
    expect(answer).toMatchObject({ status: 200, body: { CosiDestroy: { engine_cluster_instance_id: older } } });
    const nobody = await ask('POST', 'start', { cluster_id: older, cluster_name: 'nobody' });
    const error_message = `There is no cluster with id ${older} and name "nobody".`;
    expect(nobody).toMatchObject({ status: 404, body: { error_code: 'CLUSTER.NOT_FOUND', error_message } });
  });

  it('have the labels of their cloud environment besides their own, which win', async () => {
    const cloud_env = await estate.id('cloud_env', parts, { labels: { team: 'data', cost: 'a' } });
    const cluster = await estate.id('cluster', { ...parts, cloud_env }, { labels: { cost: 'b', own: 'c' } });
    const { labels } = await snapshots().read(cluster);
    expect(labels).toMatchObject({ team: 'data', cost: 'b', own: 'c', tenant_id: expect.any(String) });
  });

  describe('accelerators', () => {
    const SPARK = { '3.2.2': 1, '3.3.4': 2, '3.5.9': 6 };
    const GPUS = { 'g4dn.xlarge': 140, 'g4dn.12xlarge': 143 };
    const cuda = { is_cuda_enabled: true, spark_infra_version_id: SPARK['3.2.2'] };
    const workers = (num_of_workers: number) => ({
      cluster_type: 'STANDALONE',
      engine_cluster_spark_config: { num_of_workers },
    });
    let plain: Parts;
    let one: Parts;
    let four: Parts;

    beforeAll(async () => {
      plain = await atAws(null);
      const withMachine = async (machine_type_id: number) => ({
        ...plain,
        cluster_conf: await estate.id('cluster_conf', {}, { machine_type_id }),
      });
      [one, four] = [await withMachine(GPUS['g4dn.xlarge']), await withMachine(GPUS['g4dn.12xlarge'])];
    });

    it('are passed to the driver', async () => {
      const turbo = await estate.id('cluster', parts, { is_turbo_enabled: true });
      expect((await nodeSpec(turbo)).boot.accelerator).toBe('turbo');
      const gpu = await estate.id('cluster', one, cuda);
      expect(await nodeSpec(gpu)).toMatchObject({
        boot: { accelerator: 'cuda', sparkVersion: '3.2.2' },
        machine: { gpu: { model: 'NVIDIA T4', count: 1 } },
      });
      expect((await nodeSpec(await estate.id('cluster', parts))).boot.accelerator).toBeNull();
    });

    it('need support by Spark, cluster, environment and machine, and are otherwise refused with the reason', async () => {
      const answers = async (own: Parts, fields: object) => {
        const { status, body } = await estate.create('cluster', own, fields);
        return status === 200 ? 200 : `${status} ${body.error_code} ${body.error_message}`;
      };
      const refused = (why: string) => `400 CLUSTER.ACCELERATOR_UNSUPPORTED ${why}`;
      expect(await answers(plain, { is_turbo_enabled: true, spark_infra_version_id: SPARK['3.5.9'] })).toBe(200);
      expect(await answers(four, { ...cuda, ...workers(4) })).toBe(200);
      const has = (fields: object, own = one) => answers(own, { ...cuda, ...fields });
      expect(await has({ is_turbo_enabled: true })).toBe(refused('A cluster cannot have both turbo and CUDA.'));
      expect(await has({ spark_infra_version_id: SPARK['3.5.9'] })).toBe(
        refused('Spark infra version v3.5.9-1 does not support CUDA. Versions that do: v3.2.2-20.'),
      );
      expect(await has({ cluster_type: 'CLUSTER' })).toBe(refused('A cluster of type CLUSTER does not support CUDA.'));
      expect(await has({}, plain)).toBe(refused('Machine type m5.large has no GPU.'));
      expect(await has(workers(2))).toBe(refused('Machine type g4dn.xlarge has 1 GPUs, fewer than num_of_workers.'));
      const local = await estate.id('cloud_env', parts);
      await api.database.query(`UPDATE cloud_envs SET endpoint = 'local://' WHERE cloud_env_id = $1`, [local]);
      expect(await has({}, { ...parts, cloud_env: local })).toBe(
        refused('Nodes of this cloud environment have no GPUs.'),
      );
      expect(await answers(plain, { is_turbo_enabled: true, spark_infra_version_id: SPARK['3.3.4'] })).toBe(
        refused('Spark infra version v3.3.4-3 does not support turbo. Versions that do: v3.5.3-2, v3.5.9-1, v4.1.4-1.'),
      );
    });

    it('reserve their Spark properties, even if they are enabled later', async () => {
      const set = (...properties: string[]) => ({ spark_config: { conf: properties.map((name) => `${name} 1`) } });
      const owned = [400, 'CLUSTER.PROPERTY_OWNED'];
      const made = (fields: object) => estate.create('cluster', one, fields);
      expect(refusal(await made({ ...cuda, ...set('spark.task.resource.gpu.amount') }))).toEqual(owned);
      const secret = { spark_config: { conf_secret: { 'spark.plugins': 'key' } } };
      expect(refusal(await made({ ...cuda, ...secret }))).toEqual(owned);
      const cluster = await estate.id('cluster', one, { ...cuda, is_cuda_enabled: false, ...set('spark.plugins') });
      await setStatus(cluster, 'DESTROYED');
      expect(refusal(await estate.update('cluster', cluster, { is_cuda_enabled: true }))).toEqual(owned);
      const without = { is_cuda_enabled: true, spark_config: { conf: null } };
      expect((await estate.update('cluster', cluster, without)).status).toBe(201);
      await setStatus(cluster, 'RUNNING');
      expect(refusal(await estate.update('cluster', cluster, set('spark.plugins')))).toEqual(owned);
      expect((await estate.update('cluster', cluster, set('spark.comet.enabled'))).status).toBe(201);
    });
  });

  describe('parallel jobs', () => {
    it('are limited by the memory of the machine and of each job', async () => {
      const own = await atAws(null);
      const jobs = (max_parallel_spark_job_execution_per_instance: number) => ({
        engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance },
      });
      const tooMany = [400, 'CLUSTER.TOO_MANY_PARALLEL_JOBS'];
      const memory = (gigabytes: number, atOnce: number) => {
        return estate.caller.call(
          'GET',
          `/cluster/driver_memory?machine_memory=${gigabytes}&max_parallel_spark_job_execution_per_instance=${atOnce}`,
        );
      };
      // Jobs get seven of the 8 GB.
      expect((await memory(8, 14)).body.message).toContain('512 MB');
      expect(refusal(await memory(8, 15))).toEqual(tooMany);
      const cluster = await estate.id('cluster', own, jobs(14));
      expect(refusal(await estate.create('cluster', own, jobs(15)))).toEqual(tooMany);
      await setStatus(cluster, 'DESTROYED');
      expect(refusal(await estate.update('cluster', cluster, jobs(15)))).toEqual(tooMany);
    });
  });

  describe('disk fields', () => {
    const lvm = { disk_type_id: DISK['local-lvm'] };
    const bare = async () => ({ ...parts, cluster_conf: await estate.id('cluster_conf', {}) });
    const refused = (answer: TestAnswer) => [...refusal(answer), answer.body.error_message as string];

    const nodeDisks = async (cluster: number) => (await nodeSpec(cluster)).disks;

    it('describe the disks if the configuration has no volume', async () => {
      const without = await estate.create('cluster', await bare());
      expect(without.body.machine_volume_config).toBeNull();
      expect(await nodeDisks(Number(without.body.cluster_id))).toEqual([]);
      const made = await estate.create('cluster', await bare(), { ...lvm, size: 20, number_of_disks: 2 });
      const written = { number_of_disks: 2, disk_iops: null, disk_throughput_MB: null };
      expect([made.status, made.body.machine_volume_config]).toEqual([
        200,
        {
          ...{ machine_volume_config_id: null, machine_volume_config_name: null },
          ...{ machine_volume_config_description: null, encrypted: false, size: '20', ...written },
          ...{ machine_volume_conf_num: 2, machine_volume_conf_strip: 1 },
          disk_type: expect.objectContaining({ disk_type_id: String(DISK['local-lvm']), disk_name: 'local-lvm' }),
        },
      ]);
      const cluster = Number(made.body.cluster_id);
      expect((await read(cluster)).machine_volume_config).toEqual({
        ...{
          volume_conf_id: null,
          name: null,
          machine_volume_num: 2,
          machine_volume_strip_num: 1,
          size: 20,
          ...written,
        },
        disk_type: expect.objectContaining({ disk_type_id: DISK['local-lvm'], name: 'local-lvm' }),
      });
      const disk = { gib: 20, type: 'local-lvm', iops: null, throughputMb: null, encrypted: false };
      expect(await nodeDisks(cluster)).toEqual([disk, disk]);
      await setStatus(cluster, 'ERROR');
      const more = await estate.update('cluster', cluster, { number_of_disks: 3, size: 30 });
      expect(more.body.machine_volume_config).toMatchObject({ number_of_disks: 3, size: '30' });
      const none = await estate.update('cluster', cluster, { disk_type_id: null });
      expect([none.status, none.body.machine_volume_config]).toEqual([201, null]);
    });

    it.each<[object, string, RegExp]>([
      [{ size: 20 }, 'CLUSTER.DISK_TYPE_REQUIRED', /need a disk_type_id/],
      [{ disk_iops: 20 }, 'CLUSTER.DISK_TYPE_REQUIRED', /need a disk_type_id/],
      [{ disk_throughput_MB: 20 }, 'CLUSTER.DISK_TYPE_REQUIRED', /need a disk_type_id/],
      [{ number_of_disks: 2 }, 'CLUSTER.DISK_TYPE_REQUIRED', /need a disk_type_id/],
      [{ disk_type_id: 10 }, 'CLUSTER.DISK_SIZE_REQUIRED', /local-lvm need a size/],
      [{ disk_type_id: 10, size: 70_000 }, 'CLUSTER.DISK_OUT_OF_BOUNDS', /size 70000 is outside the range 1 to 65536/],
      [{ disk_type_id: 10, size: 9, disk_iops: 3000 }, 'CLUSTER.DISK_OUT_OF_BOUNDS', /does not support disk_iops/],
      [
        { disk_type_id: 10, size: 9, disk_throughput_MB: 9 },
        'CLUSTER.DISK_OUT_OF_BOUNDS',
        /does not support disk_throughput_MB/,
      ],
      [{ disk_type_id: 4, size: 20 }, 'CLUSTER.PROVIDER_MISMATCH', /another cloud provider/],
    ])('without a volume are refused if they describe no disk: %j', async (fields, code, reason) => {
      const answer = await estate.create('cluster', await bare(), fields);
      expect(refused(answer)).toEqual([400, code, expect.stringMatching(reason)]);
    });

    it('override the volume, each one separately', async () => {
      const own = await atAws();
      const volume = { size: 100, disk_iops: 4000, disk_throughput_MB: 200, number_of_disks: 2 };
      for (const fields of [
        {},
        { size: 200 },
        { disk_iops: 5000 },
        { disk_throughput_MB: 300 },
        { number_of_disks: 1 },
        { size: 300, disk_iops: 6000, disk_throughput_MB: 400, number_of_disks: 3 },
      ]) {
        const cluster = await estate.id('cluster', own, fields);
        const expected = { ...volume, ...fields };
        expect((await read(cluster)).machine_volume_config).toMatchObject({
          ...expected,
          ...{ machine_volume_num: 2, disk_type: { name: 'gp3' } },
        });
        const { size: gib, disk_iops: iops, disk_throughput_MB: throughputMb, number_of_disks: count } = expected;
        const disk = { gib, type: 'gp3', iops, throughputMb, encrypted: false };
        expect(await nodeDisks(cluster)).toEqual(Array.from({ length: count }, () => disk));
      }
    });

    it('of another type keep the values of the volume and the cluster that the type accepts', async () => {
      const cluster = await estate.id('cluster', await atAws(), { disk_type_id: DISK.io1 });
      const disks = async () => (await read(cluster)).machine_volume_config;
      expect(await disks()).toMatchObject({ disk_iops: 4000, disk_throughput_MB: null, disk_type: { name: 'io1' } });
      await setStatus(cluster, 'ERROR');
      const change = (fields: object) => estate.update('cluster', cluster, fields);
      expect((await change({ disk_iops: 9000, size: 150 })).status).toBe(201);
      expect(await disks()).toMatchObject({ disk_iops: 9000, size: 150 });
      expect(refused(await change({ disk_throughput_MB: 200 }))).toEqual([
        400,
        'CLUSTER.DISK_OUT_OF_BOUNDS',
        expect.stringContaining('io1 does not support disk_throughput_MB'),
      ]);
      expect((await change({ disk_type_id: DISK.gp2 })).status).toBe(201);
      expect(await disks()).toMatchObject({ disk_iops: null, disk_throughput_MB: null, size: 150 });
      expect((await change({ disk_type_id: null, number_of_disks: 5 })).status).toBe(201);
      expect(await disks()).toMatchObject({
        ...{ disk_iops: 4000, disk_throughput_MB: 200, size: 100, number_of_disks: 5 },
        disk_type: { name: 'gp3' },
      });
    });

    it('of another type refuse a volume size that the type does not have', async () => {
      const own = await atAws();
      const answer = await estate.create('cluster', own, { disk_type_id: ST1 });
      expect(refused(answer)).toEqual([400, 'CLUSTER.DISK_OUT_OF_BOUNDS', expect.stringMatching(/size 100 .* st1/)]);
      expect((await estate.create('cluster', own, { disk_type_id: ST1, size: 125 })).status).toBe(200);
    });

    it('that are incomplete without the volume keep a cluster from being enabled until they are complete', async () => {
      const own = await estate.parts();
      const cluster = await estate.id('cluster', own, { size: 50 });
      await setStatus(cluster, 'DESTROYED');
      const { cluster_conf } = await bare();
      const unfit = await estate.update('cluster', cluster, { cluster_conf_id: cluster_conf });
      expect(refusal(unfit)).toEqual([400, 'CLUSTER.DISK_TYPE_REQUIRED']);
      const operate = (operation: string) =>
        estate.caller.call('PUT', `/cluster/${operation}`, { cluster_id: cluster });
      expect((await operate('disable')).status).toBe(201);
      await estate.update('cluster_conf', own.cluster_conf, { volume_conf_id: null });
      expect((await read(cluster)).machine_volume_config).toBeNull();
      expect(refusal(await operate('enable'))).toEqual([400, 'CLUSTER.DISK_TYPE_REQUIRED']);
      expect((await estate.update('cluster', cluster, lvm)).status).toBe(201);
      expect((await operate('enable')).status).toBe(201);
      expect((await read(cluster)).machine_volume_config).toMatchObject({ size: 50, number_of_disks: 1 });
    });
  });
});
