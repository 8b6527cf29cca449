import { HiveMetastore } from '../harness/hive-metastore';
import { isLong } from '../harness/long';
import { hiveSite } from '../samples/metastore-catalog';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, type Estate, startCluster } from './harness/estate';
import { CLUSTER_TYPES, compileJar, JobDesk, type Language, languagesOn } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

/** Statements of each job: it creates its own view and reads a table that others wrote. */
const STATEMENTS = (name: string) => [`CREATE VIEW shop.${name} AS SELECT 1 AS one`, 'SELECT word FROM shop.seed'];

const JAR = `
package app
object Main {
  def main(args: Array[String]): Unit = {
    val spark = org.apache.spark.sql.SparkSession.builder().getOrCreate()
    spark.sql(args(0))
    println("SAYS " + spark.sql(args(1)).head.getString(0))
  }
}
`;
const PYTHON = `
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.sql(sys.argv[1])
print("SAYS " + spark.sql(sys.argv[2]).head()[0])
`;

/** One program for each type of job; `name` is the view that it creates. */
const PROGRAMS: Record<Language, (name: string) => object> = {
  Python3: (name) => ({ command: 'job.py', arguments: quoted(name) }),
  Jar: (name) => ({ command: 'app.jar', class_name: 'app.Main', arguments: quoted(name) }),
  RAW_SCALA: (name) => {
    const [make, read] = STATEMENTS(name);
    return { rawScalaCode: `spark.sql("${make}")\nprintln("SAYS " + spark.sql("${read}").head.getString(0))\n` };
  },
  SQL: (name) => ({ rawScalaCode: `${STATEMENTS(name)[0]};\nSELECT concat('SAYS ', word) FROM shop.seed;\n` }),
};

function quoted(name: string): string {
  return STATEMENTS(name)
    .map((statement) => `"${statement}"`)
    .join(' ');
}

// Real: the built processes, Spark, and a Hive metastore.
describe('jobs of a cluster with a Hive catalog', () => {
  let metastore: HiveMetastore;
  let platform: SharedPlatform;
  let admin: ApiClient;
  let estate: Estate;
  let desk: JobDesk;
  let catalogId: number;

  beforeAll(async () => {
    metastore = await HiveMetastore.start();
    await metastore.createDatabase('shop');
    await metastore.createTables('shop', [
      {
        tableName: 'seed',
        tableType: 'VIRTUAL_VIEW',
        viewOriginalText: "SELECT 'from the metastore' AS word",
        viewExpandedText: "SELECT 'from the metastore' AS word",
        sd: { cols: [{ name: 'word', type: 'string', comment: null }] },
      },
    ]);
    platform = await SharedPlatform.join('e2e', 'job-metastores');
    admin = await platform.admin();
    estate = await describeEstate(admin, platform.runtime.sparkVersion);
    desk = await JobDesk.open(admin, 'metastores');
    await desk.upload('job.py', PYTHON);
    await desk.upload('app.jar', await compileJar(platform.runtime, JAR));
    const catalog = { name: 'shop', hiveSiteXml: hiveSite(metastore.uri) };
    catalogId = Number((await admin.post('/metastore/catalog/hive', catalog)).metastore_catalog_id);
  });

  afterAll(async () => {
    await platform?.close();
    await metastore?.stop();
  });

  const tables = () => metastore.call((call, hive) => call(hive.get_all_tables, { db_name: 'shop' }));

  it.each(isLong ? CLUSTER_TYPES : CLUSTER_TYPES.slice(0, 1))(
    'of type %s read and create tables in it, in each language',
    async (type) => {
      const cluster = await createCluster(admin, estate, type.toLowerCase(), {
        cluster_type: type,
        metastore_catalog_id: catalogId,
        engine_cluster_spark_config: { num_of_workers: 1, max_parallel_spark_job_execution_per_instance: 2 },
      });
      await startCluster(admin, cluster);
      const languages = languagesOn(type);
      const views = languages.map((language) => `${type}_${language}`.toLowerCase());
      const jobs = [];
      for (const [n, language] of languages.entries()) {
        const name = views[n] ?? '';
        const fields = { job_type: language, ...PROGRAMS[language](name) };
        jobs.push(await desk.start(cluster, name.replaceAll('_', '-'), fields));
      }
      for (const job of jobs) {
        await desk.done(job);
        expect(await desk.log(job)).toMatch(/^SAYS from the metastore$/m);
      }
      expect(await tables()).toEqual(expect.arrayContaining(views));
      await destroyCluster(admin, cluster);
    },
  );

  it('create views that appear in the catalog browser, with columns and a DDL', async () => {
    const browse = (what: string, query = '') =>
      admin.get(`/metastore/${catalogId}/${what}?workspace_id=${desk.workspaceId}&refresh=true${query}`);
    expect(await browse('table_summaries')).toEqual(expect.arrayContaining(['shop.seed', 'shop.platform_python3']));
    const place = `workspace_id=${desk.workspaceId}`;
    const view = `&schema_name=shop&table_name=platform_sql`;
    expect(await admin.get(`/metastore/${catalogId}/columns?${place}${view}`)).toEqual([
      {
        ...{ name: 'one', type_text: 'int', type_name: 'INT', position: 0, type: 'column' },
        ...{ comment: null, nullable: false },
      },
    ]);
    const ddl = await admin.get(`/metastore/${catalogId}/table_ddl?${place}&cached_tables=shop.platform_sql`);
    expect(ddl).toEqual([{ 'shop.platform_sql': expect.stringMatching(/^CREATE VIEW .*SELECT 1 AS one/s) as string }]);
  });

  it('may override its settings', async () => {
    const cluster = await createCluster(admin, estate, 'other', { metastore_catalog_id: catalogId });
    await startCluster(admin, cluster);
    const program = { job_type: 'SQL', rawScalaCode: 'SHOW DATABASES;\n' };
    const settings = { ...program, conf: ['spark.hadoop.hive.metastore.uris='] };
    const own = await desk.succeed(cluster, 'own', settings);
    expect(await desk.log(own.job_id)).not.toContain('shop');
    const shared = await desk.succeed(cluster, 'shared', program);
    expect(await desk.log(shared.job_id)).toContain('shop');
  });
});
