import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { classArchiveOptions } from '../../libs/spark/class-archive';
import type { KernelTestClient } from '../harness/kernel-client';
import type { ApiClient, Json } from './harness/api-client';
import { beeline } from './harness/beeline';
import { createCluster, describeEstate, destroyCluster, type Estate, startCluster } from './harness/estate';
import { CLASS_ARCHIVES, compileJar, JobDesk } from './harness/jobs';
import { code, NotebookDesk } from './harness/notebooks';
import { clientOf, createUser } from './harness/people';
import type { TestSpark } from './harness/platform';
import { SharedPlatform } from './harness/shared-platform';

/** One run of each kind on the newest Spark 4. */

const SCRIPT = `
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(${CLASS_ARCHIVES})
print("SPARK", spark.version, spark.range(1000).selectExpr("sum(id)").first()[0], flush=True)
`;

const JAR = `
object App {
  def main(args: Array[String]): Unit = {
    val spark = org.apache.spark.sql.SparkSession.builder.getOrCreate()
    println("SPARK " + spark.version + " " + spark.range(1000).selectExpr("sum(id)").first.getLong(0) + " " + args.mkString)
  }
}
`;

const RAW_SCALA = `
import spark.implicits._
case class Item(name: String, price: Int)
val items = Seq(Item("a", 1), Item("b", 41)).toDS
println("SPARK " + spark.version + " " + items.map(_.price).reduce(_ + _) + " " + args.mkString("|"))
`;

const SQL = 'CREATE TABLE numbers AS SELECT id * 2 AS n FROM range(10);\nSELECT version(), sum(n) FROM numbers;\n';

/** Rows of two fetches. */
const ROWS = 1_100;

const FUNCTION = 'def serve(request):\n    return [spark.version, spark.range(request).count()]\n';

let platform: SharedPlatform;
let admin: ApiClient;
let desk: JobDesk;
let estate: Estate;
let spark: TestSpark;
let clusterId: number;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'spark-4');
  // An old Python has no Spark 4.
  spark = platform.runtime.sparks.findLast(({ sparkVersion }) => sparkVersion.startsWith('4.')) ?? platform.runtime;
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'spark-4');
  estate = await describeEstate(admin, spark.sparkVersion);
  clusterId = await createCluster(admin, estate, 'four', {
    engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 2 },
  });
  await startCluster(admin, clusterId);
});

afterAll(async () => {
  if (clusterId) await destroyCluster(admin, clusterId);
  await platform?.close();
});

async function printed(job: Json): Promise<string> {
  expect({ status: job.job_status, reason: job.reason }).toMatchObject({ status: 'DONE' });
  return (await desk.log(job.job_id)).trim().split('\n').at(-1) ?? '';
}

describe('a cluster with the newest Spark', () => {
  it('runs a job in Python, with its event log', async () => {
    await desk.upload('sum.py', SCRIPT);
    const job = await desk.complete(clusterId, 'python', { command: 'sum.py' });
    expect(await printed(job)).toBe(`SPARK ${spark.sparkVersion} 499500`);
    expect(await desk.log(job.job_id)).toContain(`['${spark.classArchive}']\n`);
    expect(await desk.log(job.job_id, 'events')).toContain(`"Spark Version":"${spark.sparkVersion}"`);
    expect(job.reason).toBe('The application completed.');
  });

  it('writes nothing about a class archive that does not suit the class path of a job', async () => {
    const { classArchive, sparkHome } = spark;
    const java = join(platform.runtime.javaHome, 'bin', 'java');
    const options = [...classArchiveOptions(classArchive), '-cp', `/usr:${sparkHome}/jars/*`, '-version'];
    expect((await promisify(execFile)(java, options)).stdout).toBe('');
  });

  it('runs a jar', async () => {
    await desk.upload('app.jar', await compileJar({ ...platform.runtime, ...spark }, JAR));
    const fields = { job_type: 'Jar', command: 'app.jar', class_name: 'App', arguments: 'x' };
    expect(await printed(await desk.complete(clusterId, 'jar', fields))).toBe(`SPARK ${spark.sparkVersion} 499500 x`);
  });

  it('runs Scala', async () => {
    const job = await desk.complete(clusterId, 'scala', { rawScalaCode: RAW_SCALA, arguments: 'x "y z"' });
    expect(await printed(job)).toBe(`SPARK ${spark.sparkVersion} 42 x|y z`);
    expect((await desk.log(job.job_id)).trim()).toBe(`SPARK ${spark.sparkVersion} 42 x|y z`);
  });

  it('runs SQL', async () => {
    const job = await desk.complete(clusterId, 'sql', { job_type: 'SQL', rawScalaCode: SQL });
    expect(await printed(job)).toMatch(new RegExp(`^${spark.sparkVersion}.*\t90$`));
  });

  /** Opens a notebook of one cell, and ends it after `use`. */
  async function inNotebook(
    language: string,
    text: string,
    use: (client: KernelTestClient) => Promise<void>,
  ): Promise<void> {
    const notebooks = await NotebookDesk.open(admin, clusterId, `four-${language}`);
    const id = await notebooks.start(await notebooks.describe('four', language, [code('one', text)]));
    await use(await notebooks.connect(id));
    notebooks.disconnect();
    await admin.post(`${notebooks.path}/notebook/kill/${id}`, {}, 201);
    await notebooks.ended(id);
  }

  it('executes the cells of a notebook', () => {
    const sum = 'spark.range(1000).selectExpr("sum(id)").first()[0]';
    return inNotebook('python3', sum, async (client) => {
      client.execute('one', sum);
      expect((await client.replied('one')).content).toMatchObject({ status: 'ok' });
      expect(client.shown('one')).toEqual([{ 'text/plain': '499500' }]);
    });
  });

  it('shows the rows of a notebook in SQL', () => {
    const sql = 'SELECT version() AS v, id FROM range(3) WHERE id > 1';
    return inNotebook('sql', sql, async (client) => {
      client.execute('one', sql);
      expect((await client.replied('one')).content).toMatchObject({ status: 'ok' });
      expect(client.shown('one')).toEqual([
        {
          'text/plain': expect.stringContaining(spark.sparkVersion),
          'text/html': expect.stringContaining('<td>2</td>'),
        },
      ]);
    });
  });

  it('executes the cells of a notebook in Scala 2.13', () => {
    const sum =
      'case class Item(price: Int)\nval items = Seq(Item(1), Item(41)).toDS\nitems.map(_.price).reduce(_ + _)';
    return inNotebook('scala', sum, async (client) => {
      client.execute('one', sum);
      expect((await client.replied('one')).content).toMatchObject({ status: 'ok' });
      expect(client.shown('one')).toEqual([{ 'text/plain': '42' }]);
      expect(client.texts('one').join('')).toContain('val items: org.apache.spark.sql.Dataset[Item] = [price: int]\n');
      client.execute('two', 'val text: String = 5');
      expect((await client.replied('two')).content).toMatchObject({
        ename: 'CompileError',
        evalue: expect.stringContaining('\nval text: String = 5\n                   ^'),
      });
      client.ask('three', 'complete_request', { code: 'spark.ran', cursor_pos: 9 });
      expect((await client.answered('three')).content).toMatchObject({ matches: ['range'], cursor_start: 6 });
    });
  });

  it('answers the calls of a function', async () => {
    await desk.upload('project/serve.py', FUNCTION);
    const id = await desk.start(clusterId, 'function', {
      job_type: 'PLATFORM_FUNCTIONS',
      platform_functions_project_path: 'project',
      platform_functions_script_path: 'project/serve.py',
      platform_functions_function_name: 'serve',
      platform_functions_request_timeout_sec: 120,
    });
    await desk.reached(id, ['RUNNING']);
    expect(await admin.post(`${desk.path}/job/${id}/invoke`, 7, 200)).toEqual([spark.sparkVersion, 7]);
    await desk.kill(id);
    await desk.ended(id);
  });

  it('serves SQL to its own Beeline, whose driver asks for the state of the statement before each row', async () => {
    const user = 'reader-of-spark-4';
    await createUser(platform, user, 'ADMIN', [platform.tenantId]);
    const { token } = await (await clientOf(platform, user)).post('/user/token', {});
    const id = await desk.start(clusterId, 'thrift', { job_type: 'THRIFT_SQL' });
    await desk.reached(id, ['RUNNING']);
    const runtime = { ...platform.runtime, ...spark };
    const path = `api/v1${desk.path}/job/${id}/thrift`;
    const server = { runtime, baseUrl: platform.baseUrl, path, user, token };
    const rows = await beeline(server, `select version() || ' ' || id from range(${ROWS}) order by id`);
    expect(rows.trim().split('\n')).toHaveLength(ROWS);
    expect(rows).toContain(`${spark.sparkVersion} `);
    await desk.kill(id);
    await desk.ended(id);
  });

  it('is among the versions that can start in its environment', async () => {
    const query = { cloud_env_id: estate.cloudEnvId };
    const versions: Json[] = await admin.get('/lookup_spark_infra_version', query);
    const found = versions.map((row) => row.spark_version).sort();
    expect(found).toEqual(platform.runtime.sparks.map(({ sparkVersion }) => sparkVersion).sort());
  });
});
