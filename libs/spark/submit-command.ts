import { basename, dirname } from 'node:path';
import { type AcceleratorKind, INTERACTIVE_KINDS, type RunFile, type RunSpec } from '../contracts/agent-protocol';
import { acceleratorProperties } from './accelerator';
import { classArchiveOptions } from './class-archive';
import { DRIVER_MEMORY, submitProgram, withoutLauncher } from './driver-java';
import { DRIVER_PYTHON, driverPython, driverPythonPath, pythonOf, warmPython } from './driver-python';
import { type FileList, fileUri, fileArguments, isPlain } from './file-lists';
import { ivySettings } from './ivy-settings';
import { heapMb, memoryMb } from './memory-text';
import { metastoreProperties, metastoreVariables, withMetastorePackages } from './metastore-properties';
import { LAST_CLASS_PATH, lastClassPath, mountProperties, propertiesText, REDACTED } from './mounts';
import { whyOwned } from './owned-properties';
import { propertyKeys, propertyValue, withoutProperties } from './properties-text';
import { notesAboutBlanks, redacting, secretProperties, secretVariables } from './run-secrets';
import { bridgeCommand, bridgeFiles, bridgeProgram, bridgeSubmit } from './run-bridges';
import { scalaReplFiles, type GeneratedFile } from './scala-repl';
import { foreignSqlArgument, SQL_ARGUMENTS } from './sql-arguments';
import { SubmitError } from './submit-error';

const REDACTION = 'spark.redaction.regex';
/** Maximum number of notes of one kind. The platform owns any number of properties by prefix. */
const MAX_NOTES = 20;

const PACKAGES = 'spark.jars.packages';

const EXECUTOR_MEMORY = 'spark.executor.memory';
const OFF_HEAP_SIZE = 'spark.memory.offHeap.size';
/** Heap of driver and executor if it is not set. */
const SPARK_DEFAULT_MB = 1024;

const ACCELERATOR_NAMES: Readonly<Record<AcceleratorKind, string>> = { turbo: 'turbo', cuda: 'CUDA support' };

const COMPILES_WITH_CLASS_PATH = '-Dscala.usejavacp=true';

/** The locations of Spark and its runtimes on a node. */
export interface SparkRuntime {
  sparkHome: string;
  /** Version of that Spark, such as 3.5.9. */
  sparkVersion: string;
  javaHome: string;
  python: string;
  /** Archive of this Spark's classes; null if the node has none. */
  classArchive: string | null;
  /** Folder of the jars that connect this Spark to object stores; null if the node has none. */
  connectors: string | null;
  /** Folder of the kernel of Scala notebooks; null if the node has none. */
  scalaKernel: string | null;
  /** Jar of each accelerator; null if the node has none. */
  accelerators: Readonly<Record<AcceleratorKind, string | null>>;
}

/** Absolute paths of one run's folders and files on its node. */
export interface RunPaths {
  /** Working directory of the driver. */
  work: string;
  /** Home of the driver, with caches such as Ivy's. */
  home: string;
  events: string;
  local: string;
  tmp: string;
  /** Generated sources and properties. */
  generated: string;
  /** File with the length of the stdout that precedes the user's own output. Only raw Scala writes it. */
  stdoutBegin: string;
}

/** A process to start. `argv[0]` is the program; `files` are written first. */
export interface SubmitCommand {
  argv: string[];
  env: Record<string, string>;
  stdin: string;
  files: GeneratedFile[];
  /** One sentence for each part of the request that has no effect, with the reason. */
  notes: string[];
  /** Memory that the driver requests: its heap, and what an accelerator has beside it in the same process; MiB. */
  requestedMemoryMb: number;
  /** Turns a driver that already runs into this run; absent if the command is not a `spark-submit`. */
  handover?: Handover;
}

/** A `spark-submit` without the JVM. */
export interface Handover {
  /** The arguments of `spark-submit`. */
  arguments: string[];
  /** A program that runs first; empty if there is none. */
  before: string[];
  /** Options of the JVM that are only its system properties. */
  javaOptions: string[];
  /** True if Spark runs as a shell, whose log has only warnings. */
  isShell: boolean;
}

/**
 * Returns the location of a run's file: the staged path of a fetched file, the URI of any other.
 * @param isLibrary true for a file that no code looks up by name, so that its name on the node may differ
 */
export type LocateFile = (file: RunFile, isLibrary?: boolean) => string;

/** The node's side of a run: everything that the run's specification does not contain. */
export interface SubmitSetup {
  runtime: SparkRuntime;
  paths: RunPaths;
  /** Environment of the node. The run's environment wins. */
  nodeEnv: Record<string, string>;
  /** Texts of the run's properties files, in order. */
  properties: string[];
  locate: LocateFile;
  /** Text of the node's own properties, which Spark reads only if the run names no properties file. */
  sparkDefaults: string;
  /** Secret that the cluster's daemons require of a driver; null if they require none, and for runs without a cluster. */
  sparkSecret: string | null;
  /** True if the driver already runs, and with it a Python to fork. */
  isWarm?: boolean;
}

/** Returns the environment of every process of a node: the named runtimes and nothing of the agent's own environment. */
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
 * Returns the `spark-submit` of a run, or the JVM that it would start. The user's properties win over the platform's, except for those that only the platform sets.
 * Its command line contains no secrets because others on the machine can read it. Throws a SubmitError for an invalid run.
 */
export function submitCommand(spec: RunSpec, setup: SubmitSetup): SubmitCommand {
  const { runtime, paths, nodeEnv, locate } = setup;
  const files: GeneratedFile[] = [];
  const isOwned = ownedBy(spec);
  const secrets = secretProperties(spec.secrets).filter(([key]) => !isOwned(key));
  const secretKeys = new Set(secrets.map(([key]) => key));
  const lists = fileLists(spec).map((files) => ({ ...files, ...fileArguments(files, locate) }));
  // The system property hides a property of the same meaning, as the option does.
  const listed = new Set<string>(
    lists.flatMap(({ property, javaOptions }) => (javaOptions.length > 0 ? property : [])),
  );
  const isReplaced = (key: string): boolean => isOwned(key) || secretKeys.has(key) || listed.has(key);
  const conf = spec.conf
    .filter((entry) => !isReplaced(propertyKey(entry)))
    .map((entry) => redactingEntry(entry, secretKeys));
  const properties = setup.properties.map((text) => withoutProperties(text, isReplaced));
  const set = new Set([...properties.flatMap(propertyKeys), ...conf.map(propertyKey), ...secretKeys]);
  const argv = [`${runtime.sparkHome}/bin/spark-submit`];
  const option = (name: string, value: string | number | null): void => {
    if (value !== null && value !== '') argv.push(name, String(value));
  };
  const list = (name: string, values: string[]): void => option(name, values.join(','));
  option('--master', spec.master);
  option('--name', spec.name);
  const stores = storeProperties(spec, setup);
  const classPath = classPathSetup(spec, setup);
  const runEnv = { ...nodeEnv, ...spec.env, ...secretVariables(spec.secrets) };
  const own = [
    ...metastoreProperties(spec.metastore, runEnv),
    ...stores,
    ...classPath.properties,
    ...clusterProperties(setup.sparkSecret),
    ...secrets,
  ];
  let propertiesOfFile = setup.sparkDefaults;
  if (own.length > 0 || properties.length > 0) {
    const path = `${paths.generated}/spark.properties`;
    const nodeDefaults = withoutProperties(setup.sparkDefaults, (key) => isOwned(key) || listed.has(key));
    propertiesOfFile = allProperties(propertiesText(own), properties, nodeDefaults);
    files.push({ path, content: propertiesOfFile });
    option('--properties-file', path);
  }
  for (const [key, value] of defaultProperties(spec, setup, set, secretKeys)) argv.push('--conf', `${key}=${value}`);
  for (const entry of conf) argv.push('--conf', entry);
  // These follow the user's, so they win even over a properties file whose syntax is not recognized here.
  const driverMemory = driverMemoryOf(spec, set);
  const heap = heapOfTasks(spec, driverMemory, (key) => propertyOf(key, conf, properties));
  const accelerated = acceleration(spec, heap);
  for (const [key, value] of [...ownProperties(spec, setup), ...accelerated]) argv.push('--conf', `${key}=${value}`);
  const packages = packagesOf(spec, properties, runtime.sparkVersion);
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

  // Set here because --driver-java-options belongs to the user. spark-submit combines both.
  const read = properties.length > 0 ? properties : [setup.sparkDefaults];
  const python = pythonOf((key) => propertyOf(key, conf, read), { ...baseEnvironment(runtime, paths.home), ...runEnv });
  const program = programOf(spec, setup, argv.slice(1), python);
  argv.splice(0, argv.length, ...withProgram(argv, program));
  files.push(...program.files);
  const beside = besideDriver(spec, setup);
  files.push(...beside.files);
  const runOptions = [...lists.flatMap((one) => one.javaOptions), ...program.javaOptions];
  const handover: Handover = {
    arguments: argv.slice(1),
    before: beside.argv,
    javaOptions: runOptions,
    isShell: isShell(spec),
  };
  argv.unshift(...beside.argv);
  const javaOptions = [...driverJavaOptions(runtime, paths), ...runOptions];
  const env = {
    ...driverEnvironment(runtime, paths),
    ...metastoreVariables(spec.metastore, runEnv),
    ...runEnv,
  };
  const nodeOrRunOptions = spec.env['SPARK_SUBMIT_OPTS'] ?? nodeEnv['SPARK_SUBMIT_OPTS'] ?? '';
  const command: SubmitCommand = {
    argv,
    env: {
      ...env,
      ...classPath.env,
      ...program.env,
      SPARK_SUBMIT_OPTS: [...javaOptions, nodeOrRunOptions].join(' ').trim(),
    },
    stdin: program.stdin,
    files,
    notes: notesAbout([...setup.properties.flatMap(propertyKeys), ...spec.conf.map(propertyKey)], spec),
    requestedMemoryMb: requestedMemoryMb(
      spec,
      driverMemory ?? propertyOf(DRIVER_MEMORY, conf, properties),
      accelerated,
    ),
    ...(program.submitOptions ? {} : { handover }),
  };
  files.push(...submitFiles(program, setup, command.env, propertiesOfFile));
  return withoutLauncher(command, runtime.sparkHome, paths.work, propertiesOfFile);
}

/** Returns the environment of every driver. That of its node and of its run wins. */
export function driverEnvironment(runtime: SparkRuntime, { home, local, tmp }: RunPaths): Record<string, string> {
  return { ...baseEnvironment(runtime, home), SPARK_LOCAL_DIRS: local, TMPDIR: tmp };
}

/** Returns the options of every driver's JVM. */
export function driverJavaOptions({ classArchive }: SparkRuntime, { tmp, home, work }: RunPaths): string[] {
  return [
    ...classArchiveOptions(classArchive),
    `-Djava.io.tmpdir=${tmp}`,
    `-Duser.home=${home}`,
    `-Dderby.system.home=${work}`,
  ];
}

/** The end of the command line, and what the program needs besides. */
interface Program {
  argv: string[];
  /** Options of `spark-submit` that precede the user's, which win. */
  first?: string[];
  files: GeneratedFile[];
  javaOptions: string[];
  stdin: string;
  env?: Record<string, string>;
  /** The options with which it calls `spark-submit`, if it replaces the command. */
  submitOptions?: readonly string[];
}

/** @param python the Python that the user's settings select for a driver */
function programOf(spec: RunSpec, setup: SubmitSetup, options: readonly string[], python: string): Program {
  const { paths } = setup;
  const nothing = { files: [], javaOptions: [], stdin: '' };
  switch (spec.kind) {
    case 'python': {
      if (setup.isWarm && python === setup.runtime.python)
        return {
          ...nothing,
          argv: ['--conf', `${DRIVER_PYTHON}=${warmPython(paths)}`, application(spec, setup.locate), ...spec.arguments],
        };
      const { property, file } = driverPython(python, driverPythonPath(paths));
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
        // Read only if the driver script itself could not run. Without it the interpreter would exit with 0.
        stdin: 'java.lang.System.exit(1)\n',
      };
    }
    case 'sql': {
      const path = `${paths.generated}/query.sql`;
      assertSqlArguments(spec.arguments);
      const { program, files } = bridgeFiles('sql_job.py', paths.generated);
      // The user's own Python may lack what the program imports.
      const sqlPython = setup.isWarm ? warmPython(paths, 'merged') : setup.runtime.python;
      return {
        ...nothing,
        files: [...files, { path, content: code(spec) }],
        argv: ['--conf', `${DRIVER_PYTHON}=${sqlPython}`, program, path, ...spec.arguments],
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

/** Returns a whole command line from that of `spark-submit` with its options. */
function withProgram(
  [submit = '', ...options]: readonly string[],
  { submitOptions, first = [], argv }: Program,
): string[] {
  return submitOptions ? argv : [submit, ...first, ...options, ...argv];
}

/** Returns the program that replaces `spark-submit` where the run's own program calls it. */
function submitFiles(
  { submitOptions }: Program,
  { runtime: { sparkHome }, paths: { work, generated } }: SubmitSetup,
  env: Record<string, string>,
  properties: string,
): GeneratedFile[] {
  const content = submitOptions ? submitProgram(sparkHome, work, env, submitOptions, properties) : null;
  return content === null ? [] : [bridgeSubmit(generated, content)];
}

function isShell({ kind }: RunSpec): boolean {
  return kind === 'raw-scala' || INTERACTIVE_KINDS.includes(kind);
}

/** Returns the text of the one file that Spark reads. If the user names a file, Spark skips the node's defaults, and so does this. */
function allProperties(own: string, userTexts: readonly string[], nodeDefaults: string): string {
  const texts = userTexts.length > 0 ? [own, ...userTexts] : [nodeDefaults, own];
  return `${texts.filter((text) => text !== '').join('\n')}\n`;
}

/** Returns the key of an entry `key=value`. */
export function propertyKey(entry: string): string {
  return entry.split('=', 1)[0]?.trim() ?? '';
}

function ownedBy({ accelerator }: RunSpec): (key: string) => boolean {
  return (key) => whyOwned(key, accelerator?.kind) !== null;
}

/** Returns the user's value of a property: the last `--conf` entry, or else the last in a file; null if it is not set. */
function propertyOf(key: string, conf: readonly string[], properties: readonly string[]): string | null {
  const entry = conf.findLast((one) => propertyKey(one) === key);
  return entry ? entry.slice(entry.indexOf('=') + 1) : propertyValue(properties.join('\n'), key);
}

/** `--packages` hides the property of the same meaning, so if the metastore adds packages, the option includes the property's. */
function packagesOf(
  { packages, conf, metastore }: RunSpec,
  properties: readonly string[],
  sparkVersion: string,
): string[] {
  const all = withMetastorePackages(metastore, packages, sparkVersion);
  if (packages.length > 0 || all.length === 0) return all;
  const named = (propertyOf(PACKAGES, conf, properties) ?? '').split(',').map((name) => name.trim());
  return withMetastorePackages(
    metastore,
    named.filter((name) => name !== ''),
    sparkVersion,
  );
}

/** Returns notes for the user about properties that are ignored and secrets that Spark changes. */
function notesAbout(keys: readonly string[], spec: RunSpec): string[] {
  const owned = [...new Set(keys)].filter(ownedBy(spec)).slice(0, MAX_NOTES);
  const ignored = owned.map((key) => `The Spark property ${key} is ignored: ${whyOwned(key, spec.accelerator?.kind)}.`);
  return [...ignored, ...notesAboutBlanks(spec.secrets).slice(0, MAX_NOTES)];
}

/** Returns the properties with which a run can use its mounts. */
function storeProperties(spec: RunSpec, { runtime: { connectors }, paths: { work } }: SubmitSetup): [string, string][] {
  if (spec.mounts.length === 0) return [];
  if (connectors === null)
    throw new SubmitError('The run has mounts, but this node has no connectors to object stores.');
  const around = spec.mounts.find(({ mount_point: point }) => `${work}/`.startsWith(`${point}/`));
  // Relative paths would lead into the store.
  if (around) throw new SubmitError(`The mount point ${around.mount_point} would hide the run's working directory.`);
  return mountProperties(spec.mounts);
}

/** Appends jars to the class path of driver and executors, after Spark's own, which the class archive covers (ADR 0007). */
function classPathSetup(
  spec: RunSpec,
  setup: Pick<SubmitSetup, 'runtime' | 'nodeEnv'>,
): { properties: [string, string][]; env: Record<string, string> } {
  const { accelerator } = spec;
  if (accelerator && setup.runtime.accelerators[accelerator.kind] === null)
    throw new SubmitError(`The cluster has ${ACCELERATOR_NAMES[accelerator.kind]}, but this node has no jar for it.`);
  const classPath = addedClassPath(spec, setup);
  if (classPath === null) return { properties: [], env: {} };
  return {
    properties: [[`spark.executorEnv.${LAST_CLASS_PATH}`, classPath]],
    env: { [LAST_CLASS_PATH]: classPath },
  };
}

/** Returns what follows Spark's own class path in a run; null if the platform adds nothing. */
export function addedClassPath(
  { mounts, metastore, accelerator, env }: RunSpec,
  { runtime: { connectors, accelerators }, nodeEnv }: Pick<SubmitSetup, 'runtime' | 'nodeEnv'>,
): string | null {
  const usesStores = mounts.length > 0 || metastore !== undefined;
  const jar = accelerator ? accelerators[accelerator.kind] : null;
  const entries = [usesStores && connectors !== null ? `${connectors}/*` : null, jar].filter((entry) => entry !== null);
  return entries.length === 0 ? null : lastClassPath(entries, { ...nodeEnv, ...env });
}

/** Returns the properties that a run's accelerator needs, whatever the user sets. */
function acceleration({ accelerator, master }: RunSpec, heap: string | null): [string, string][] {
  if (!accelerator) return [];
  const isLocal = !master.startsWith('spark://');
  return acceleratorProperties(accelerator, { isLocal, heapMb: memoryMb(heap ?? '') ?? SPARK_DEFAULT_MB });
}

/** Returns the value of `--driver-memory`; null if the user set the property, which the option would hide. */
function driverMemoryOf(spec: RunSpec, set: ReadonlySet<string>): string | null {
  return spec.driver_memory_is_default && set.has(DRIVER_MEMORY) ? null : spec.driver_memory;
}

/** Returns the configured heap of the processes that tasks run in; null if it is not set. */
function heapOfTasks(
  { master, executor_memory: executorMemory }: RunSpec,
  driverMemory: string | null,
  property: (key: string) => string | null,
): string | null {
  return master.startsWith('spark://')
    ? (executorMemory ?? property(EXECUTOR_MEMORY))
    : (driverMemory ?? property(DRIVER_MEMORY));
}

/** Returns the memory of a driver with this heap. The off-heap memory of a cluster's accelerator is that of executors. */
function requestedMemoryMb({ master }: RunSpec, heap: string | null, accelerated: readonly [string, string][]): number {
  const offHeap = accelerated.find(([key]) => key === OFF_HEAP_SIZE)?.[1];
  const besideHeap = master.startsWith('spark://') ? 0 : (memoryMb(offHeap ?? '') ?? 0);
  return (heapMb(heap ?? '') ?? SPARK_DEFAULT_MB) + besideHeap;
}

/**
 * Returns the cores of each executor and of all. A standalone cluster has no setting for the number of executors: it starts executors
 * until the application's total number of cores is used.
 */
function coresOf(spec: RunSpec, set: ReadonlySet<string>): { executorCores: number | null; totalCores: number | null } {
  const { executor_cores: executorCores, total_executor_cores: totalCores, num_executors: executors } = spec;
  const isLimited = totalCores !== null || set.has('spark.cores.max') || set.has('spark.executor.cores');
  if (executors === null || isLimited || !spec.master.startsWith('spark://')) return { executorCores, totalCores };
  const cores = executorCores ?? 1;
  return { executorCores: cores, totalCores: executors * cores };
}

function assertSqlArguments(words: readonly string[]): void {
  const foreign = foreignSqlArgument(words);
  if (foreign === null) return;
  throw new SubmitError(`A SQL job does not take the argument ${foreign}. It takes ${SQL_ARGUMENTS}.`);
}

/** Extends the user's own redaction pattern by the properties with secrets. */
function redactingEntry(entry: string, secretKeys: ReadonlySet<string>): string {
  return propertyKey(entry) === REDACTION ? redacting(entry, secretKeys) : entry;
}

/** Before a worker ends, its executors move their blocks to others, so that nothing has to be computed again. */
const DECOMMISSION: readonly [string, string][] = [
  ['spark.decommission.enabled', 'true'],
  ['spark.storage.decommission.enabled', 'true'],
  ['spark.storage.decommission.shuffleBlocks.enabled', 'true'],
  ['spark.storage.decommission.rddBlocks.enabled', 'true'],
  // Executors end after two rounds; by default the second one starts half a minute later.
  ['spark.storage.decommission.replicationReattemptInterval', '2s'],
];

/** Returns the platform's defaults for properties that the user does not set. `set` holds the keys that the user sets. */
function defaultProperties(
  { master }: RunSpec,
  { runtime, paths }: SubmitSetup,
  set: ReadonlySet<string>,
  secretKeys: ReadonlySet<string>,
): [string, string][] {
  const defaults: [string, string][] = [
    // Anyone who can reach the machine could look at the job, and end its stages.
    ['spark.ui.enabled', 'false'],
    ['spark.ui.showConsoleProgress', 'false'],
    ['spark.jars.ivy', `${paths.home}/.ivy2`],
    // Everyone who may see the job can read its event log.
    [REDACTION, redacting(REDACTED, secretKeys)],
    // With a longer interval the peaks of short tasks stay unknown.
    ['spark.executor.metrics.pollingInterval', '1s'],
  ];
  if (master.startsWith('spark://')) defaults.push(...DECOMMISSION);
  const archive = classArchiveOptions(runtime.classArchive);
  if (archive.length > 0) defaults.push(['spark.executor.defaultJavaOptions', archive.join(' ')]);
  return defaults.filter(([key]) => !set.has(key));
}

/** Returns the properties that the platform sets whatever the user does. */
function ownProperties({ master }: RunSpec, { paths, sparkSecret }: SubmitSetup): [string, string][] {
  // A driver in local mode generates its own secret; daemons started without one do not know it.
  const authenticates = sparkSecret !== null || !master.startsWith('spark://');
  return [
    ['spark.authenticate', String(authenticates)],
    // The agent learns the application id from the log's name, and ships the log as it is: one file of plain lines.
    ['spark.eventLog.enabled', 'true'],
    ['spark.eventLog.dir', `file://${paths.events}`],
    ['spark.eventLog.rolling.enabled', 'false'],
    ['spark.eventLog.compress', 'false'],
    // With a larger buffer the work of many small tasks shows late.
    ['spark.eventLog.buffer.kb', '8k'],
    ['spark.eventLog.logStageExecutorMetrics', 'true'],
  ];
}

/** Makes the driver and the daemons of its cluster authenticate each other and encrypt their traffic. */
function clusterProperties(sparkSecret: string | null): [string, string][] {
  if (sparkSecret === null) return [];
  return [
    ['spark.authenticate.secret', sparkSecret],
    ['spark.network.crypto.enabled', 'true'],
  ];
}

/**
 * Returns the command that puts fetched files and archives into the working directory before the run starts. Spark does that for
 * executors only: local mode has none, and an archive may hold the Python of the driver.
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
    // Isolated: the variables that the run sets for its own Python do not apply.
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
  const requirementsFile = served.requirements_file ? locate(served.requirements_file) : null;
  const content = JSON.stringify({
    archive: locate(served.project),
    script: served.script,
    function: served.name,
    requirements: requirementsFile ?? (served.requirements === null ? null : requirements),
    max_request_concurrency: served.max_request_concurrency,
    idle_timeout_sec: served.idle_timeout_sec,
  });
  const isInstalling = served.requirements !== null || requirementsFile !== null;
  const bridge = servingProgram(['function_bridge.py', description], options, setup, isInstalling);
  return { ...bridge, files: [...bridge.files, ...files, { path: description, content }] };
}

function thriftProgram(spec: RunSpec, setup: SubmitSetup, options: readonly string[]): Program {
  const description = `${setup.paths.generated}/thrift.json`;
  const content = JSON.stringify({ idle_timeout_sec: spec.sql_idle_timeout_sec ?? null });
  // The tables are those of a metastore, even if only the run's own.
  const first = ['--conf', 'spark.sql.catalogImplementation=hive'];
  const bridge = servingProgram(['thrift_bridge.py', description], [...first, ...options], setup, false);
  return { ...bridge, first, files: [...bridge.files, { path: description, content }] };
}

function kernelProgram({ kernel }: RunSpec, setup: SubmitSetup, options: readonly string[]): Program {
  if (!kernel) throw new SubmitError('A notebook run needs the language of its kernel.');
  const { language } = kernel;
  if (language !== 'scala') return servingProgram(['kernel_bridge.py', language], options, setup, true);
  const { scalaKernel } = setup.runtime;
  if (scalaKernel === null) throw new SubmitError('The notebook is in Scala, but this node has no kernel for Scala.');
  return servingProgram(['kernel_bridge.py', language, scalaKernel], options, setup, true);
}

/**
 * Returns a program of `run-bridges` that serves a run with a channel. It calls `spark-submit`, or is the Python driver of a driver that
 * waits.
 * @param isInstalling true if it can install packages of the run, which the Python workers of the JVM find, too
 */
function servingProgram(
  words: [string, ...string[]],
  options: readonly string[],
  setup: SubmitSetup,
  isInstalling: boolean,
): Program {
  const { argv, env, files } = bridgeCommand(words, options, setup);
  const program = { files, javaOptions: [], stdin: '' };
  if (!setup.isWarm) return { ...program, argv, env, submitOptions: options };
  const { paths, nodeEnv } = setup;
  const own = nodeEnv['PYTHONPATH'] ?? '';
  const workers = [isInstalling ? `${paths.work}/site-packages` : '', own].filter((entry) => entry !== '').join(':');
  return {
    ...program,
    argv: ['--conf', `${DRIVER_PYTHON}=${warmPython(paths, 'serving')}`, ...argv.slice(1)],
    env: { ...env, ...(workers === '' ? {} : { PYTHONPATH: workers }), BRIDGE_PYTHONPATH: own },
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
