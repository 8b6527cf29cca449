import type { ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, type Estate, startCluster } from './harness/estate';
import {
  CLUSTER_TYPES,
  type ClusterType,
  compileJar,
  JobDesk,
  type Language,
  LANGUAGES,
  languagesOn,
} from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

/** The settings that a process of Spark sees: the driver, or the process of a task. */
interface Sight {
  command: string;
  options: string[];
  heap_mib: number;
  library_path: string;
  class_path: string[];
  colour: string | null;
  greeting: string | null;
  /** Contents of `of-cluster.txt`, `of-job.txt` and the same files in archives. */
  texts: (string | null)[];
  /** Content of a resource in a jar without classes. */
  resource: string | null;
}

interface Facts {
  driver: Sight & {
    conf: Record<string, string>;
    executors: number;
    files: string[];
    jars: string[];
    archives: string[];
  };
  tasks: Sight[];
}

/** Prints the settings that Spark and its processes see. It runs only if a jar of the job has arrived. */
const PROBE = `
package probe
import java.lang.management.ManagementFactory
import java.nio.file.Files
import scala.collection.JavaConverters._
import org.apache.spark.{SparkContext, SparkFiles}

object Facts {
  private def text(path: String) = {
    val file = new java.io.File(SparkFiles.getRootDirectory, path)
    if (file.isFile) new String(Files.readAllBytes(file.toPath), "UTF-8") else null
  }

  private def sight: Map[String, Any] = Map(
    "command" -> System.getProperty("sun.java.command"),
    "options" -> ManagementFactory.getRuntimeMXBean.getInputArguments.asScala,
    "heap_mib" -> (Runtime.getRuntime.maxMemory >> 20),
    "library_path" -> System.getProperty("java.library.path"),
    "class_path" -> System.getProperty("java.class.path").split(":").filterNot(_.endsWith(".jar")),
    "colour" -> System.getProperty("probe.colour"),
    "greeting" -> System.getenv("GREETING"),
    "texts" -> Seq("of-cluster.txt", "of-job.txt", "of-cluster.zip/leaf.txt", "unpacked/leaf.txt").map(text),
    "resource" -> Option(Thread.currentThread.getContextClassLoader.getResource("word.txt"))
      .map(scala.io.Source.fromURL(_).mkString).orNull
  )

  private def json(facts: Any) = new com.fasterxml.jackson.databind.ObjectMapper()
    .registerModule(com.fasterxml.jackson.module.scala.DefaultScalaModule).writeValueAsString(facts)

  def report(): String = {
    val context = SparkContext.getOrCreate()
    val tasks = context.parallelize(1 to 2, 2).map(_ => json(sight)).collect()
    val driver = json(sight ++ Map(
      "conf" -> context.getConf.getAll.toMap,
      "executors" -> (context.getExecutorMemoryStatus.size - 1),
      "files" -> context.listFiles,
      "jars" -> context.listJars,
      "archives" -> context.listArchives
    ))
    Seq("""{"driver":""", driver, ""","tasks":[""", tasks.mkString(","), "]}").mkString
  }
}
`;

/** The application jar has only this class; the probe is in a further jar. */
const APP = `
package app
object Main {
  def main(args: Array[String]): Unit = {
    org.apache.spark.SparkContext.getOrCreate()
    val probe = Class.forName("probe.Facts", true, Thread.currentThread.getContextClassLoader)
    println("FACTS " + probe.getMethod("report").invoke(null))
    println("ARGUMENTS " + args.mkString("|"))
  }
}
`;

const PYTHON = `
import json, os, sys
import helper
from deep.package import WORD
from pyspark import SparkContext, SparkFiles
context = SparkContext.getOrCreate()
def sight(_):
    import helper
    from deep.package import WORD
    texts = [open(SparkFiles.get(name)).read() for name in ("of-job.txt", "unpacked/leaf.txt")]
    return [helper.WORD, WORD, *texts]
print("FACTS " + context._jvm.probe.Facts.report())
print("PYTHON " + json.dumps([sight(0), *context.parallelize([0], 1).map(sight).collect()]))
print("ARGUMENTS " + "|".join(sys.argv[1:]))
`;

/** One program for each type of job: it prints the facts and its arguments. */
const PROGRAMS: Record<Language, object> = {
  Python3: { command: 'probe.py', arguments: 'job' },
  Jar: { command: 'lib/app.jar', class_name: 'app.Main', arguments: 'job' },
  RAW_SCALA: {
    rawScalaCode: 'println("FACTS " + probe.Facts.report())\nprintln("ARGUMENTS " + args.mkString("|"))\n',
    arguments: 'job "two words"',
  },
  SQL: {
    // The optimizer computes literal rows, so the probe runs in the driver and not in an executor.
    rawScalaCode:
      "SELECT concat('FACTS ', reflect('probe.Facts', 'report')) FROM VALUES (1);\nSELECT 'ARGUMENTS ${first}|${second}';\n",
    arguments: '--hivevar first=job --hivevar "second=two words"',
  },
};

const RUN_ARGUMENTS = 'run "two words"';

const CLUSTER_SETTINGS = {
  conf: [
    // A job begins once all its executors are registered.
    'spark.scheduler.minRegisteredResourcesRatio 1',
    'spark.scheduler.maxRegisteredResourcesWaitingTime 120s',
    'spark.test.cluster cluster',
    'spark.test.job cluster',
    'spark.test.run cluster',
  ],
  env_var: ['GREETING=hello = world'],
  files: ['of-cluster.txt'],
  jars: ['lib/words.jar'],
  archives: ['of-cluster.zip'],
  'py-files': ['lib/helper.py', 'lib/deep.zip'],
};

const RUN_SETTINGS = { conf: ['spark.test.run=run', 'spark.ui.enabled=false'] };

/** Every setting of a job except its program. */
const JOB_SETTINGS = {
  deploy_mode: 'cluster',
  conf: ['spark.test.job=job', 'spark.test.run=job', 'spark.test.over=job', 'spark.ui.enabled=false'],
  properties_file: ['conf/job.properties'],
  files: ['of-job.txt'],
  jars: ['lib/probe.jar'],
  archives: ['of-job.zip#unpacked'],
  driver_memory: '640m',
  driver_cores: 1,
  driver_java_options: '-Dprobe.colour=blue',
  driver_library_path: '/opt/probe/native',
  driver_class_path: '/opt/probe/classes',
  executor_memory: '520m',
  executor_cores: 1,
  num_executors: 2,
  queue: 'night',
  principal: 'probe@EXAMPLE.TEST',
  keytab: 'secret/probe.keytab',
};

const PROPERTIES = 'spark.test.file=file\nspark.test.over=file\n';

/** Returns the value of an option of the driver's `spark-submit`, without folders. */
const option = ({ driver }: Facts, name: string) =>
  new RegExp(` --${name} (\\S+)`).exec(driver.command)?.[1]?.replaceAll(/[^,]*\//g, '') ?? null;
const conf = ({ driver }: Facts, name: string) => driver.conf[`spark.${name}`] ?? null;
const names = (paths: string[]) => paths.map((path) => path.replace(/^.*\//, '')).sort();
const inTasks = <T>({ tasks }: Facts, of: (task: Sight) => T): T[] => tasks.map(of);

/** Finds a setting in the facts; then its expected value on every type of cluster, or in local mode and with executors. */
type Shown = [finds: (facts: Facts) => unknown, everywhere: unknown] | [(facts: Facts) => unknown, unknown, unknown];

const TEXTS = ['cluster\n', 'job\n', 'leaf of cluster\n', 'leaf of job\n'];

const SETTINGS: Record<string, Shown> = {
  'conf of cluster, job and run': [
    (facts) => ['cluster', 'job', 'run'].map((name) => conf(facts, `test.${name}`)),
    ['cluster', 'job', 'run'],
  ],
  'properties_file, and conf that wins over it': [
    (facts) => [conf(facts, 'test.file'), conf(facts, 'test.over')],
    ['file', 'job'],
  ],
  deploy_mode: [(facts) => conf(facts, 'submit.deployMode'), 'client'],
  'files, which py-files are, too': [
    ({ driver }) => names(driver.files),
    ['deep.zip', 'helper.py', 'of-cluster.txt', 'of-job.txt'],
  ],
  jars: [({ driver }) => names(driver.jars).filter((name) => name !== 'app.jar'), ['probe.jar', 'words.jar']],
  archives: [({ driver }) => names(driver.archives), ['of-cluster.zip', 'of-job.zip#unpacked']],
  'files and archives in the driver': [({ driver }) => driver.texts, TEXTS],
  'files and archives in tasks': [(facts) => inTasks(facts, ({ texts }) => texts), [TEXTS, TEXTS]],
  'jars in the driver': [({ driver }) => driver.resource, 'word\n'],
  'jars in tasks': [(facts) => inTasks(facts, ({ resource }) => resource), ['word\n', 'word\n']],
  'py-files': [(facts) => option(facts, 'py-files'), 'helper.py,deep.zip'],
  driver_memory: [({ driver }) => [driver.options.includes('-Xmx640m'), driver.heap_mib <= 640], [true, true]],
  driver_java_options: [({ driver }) => driver.colour, 'blue'],
  driver_library_path: [({ driver }) => driver.library_path.split(':').includes('/opt/probe/native'), true],
  driver_class_path: [({ driver }) => driver.class_path.includes('/opt/probe/classes'), true],
  executor_memory: [
    (facts) => [conf(facts, 'executor.memory'), ...inTasks(facts, ({ options }) => options.includes('-Xmx520M'))],
    [null, false, false],
    ['520m', true, true],
  ],
  executor_cores: [
    (facts) => [conf(facts, 'executor.cores'), ...inTasks(facts, ({ command }) => / --cores (\d+)/.exec(command)?.[1])],
    [null, undefined, undefined],
    ['1', '1', '1'],
  ],
  num_executors: [(facts) => [conf(facts, 'cores.max'), facts.driver.executors], [null, 0], ['2', 2]],
  // Only YARN and Kubernetes use these two; spark-submit accepts and ignores them.
  'driver_cores and queue': [(facts) => ['driver-cores', 'queue'].map((name) => option(facts, name)), ['1', 'night']],
  // spark-submit logs in with them only if Hadoop's own configuration files require Kerberos.
  'principal and keytab': [
    (facts) => [conf(facts, 'kerberos.principal'), names([conf(facts, 'kerberos.keytab') ?? ''])],
    ['probe@EXAMPLE.TEST', ['probe.keytab']],
  ],
  'environment of the cluster': [
    (facts) => [facts.driver.greeting, ...inTasks(facts, ({ greeting }) => greeting)],
    ['hello = world', 'hello = world', 'hello = world'],
  ],
};

const found = (facts: Facts) =>
  Object.fromEntries(Object.entries(SETTINGS).map(([name, [finds]]) => [name, finds(facts)]));

const expected = (type: ClusterType) =>
  Object.fromEntries(
    Object.entries(SETTINGS).map(([name, [, local, executors = local]]) => [
      name,
      type === 'PLATFORM' ? local : executors,
    ]),
  );

let platform: SharedPlatform;
let admin: ApiClient;
let estate: Estate;
let desk: JobDesk;
/** A PLATFORM cluster without settings, and a job on it with a timeout of one minute. */
let plain: number;
let endless: number;
/** The lookup's job types, and whether each accepts arguments and conf for a single run. */
let takes: Record<string, { arguments: boolean; conf: boolean }>;

/** Returns a zip file of texts by file name, which is the download of a workspace folder. */
async function zipOf(name: string, texts: Record<string, string>): Promise<Buffer> {
  for (const [path, text] of Object.entries(texts)) await desk.upload(`zips/${name}/${path}`, text);
  const query = `workspace_id=${desk.workspaceId}&file_path=zips/${name}`;
  const headers = { authorization: `Bearer ${admin.currentToken}` };
  const response = await fetch(`${admin.baseUrl}/api/v1/workspace/file/download?${query}`, { headers });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'job-settings');
  admin = await platform.admin();
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
  desk = await JobDesk.open(admin, 'settings');
  const [probe, app] = await Promise.all([PROBE, APP].map((source) => compileJar(platform.runtime, source)));
  const files: Record<string, Uint8Array | string> = {
    'lib/probe.jar': probe ?? '',
    'lib/app.jar': app ?? '',
    'lib/words.jar': await zipOf('words', { 'word.txt': 'word\n' }),
    'lib/deep.zip': await zipOf('deep', { 'deep/__init__.py': '', 'deep/package.py': 'WORD = "packaged"\n' }),
    'lib/helper.py': 'WORD = "helped"\n',
    'probe.py': PYTHON,
    'conf/job.properties': PROPERTIES,
    'of-cluster.txt': 'cluster\n',
    'of-job.txt': 'job\n',
    'of-cluster.zip': await zipOf('cluster', { 'leaf.txt': 'leaf of cluster\n' }),
    'of-job.zip': await zipOf('job', { 'leaf.txt': 'leaf of job\n' }),
    'secret/probe.keytab': 'not a real one',
  };
  for (const [path, data] of Object.entries(files)) await desk.upload(path, data);
  plain = await createCluster(admin, estate, 'plain');
  await startCluster(admin, plain);
  await desk.upload('endless.py', 'import time\nprint("began", flush=True)\ntime.sleep(600)\n');
  endless = await desk.start(plain, 'endless', { command: 'endless.py', job_timeout_min: 1 });
  const lookup: Json[] = await admin.get('/lookup_spark_job_type_lang');
  const ofJobs = lookup.filter((row) => row.spark_job_type.name === 'SPARK_JOB');
  takes = Object.fromEntries(
    ofJobs.map((row) => [row.lang_name, { arguments: row.support_runtime_args, conf: row.support_runtime_conf }]),
  );
});

afterAll(() => platform?.close());

describe.each(CLUSTER_TYPES)('a job of a %s cluster', (type) => {
  let cluster: number;
  const confs = {} as Record<Language, number>;
  const jobs = {} as Record<Language, number>;

  beforeAll(async () => {
    cluster = await createCluster(admin, estate, type.toLowerCase(), {
      cluster_type: type,
      engine_cluster_spark_config: { num_of_workers: 1, max_parallel_spark_job_execution_per_instance: 2 },
      spark_config: CLUSTER_SETTINGS,
    });
    await startCluster(admin, cluster);
    for (const language of languagesOn(type)) {
      const name = `${type}-${language.replace('_', '-')}`.toLowerCase();
      const fields = { job_type: language, ...JOB_SETTINGS, ...PROGRAMS[language] };
      confs[language] = await desk.describe(cluster, name, fields);
      const run = takes[language]?.arguments ? { ...RUN_SETTINGS, arguments: RUN_ARGUMENTS } : RUN_SETTINGS;
      jobs[language] = await desk.submit(confs[language], run);
    }
  });

  afterAll(async () => {
    if (cluster) await destroyCluster(admin, cluster);
  });

  it.each(languagesOn(type))('of type %s has every setting', async (language) => {
    const job = await desk.ended(jobs[language]);
    const log = await desk.log(jobs[language]);
    const printed = (what: string) => new RegExp(`^${what} (.*)$`, 'm').exec(log)?.[1] ?? 'null';
    expect({ status: job.job_status, reason: job.reason }).toMatchObject({ status: 'DONE' });
    expect(job.job_conf).toMatchObject({ ...JOB_SETTINGS, ...PROGRAMS[language] });
    expect(found(JSON.parse(printed('FACTS')) as Facts)).toEqual(expected(type));
    expect(printed('ARGUMENTS')).toBe(takes[language]?.arguments ? 'run|two words' : 'job|two words');
    if (language !== 'Python3') return;
    const sight = ['helped', 'packaged', 'job\n', 'leaf of job\n'];
    expect(JSON.parse(printed('PYTHON'))).toEqual([sight, sight]);
  });
});

describe('a single run', () => {
  it('accepts no arguments if the lookup says so', async () => {
    const refused: string[] = [];
    for (const language of LANGUAGES.filter((name) => !takes[name]?.arguments)) {
      const name = `single-${language.replace('_', '-')}`.toLowerCase();
      const job_conf_id = await desk.describe(plain, name, { job_type: language, ...PROGRAMS[language] });
      const json = { job_conf_id, arguments: 'x' };
      const error = await admin.expectError('POST', `${desk.path}/job`, { json }, 400, 'JOB.FIELD_REFUSED');
      expect(error.details).toMatchObject({ field: 'arguments' });
      refused.push(language);
    }
    expect(refused).toEqual(['RAW_SCALA', 'SQL']);
    // The tests above pass conf to a run of every type.
    expect(LANGUAGES.filter((name) => !takes[name]?.conf)).toEqual([]);
  });
});

describe('a job that fails', () => {
  it.each([
    [
      'text as its application',
      { job_type: 'Jar', command: 'bad/text.jar', class_name: 'app.Main' },
      'NOT_AN_ARCHIVE',
      /^text\.jar is not a jar file.*Upload/,
    ],
    [
      'half a jar as its application',
      { job_type: 'Jar', command: 'bad/half.jar', class_name: 'app.Main' },
      'NOT_AN_ARCHIVE',
      /^half\.jar is not a jar file.*Upload/,
    ],
    [
      'text as a further jar',
      { job_type: 'RAW_SCALA', rawScalaCode: 'println(1)', jars: ['bad/text.jar'] },
      'NOT_AN_ARCHIVE',
      /^text\.jar is not a jar file.*Upload/,
    ],
    [
      'half a zip file as an archive',
      { job_type: 'RAW_SCALA', rawScalaCode: 'println(1)', archives: ['bad/half.zip'] },
      'NOT_AN_ARCHIVE',
      /archives is not a zip file.*Upload/,
    ],
  ])('with %s says what to do', async (what, fields, reason_code, reason) => {
    const half = (await zipOf('job', {})).subarray(0, -30);
    const files = { 'bad/text.jar': 'this is text\n', 'bad/half.jar': half, 'bad/half.zip': half };
    for (const [path, data] of Object.entries(files)) await desk.upload(path, data);
    const job = await desk.complete(plain, what.replaceAll(' ', '-'), fields);
    expect(job).toMatchObject({ job_status: 'ERROR', reason_code, reason: expect.stringMatching(reason) });
  });

  it('in the third statement of its SQL names the statement', async () => {
    const rawScalaCode =
      '-- one; of three\nSELECT 1;\n\n/* two;\n2 */ SELECT 2;\n-- three\nSELECT nowhere;\nSELECT 4;\n';
    const [absent, wrong] = await Promise.all([
      desk.complete(plain, 'sql-absent', { job_type: 'SQL', rawScalaCode }),
      desk.complete(plain, 'sql-wrong', {
        job_type: 'SQL',
        rawScalaCode: rawScalaCode.replace('SELECT nowhere', 'SELEC 3'),
      }),
    ]);
    for (const job of [absent, wrong]) expect(job).toMatchObject({ job_status: 'ERROR', reason_code: 'SQL_ERROR' });
    expect(absent.reason).toMatch(/^Statement 3: .*nowhere/);
    expect(wrong.reason).toMatch(/^Statement 3 \(SELEC 3\): .*'SELEC'/);
  });

  it('because it exceeds job_timeout_min is TERMINATED', async () => {
    const job = await desk.ended(endless);
    expect(job).toMatchObject({ job_status: 'TERMINATED', reason_code: 'TIMEOUT' });
    expect(await desk.log(endless)).toBe('began\n');
    const [begun, ...rest] = await desk.history(endless);
    const lasted = new Date(rest.at(-1)?.from_date).getTime() - new Date(begun?.from_date).getTime();
    expect(lasted).toBeGreaterThanOrEqual(60_000);
  });
});
