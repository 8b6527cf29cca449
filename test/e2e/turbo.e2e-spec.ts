import type { ApiClient, Json } from './harness/api-client';
import {
  clusterBody,
  createCluster,
  describeEstate,
  destroyCluster,
  type Estate,
  startCluster,
} from './harness/estate';
import { JobDesk } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

/** Prints the plan of a query that reads a file and shuffles, its result, and the memory of the process. */
const QUERY = `
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
data = spark.range(1000).selectExpr("id % 10 AS k", "id AS v").repartition("k")
totals = data.groupBy("k").sum("v")
print("RESULT", sorted(tuple(row) for row in totals.collect())[3], flush=True)
print("PLAN", totals._jdf.queryExecution().executedPlan().toString().replace("\\n", " "), flush=True)
conf = spark.sparkContext.getConf()
for key in ("spark.driver.memory", "spark.memory.offHeap.size", "spark.shuffle.manager"):
    print(key, conf.get(key), flush=True)
`;

const SHUFFLE = 'org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager';

let platform: SharedPlatform;
let admin: ApiClient;
let desk: JobDesk;
let estate: Estate;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'turbo');
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'turbo');
  await desk.upload('query.py', QUERY);
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

const logOf = (job: Json): Promise<string> => desk.log(Number(job.job_id));

describe('a cluster with turbo', () => {
  it('runs queries with the operators of Comet, within the memory of its node', async () => {
    const id = await createCluster(admin, estate, 'local', {
      is_turbo_enabled: true,
      engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 3 },
    });
    await startCluster(admin, id);
    const conf = ['spark.shuffle.manager=sort', 'spark.memory.offHeap.size=64g'];
    const job = await desk.complete(id, 'query', { command: 'query.py', driver_memory: null, conf });
    const log = await logOf(job);
    expect(log).toContain('RESULT (3, 49800)');
    expect(log).toMatch(/PLAN .*Comet\w*Exchange/);
    expect(log).toMatch(/PLAN .*CometHashAggregate/);
    // Three jobs share 15 of 16 GB, and two thirds of each share are heap.
    expect(log).toContain('spark.driver.memory 3413m');
    expect(log).toContain('spark.memory.offHeap.size 1706m');
    expect(log).toContain(`spark.shuffle.manager ${SHUFFLE}`);
    const stderr = await desk.log(Number(job.job_id), 'stderr');
    expect(stderr).toContain(
      'The Spark property spark.memory.offHeap.size is ignored: the turbo of the cluster needs it.',
    );
    await destroyCluster(admin, id);
  });

  it('does so in executors of a standalone cluster, which fit its workers', async () => {
    const id = await createCluster(admin, estate, 'standalone', {
      cluster_type: 'STANDALONE',
      is_turbo_enabled: true,
      engine_cluster_spark_config: { num_of_workers: 1, max_parallel_spark_job_execution_per_instance: 1 },
    });
    await startCluster(admin, id);
    const fields = { command: 'query.py', executor_memory: '768m', total_executor_cores: 2 };
    const log = await logOf(await desk.complete(id, 'executors', fields));
    expect(log).toContain('RESULT (3, 49800)');
    expect(log).toMatch(/PLAN .*CometHashAggregate/);
    expect(log).toContain('spark.memory.offHeap.size 384m');
    await destroyCluster(admin, id);
  });

  it('does not let users set its properties, and needs a Spark that includes it', async () => {
    const turbo = { is_turbo_enabled: true };
    const refused = (fields: object, code: string) =>
      admin.expectError('POST', '/cluster', { json: clusterBody(estate, 'unfit', { ...turbo, ...fields }) }, 400, code);
    const config = { conf: ['spark.memory.offHeap.size 64g'] };
    const owned = await refused({ spark_config: config }, 'CLUSTER.PROPERTY_OWNED');
    expect(owned.error_message).toMatch(/spark.memory.offHeap.size .* turbo/);
    await refused({ spark_config: { conf_secret: { 'spark.plugins': 'mine' } } }, 'CLUSTER.PROPERTY_OWNED');
    const older = (await admin.get('/lookup_spark_infra_version')).find((row: Json) => row.spark_version === '3.3.4');
    const unsupported = { spark_infra_version_id: older.spark_infra_version_id };
    const without = await refused(unsupported, 'CLUSTER.ACCELERATOR_UNSUPPORTED');
    expect(without.error_message).toMatch(
      /^Spark infra version v3.3.4-\d+ does not support turbo\. Versions that do: .*v3\.5\.9-1, /,
    );

    const id = await createCluster(admin, estate, 'later', { spark_config: config });
    await startCluster(admin, id);
    await destroyCluster(admin, id);
    const query = { query: { cluster_id: id } };
    await admin.expectError('PUT', '/cluster', { json: turbo, ...query }, 400, 'CLUSTER.PROPERTY_OWNED');
    await admin.put('/cluster', { ...turbo, spark_config: { conf: null } }, 201, query);
    const again = { json: { spark_config: config }, ...query };
    await admin.expectError('PUT', '/cluster', again, 400, 'CLUSTER.PROPERTY_OWNED');
  });
});
