import { basename, dirname } from 'node:path';
import type { AcceleratorKind, RunFile, RunSpec } from '../contracts/agent-protocol';
import { acceleratorProperties } from './accelerator';
import { classArchiveOption } from './class-archive';
import { driverPython, pythonOf } from './driver-python';
import { type FileList, fileUri, givenFiles, isPlain } from './file-lists';
import { ivySettings } from './ivy-settings';
import { memoryMb } from './memory-text';
import { metastoreProperties, metastoreVariables, withMetastorePackages } from './metastore-properties';
import { LAST_CLASS_PATH, lastClassPath, mountProperties, propertiesText, REDACTED } from './mounts';
import { whyOwned } from './owned-properties';
import { propertyKeys, propertyValue, withoutProperties } from './properties-text';
import { notesAboutBlanks, redacting, secretProperties, secretVariables } from './run-secrets';
import { bridgeCommand, bridgeFiles, bridgeProgram } from './run-bridges';
import { scalaReplFiles, type GeneratedFile } from './scala-repl';
import { foreignSqlArgument, SQL_ARGUMENTS } from './sql-arguments';
import { SubmitError } from './submit-error';

const REDACTION = 'spark.redaction.regex';
/** The most notes of one kind. The platform owns fewer properties by name, but any number of them by prefix. */
const MAX_NOTES = 20;

const PACKAGES = 'spark.jars.packages';

const DRIVER_MEMORY = 'spark.driver.memory';
const EXECUTOR_MEMORY = 'spark.executor.memory';
/** Heap of driver and executor where nobody names it. */
const SPARK_DEFAULT_MB = 1024;

const ACCELERATOR_NAMES: Readonly<Record<AcceleratorKind, string>> = { turbo: 'turbo', cuda: 'CUDA support' };

const COMPILES_WITH_CLASS_PATH = '-Dscala.usejavacp=true';

/** Where Spark and its runtimes are on a node. */
export interface SparkRuntime {
  sparkHome: string;
  javaHome: string;
  python: string;
  /** Archive of this Spark's classes; null where the node has none. */
  classArchive: string | null;
  /** Folder of the jars by which this Spark reaches object stores; null where the node has none. */
  connectors: string | null;
  /** Folder of the kernel of Scala notebooks; null where the node has none. */
  scalaKernel: string | null;
  /** Jar of each accelerator; null where the node has none. */
  accelerators: Readonly<Record<AcceleratorKind, string | null>>;
}

/** Folders and files of one run on its node; all absolute. */
export interface RunPaths {
  /** Working directory of the driver. */
  work: string;
  /** Its home; holds caches such as Ivy's. */
  home: string;
  events: string;
  local: string;
  tmp: string;
  /** Generated sources and properties. */
  generated: string;
  /** Holds the length of what stdout held before the user's code began; only raw Scala writes it. */
  stdoutBegin: string;
}

/** A process to start: `argv[0]` is the program; `files` are written first. */
export interface SubmitCommand {
  argv: string[];
  env: Record<string, string>;
  stdin: string;
  files: GeneratedFile[];
  /** What of the request does not take effect, and why; a sentence each. */
  notes: string[];
}

/**
 * Says where a file of a run is: the staged path of a fetched file, the URI of any other.
 * @param isLibrary whether it is one whose name nobody looks up, so that it may have another on the node
 */
export type LocateFile = (file: RunFile, isLibrary?: boolean) => string;

/** What a run has on its node besides what it asks for. */
export interface SubmitSetup {
  runtime: SparkRuntime;
  paths: RunPaths;
  /** Environment of the node; that of the run wins. */
  nodeEnv: Record<string, string>;
  /** Texts of the run's properties files, in order. */
  properties: string[];
  locate: LocateFile;
  /** Text of the node's own properties, which Spark reads only where no file is named. */
  sparkDefaults: string;
  /** What the cluster's daemons require of a driver; null if they require nothing, and for runs without a cluster. */
  sparkSecret: string | null;
}

/** Environment of every process of a node: the named runtimes and nothing of the agent's own environment. */
export function baseEnvironment(runtime: SparkRuntime, home: string): Record<string, string> {
  return {
    PATH: [dirname(runtime.python), `${runtime.javaHome}/bin`, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home,
    LANG: 'C.UTF-8',
    JAVA_HOME: runtime.javaHome,
    SPARK_HOME: runtime.sparkHome,
    PYSPARK_PYTHON: runtime.python,
    PYTHONUNBUFFERED: '1',
  };
}

/**
 * The `spark-submit` of a run. The user's properties win over the platform's, except those that are the platform's own.
 * No secret is on its command line, which others on the machine may read. Throws a SubmitError for a run that is impossible.
 */
export function submitCommand(spec: RunSpec, setup: SubmitSetup): SubmitCommand {
  const { runtime, paths, nodeEnv, locate } = setup;
  const files: GeneratedFile[] = [];
  const isOwned = ownedBy(spec);
  const secrets = secretProperties(spec.secrets).filter(([key]) => !isOwned(key));
  const secretKeys = new Set(secrets.map(([key]) => key));
  const lists = fileLists(spec).map((files) => ({ ...files, ...givenFiles(files, locate) }));
  // As the option hides a property of the same meaning, so does the system property.
  const listed = new Set<string>(
    lists.flatMap(({ property, javaOptions }) => (javaOptions.length > 0 ? property : [])),
  );
  const isReplaced = (key: string): boolean => isOwned(key) || secretKeys.has(key) || listed.has(key);
  const conf = spec.conf.filter((entry) => !isReplaced(keyOf(entry))).map((entry) => redactingEntry(entry, secretKeys));
  const properties = setup.properties.map((text) => withoutProperties(text, isReplaced));
  const set = new Set([...properties.flatMap(propertyKeys), ...conf.map(keyOf), ...secretKeys]);
  const argv = [`${runtime.sparkHome}/bin/spark-submit`];
  const option = (name: string, value: string | number | null): void => {
    if (value !== null && value !== '') argv.push(name, String(value));
  };
  const list = (name: string, values: string[]): void => option(name, values.join(','));
  option('--master', spec.master);
  option('--name', spec.name);
  const stores = storeProperties(spec, setup);
  const classPath = classPathSetup(spec, setup);
  const ofRun = { ...nodeEnv, ...spec.env, ...secretVariables(spec.secrets) };
  const own = [
    ...metastoreProperties(spec.metastore, ofRun),
    ...stores,
    ...classPath.properties,
    ...clusterProperties(setup.sparkSecret),
    ...secrets,
  ];
  if (own.length > 0 || properties.length > 0) {
    const path = `${paths.generated}/spark.properties`;
    const ofNode = withoutProperties(setup.sparkDefaults, (key) => isOwned(key) || listed.has(key));
    files.push({ path, content: allProperties(propertiesText(own), properties, ofNode) });
    option('--properties-file', path);
  }
  for (const [key, value] of defaultProperties(spec, setup, set, secretKeys)) argv.push('--conf', `${key}=${value}`);
  for (const entry of conf) argv.push('--conf', entry);
  // Behind the user's, whatever a file among them says in a way that is not recognized.
  const driverMemory = driverMemoryOf(spec, set);
  const heap = heapOfTasks(spec, driverMemory, (key) => propertyOf(key, conf, properties));
  for (const [key, value] of [...ownProperties(spec, setup), ...acceleration(spec, heap)])
    argv.push('--conf', `${key}=${value}`);
  const packages = packagesOf(spec, properties);
  if (packages.length > 0 || set.has(PACKAGES)) {
    const path = `${paths.generated}/ivysettings.xml`;
    files.push({ path, content: ivySettings(spec.maven_repository) });
    argv.push('--conf', `spark.jars.ivySettings=${path}`);
  }
  for (const one of lists) argv.push(...one.argv);
  const libraries = (files: readonly RunFile[]): string[] => files.map((file) => locate(file, true));
  list('--jars', libraries(spec.jars));
  list('--py-files', libraries(spec.py_files));
  list('--packages', packages);
  list('--repositories', spec.repositories);
  option('--driver-memory', driverMemory);
  option('--driver-cores', spec.driver_cores);
  option('--driver-java-options', spec.driver_java_options);
  option('--driver-library-path', spec.driver_library_path);
  option('--driver-class-path', spec.driver_class_path);
  option('--executor-memory', spec.executor_memory);
  const { executorCores, totalCores } = coresOf(spec, set);
  option('--executor-cores', executorCores);
  option('--total-executor-cores', totalCores);
  option('--num-executors', spec.num_executors);
  option('--principal', spec.principal);
  option('--keytab', spec.keytab_file ? locate(spec.keytab_file) : spec.keytab);
  option('--queue', spec.queue);

  // Set here and not by --driver-java-options, which is the user's: spark-submit adds both.
  const javaOptions = [
    ...classArchiveOption(runtime.classArchive),
    `-Djava.io.tmpdir=${paths.tmp}`,
    `-Duser.home=${paths.home}`,
    `-Dderby.system.home=${paths.work}`,
    ...lists.flatMap((one) => one.javaOptions),
  ];
  const read = properties.length > 0 ? properties : [setup.sparkDefaults];
  const python = pythonOf((key) => propertyOf(key, conf, read), { ...baseEnvironment(runtime, paths.home), ...ofRun });
  const program = programOf(spec, setup, argv.slice(1), python);
  if (program.isWhole) argv.splice(0);
  argv.push(...program.argv);
  files.push(...program.files);
  const beside = besideDriver(spec, setup);
  argv.unshift(...beside.argv);
  files.push(...beside.files);
  javaOptions.push(...program.javaOptions);
  const env = {
    ...baseEnvironment(runtime, paths.home),
    SPARK_LOCAL_DIRS: paths.local,
    TMPDIR: paths.tmp,
    ...metastoreVariables(spec.metastore, ofRun),
    ...ofRun,
  };
  const nodeOrRunOptions = spec.env['SPARK_SUBMIT_OPTS'] ?? nodeEnv['SPARK_SUBMIT_OPTS'] ?? '';
  return {
    argv,
    env: {
      ...env,
      ...classPath.env,
      ...program.env,
      SPARK_SUBMIT_OPTS: [...javaOptions, nodeOrRunOptions].join(' ').trim(),
    },
    stdin: program.stdin,
    files,
    notes: notesAbout([...setup.properties.flatMap(propertyKeys), ...spec.conf.map(keyOf)], spec),
  };
}

/** What a run consists of: the end of the command line, and what it needs besides. */
interface Program {
  argv: string[];
  files: GeneratedFile[];
  javaOptions: string[];
  stdin: string;
  env?: Record<string, string>;
  /** Whether it takes the place of `spark-submit` and its options. */
  isWhole?: boolean;
}

/** @param python what the user would have a driver started with */
function programOf(spec: RunSpec, setup: SubmitSetup, options: readonly string[], python: string): Program {
  const { paths } = setup;
  const nothing = { files: [], javaOptions: [], stdin: '' };
  switch (spec.kind) {
    case 'python': {
      const { property, file } = driverPython(python, `${paths.generated}/driver-python`);
      const argv = ['--conf', property, application(spec, setup.locate), ...spec.arguments];
      return { ...nothing, files: [file], argv };
    }
    case 'jar': {
      const main = spec.class_name ? ['--class', spec.class_name] : [];
      return { ...nothing, argv: [...main, application(spec, setup.locate), ...spec.arguments] };
    }
    case 'raw-scala': {
      const places = { dir: `${paths.generated}/scala`, beginFile: paths.stdoutBegin };
      const { files, script } = scalaReplFiles(code(spec), spec.arguments, places);
      return {
        files,
        javaOptions: [COMPILES_WITH_CLASS_PATH],
        argv: ['--class', 'org.apache.spark.repl.Main', 'spark-shell', '-i', script],
        // Read only when the driver script itself could not run; without it the interpreter would end with 0.
        stdin: 'java.lang.System.exit(1)\n',
      };
    }
    case 'sql': {
      const path = `${paths.generated}/query.sql`;
      assertSqlArguments(spec.arguments);
      const { program, files } = bridgeFiles('sql_job.py', paths.generated);
      // The user's own Python may lack what the program imports.
      const python = ['--conf', `spark.pyspark.driver.python=${setup.runtime.python}`];
      return {
        ...nothing,
        files: [...files, { path, content: code(spec) }],
        argv: [...python, program, path, ...spec.arguments],
      };
    }
    case 'function':
      return functionProgram(spec, setup, options);
    case 'thrift':
      return thriftProgram(spec, setup, options);
    case 'notebook':
      return kernelProgram(spec, setup, options);
  }
}

/** Text of the one file that Spark reads. Where the user names a file, Spark leaves the node's defaults out, and so does this. */
function allProperties(own: string, ofUser: readonly string[], ofNode: string): string {
  const texts = ofUser.length > 0 ? [own, ...ofUser] : [ofNode, own];
  return `${texts.filter((text) => text !== '').join('\n')}\n`;
}

function keyOf(entry: string): string {
  return entry.split('=', 1)[0]?.trim() ?? '';
}

function ownedBy({ accelerator }: RunSpec): (key: string) => boolean {
  return (key) => whyOwned(key, accelerator?.kind) !== null;
}

/** The last value that the user gives a property by an entry or else in a file; null if none. */
function propertyOf(key: string, conf: readonly string[], properties: readonly string[]): string | null {
  const entry = conf.findLast((one) => keyOf(one) === key);
  return entry ? entry.slice(entry.indexOf('=') + 1) : propertyValue(properties.join('\n'), key);
}

/** The option hides the property of the same meaning, so it has what a user gives that where the metastore adds to it. */
function packagesOf({ packages, conf, metastore }: RunSpec, properties: readonly string[]): string[] {
  const all = withMetastorePackages(metastore, packages);
  if (packages.length > 0 || all.length === 0) return all;
  const named = (propertyOf(PACKAGES, conf, properties) ?? '').split(',').map((name) => name.trim());
  return withMetastorePackages(
    metastore,
    named.filter((name) => name !== ''),
  );
}

/** Notes for the user about properties that are ignored and secrets that Spark changes. */
function notesAbout(keys: readonly string[], spec: RunSpec): string[] {
  const owned = [...new Set(keys)].filter(ownedBy(spec)).slice(0, MAX_NOTES);
  const ignored = owned.map((key) => `The Spark property ${key} is ignored: ${whyOwned(key, spec.accelerator?.kind)}.`);
  return [...ignored, ...notesAboutBlanks(spec.secrets).slice(0, MAX_NOTES)];
}

/** The properties by which a run can use its mounts. */
function storeProperties(spec: RunSpec, { runtime: { connectors }, paths: { work } }: SubmitSetup): [string, string][] {
  if (spec.mounts.length === 0) return [];
  if (connectors === null)
    throw new SubmitError('The run has mounts, but this node has no connectors to object stores.');
  const around = spec.mounts.find(({ mount_point: point }) => `${work}/`.startsWith(`${point}/`));
  // Relative paths would lead into the store.
  if (around) throw new SubmitError(`The mount point ${around.mount_point} would hide the node's own folder ${work}.`);
  return mountProperties(spec.mounts);
}

/** What driver and executors find behind Spark's own jars, which the class archive holds for (ADR 0007). */
function classPathSetup(
  { mounts, metastore, accelerator, env }: RunSpec,
  { runtime: { connectors, accelerators }, nodeEnv }: SubmitSetup,
): { properties: [string, string][]; env: Record<string, string> } {
  const usesStores = mounts.length > 0 || metastore !== undefined;
  const jar = accelerator ? accelerators[accelerator.kind] : null;
  if (accelerator && jar === null)
    throw new SubmitError(`The cluster has ${ACCELERATOR_NAMES[accelerator.kind]}, but this node has no jar of it.`);
  const entries = [usesStores && connectors !== null ? `${connectors}/*` : null, jar].filter((entry) => entry !== null);
  if (entries.length === 0) return { properties: [], env: {} };
  const classPath = lastClassPath(entries, { ...nodeEnv, ...env });
  return {
    properties: [[`spark.executorEnv.${LAST_CLASS_PATH}`, classPath]],
    env: { [LAST_CLASS_PATH]: classPath },
  };
}

/** What the accelerator of a run needs, whatever the user sets. */
function acceleration({ accelerator, master }: RunSpec, heap: string | null): [string, string][] {
  if (!accelerator) return [];
  const isLocal = !master.startsWith('spark://');
  return acceleratorProperties(accelerator, { isLocal, heapMb: memoryMb(heap ?? '') ?? SPARK_DEFAULT_MB });
}

/** The option for the driver's heap; null where a property of the user, which it would hide, is to count. */
function driverMemoryOf(spec: RunSpec, set: ReadonlySet<string>): string | null {
  return spec.driver_memory_is_default && set.has(DRIVER_MEMORY) ? null : spec.driver_memory;
}

/** Heap of the processes that tasks run in, as it is named; null where nobody names it. */
function heapOfTasks(
  { master, executor_memory: executorMemory }: RunSpec,
  driverMemory: string | null,
  property: (key: string) => string | null,
): string | null {
  return master.startsWith('spark://')
    ? (executorMemory ?? property(EXECUTOR_MEMORY))
    : (driverMemory ?? property(DRIVER_MEMORY));
}

/**
 * Cores of each executor and of all. A standalone cluster knows no number of executors: it makes executors of so many cores
 * until all cores that the application may have are used.
 */
function coresOf(spec: RunSpec, set: ReadonlySet<string>): { executorCores: number | null; totalCores: number | null } {
  const { executor_cores: executorCores, total_executor_cores: totalCores, num_executors: executors } = spec;
  const isTold = totalCores !== null || set.has('spark.cores.max') || set.has('spark.executor.cores');
  if (executors === null || isTold || !spec.master.startsWith('spark://')) return { executorCores, totalCores };
  const cores = executorCores ?? 1;
  return { executorCores: cores, totalCores: executors * cores };
}

function assertSqlArguments(words: readonly string[]): void {
  const foreign = foreignSqlArgument(words);
  if (foreign === null) return;
  throw new SubmitError(`A SQL job does not take the argument ${foreign}. It takes ${SQL_ARGUMENTS}.`);
}

/** A user's own pattern of what Spark tells nobody has the properties with secrets, too. */
function redactingEntry(entry: string, secretKeys: ReadonlySet<string>): string {
  return keyOf(entry) === REDACTION ? redacting(entry, secretKeys) : entry;
}

/** What executors of a worker that is to go hold, others take over: then nothing has to be computed again. */
const DECOMMISSION: readonly [string, string][] = [
  ['spark.decommission.enabled', 'true'],
  ['spark.storage.decommission.enabled', 'true'],
  ['spark.storage.decommission.shuffleBlocks.enabled', 'true'],
  ['spark.storage.decommission.rddBlocks.enabled', 'true'],
  // Executors end after two rounds; by default the second one comes half a minute later.
  ['spark.storage.decommission.replicationReattemptInterval', '2s'],
];

/** What the platform sets unless the user does; `set` are the keys that the user sets. */
function defaultProperties(
  { master }: RunSpec,
  { runtime, paths }: SubmitSetup,
  set: ReadonlySet<string>,
  secretKeys: ReadonlySet<string>,
): [string, string][] {
  const defaults: [string, string][] = [
    // Whoever reaches the machine could look at the job, and end its stages.
    ['spark.ui.enabled', 'false'],
    ['spark.ui.showConsoleProgress', 'false'],
    ['spark.jars.ivy', `${paths.home}/.ivy2`],
    // The event log is for everybody who may see the job.
    [REDACTION, redacting(REDACTED, secretKeys)],
    // Else the peaks of short tasks are unknown.
    ['spark.executor.metrics.pollingInterval', '1s'],
  ];
  if (master.startsWith('spark://')) defaults.push(...DECOMMISSION);
  const archive = classArchiveOption(runtime.classArchive);
  if (archive.length > 0) defaults.push(['spark.executor.defaultJavaOptions', archive.join(' ')]);
  return defaults.filter(([key]) => !set.has(key));
}

/** What the platform sets whatever the user does. */
function ownProperties({ master }: RunSpec, { paths, sparkSecret }: SubmitSetup): [string, string][] {
  // A driver in local mode makes up its own secret; daemons started without one know nothing of it.
  const authenticates = sparkSecret !== null || !master.startsWith('spark://');
  return [
    ['spark.authenticate', String(authenticates)],
    // The agent learns the application id from the log's name, and sends it as it is: one file of plain lines.
    ['spark.eventLog.enabled', 'true'],
    ['spark.eventLog.dir', `file://${paths.events}`],
    ['spark.eventLog.rolling.enabled', 'false'],
    ['spark.eventLog.compress', 'false'],
    // Else what many small tasks did shows late.
    ['spark.eventLog.buffer.kb', '8k'],
    ['spark.eventLog.logStageExecutorMetrics', 'true'],
  ];
}

/** How a driver and the daemons of its cluster authenticate, and encrypt what they say. */
function clusterProperties(sparkSecret: string | null): [string, string][] {
  if (sparkSecret === null) return [];
  return [
    ['spark.authenticate.secret', sparkSecret],
    ['spark.network.crypto.enabled', 'true'],
  ];
}

/**
 * The command that puts fetched files and archives into the working directory before the run begins. Spark does that for
 * executors only: in local mode there are none, and an archive may hold the Python of the driver.
 */
function besideDriver(
  { files, archives }: RunSpec,
  { runtime, paths: { generated }, locate }: SubmitSetup,
): { argv: string[]; files: GeneratedFile[] } {
  const placed = (list: readonly RunFile[]): [string, string][] =>
    list.flatMap((file) => {
      if (file.kind !== 'fetched') return [];
      const path = locate(file);
      const name = file.alias ?? basename(path);
      return /^\.{0,2}$|\//.test(name) ? [] : [[path, name]];
    });
  const content = { files: placed(files), archives: placed(archives) };
  if (content.files.length + content.archives.length === 0) return { argv: [], files: [] };
  const program = bridgeProgram('beside_driver.py', generated);
  const description = `${generated}/beside-driver.json`;
  return {
    // Whatever the run sets for its own Python is none of this one's business.
    argv: [runtime.python, '-I', '-S', program.path, description],
    files: [program, { path: description, content: JSON.stringify(content) }],
  };
}

function functionProgram(spec: RunSpec, setup: SubmitSetup, options: readonly string[]): Program {
  const { function: served } = spec;
  if (!served) throw new SubmitError('A function run needs a function.');
  const { paths, locate } = setup;
  const [description, requirements] = [`${paths.generated}/function.json`, `${paths.generated}/requirements.txt`];
  const files: GeneratedFile[] = [];
  if (served.requirements !== null) files.push({ path: requirements, content: served.requirements });
  const given = served.requirements_file ? locate(served.requirements_file) : null;
  const content = JSON.stringify({
    archive: locate(served.project),
    script: served.script,
    function: served.name,
    requirements: given ?? (served.requirements === null ? null : requirements),
    max_request_concurrency: served.max_request_concurrency,
    idle_timeout_sec: served.idle_timeout_sec,
  });
  const bridge = bridgeCommand(['function_bridge.py', description], options, setup);
  return {
    ...bridge,
    files: [...bridge.files, ...files, { path: description, content }],
    javaOptions: [],
    stdin: '',
    isWhole: true,
  };
}

function thriftProgram(spec: RunSpec, setup: SubmitSetup, options: readonly string[]): Program {
  const description = `${setup.paths.generated}/thrift.json`;
  const content = JSON.stringify({ idle_timeout_sec: spec.sql_idle_timeout_sec ?? null });
  // In front of the user's: the tables of its sessions are those of a metastore, if only of the run's own.
  const withTables = ['--conf', 'spark.sql.catalogImplementation=hive', ...options];
  const bridge = bridgeCommand(['thrift_bridge.py', description], withTables, setup);
  return {
    ...bridge,
    files: [...bridge.files, { path: description, content }],
    javaOptions: [],
    stdin: '',
    isWhole: true,
  };
}

function kernelProgram({ kernel }: RunSpec, setup: SubmitSetup, options: readonly string[]): Program {
  if (!kernel) throw new SubmitError('A notebook run needs the language of its kernel.');
  const program = { javaOptions: [], stdin: '', isWhole: true };
  const { language } = kernel;
  if (language !== 'scala') return { ...program, ...bridgeCommand(['kernel_bridge.py', language], options, setup) };
  const { scalaKernel } = setup.runtime;
  if (scalaKernel === null) throw new SubmitError('The notebook is in Scala, but this node has no kernel for Scala.');
  return {
    ...program,
    ...bridgeCommand(['kernel_bridge.py', language, scalaKernel], options, setup),
    javaOptions: [COMPILES_WITH_CLASS_PATH],
  };
}

function fileLists({ files, archives }: RunSpec): FileList[] {
  return [
    { property: 'spark.files', option: '--files', files },
    { property: 'spark.archives', option: '--archives', files: archives },
  ];
}

function application(spec: RunSpec, locate: LocateFile): string {
  const { application: file } = spec;
  if (file) {
    const at = locate(file);
    return file.kind === 'uri' || isPlain(at) ? at : fileUri(at);
  }
  throw new SubmitError(`A ${spec.kind} run needs an application file.`);
}

function code(spec: RunSpec): string {
  if (spec.code !== null) return spec.code;
  throw new SubmitError(`A ${spec.kind} run needs source text.`);
}
