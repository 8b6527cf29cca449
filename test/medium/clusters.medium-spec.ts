import { CloudEnvsApiModule } from '../../src/modules/cloud-envs/cloud-envs.api.module';
import { BootDiskImagesApiModule } from '../../src/modules/boot-disk-images/boot-disk-images.api.module';
import { ClusterConfsApiModule } from '../../src/modules/cluster-confs/cluster-confs.api.module';
import { ClustersApiModule } from '../../src/modules/clusters/clusters.api.module';
import { CredentialsConfsApiModule } from '../../src/modules/credentials-confs/credentials-confs.api.module';
import { NetworkConfsApiModule } from '../../src/modules/network-confs/network-confs.api.module';
import { VolumeConfsApiModule } from '../../src/modules/volume-confs/volume-confs.api.module';
import { Estate, type Parts } from './harness/estate';
import { startPeople } from './harness/people';
import type { TestApi } from './harness/test-api';

// Real: the whole API and PostgreSQL. Left out: the worker, so clusters come into a state by SQL.
describe('clusters', () => {
  let api: TestApi;
  let stop: () => Promise<void>;
  let estate: Estate;
  let parts: Parts;

  beforeAll(async () => {
    const { people, ...rest } = await startPeople([
      ...[BootDiskImagesApiModule, CloudEnvsApiModule, ClusterConfsApiModule, ClustersApiModule],
      ...[CredentialsConfsApiModule, NetworkConfsApiModule, VolumeConfsApiModule],
    ]);
    ({ api, stop } = rest);
    estate = new Estate(people, await people.as(await people.user([['PLATFORM ADMIN', null]]), await people.tenant()));
    parts = await estate.parts();
  });

  afterAll(() => stop?.());

  const setStatus = (cluster: number, status: string) =>
    api.database.query('UPDATE clusters SET status = $2 WHERE cluster_id = $1', [cluster, status]);
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
});
