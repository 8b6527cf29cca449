import { dirname } from 'node:path';
import type { RunFile, RunSpec } from '../contracts/agent-protocol';
import { classArchiveOption } from './class-archive';
import { LAST_CLASS_PATH, lastClassPath, mountProperties, propertiesText } from './mounts';
import { scalaReplFiles, type GeneratedFile } from './scala-repl';
import { SubmitError } from './submit-error';

/** Where Spark and its runtimes are on a node. */
export interface SparkRuntime {
  sparkHome: string;
  javaHome: string;
  python: string;
  /** Archive of this Spark's classes; null where the node has none. */
  classArchive: string | null;
  /** Folder of the jars by which this Spark reaches object stores; null where the node has none. */
  connectors: string | null;
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
}

/** Says where a file of a run is: the staged path of a fetched file, the URI of any other. */
export type LocateFile = (file: RunFile) => string;

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

/** Keys that a Java properties text sets. */
export function propertyKeys(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => !/^\s*(?:[#!]|$)/.test(line))
    .map((line) => line.trim().split(/[=:\s]/, 1)[0] ?? '');
}

/**
 * The `spark-submit` of a run. The user's properties win over the platform's. No secret is on its command line, which
 * others on the machine may read. Throws a SubmitError for a run that is impossible.
 */
export function submitCommand(spec: RunSpec, setup: SubmitSetup): SubmitCommand {
  const { runtime, paths, nodeEnv, properties, locate } = setup;
  const files: GeneratedFile[] = [];
  const set = new Set([
    ...properties.flatMap(propertyKeys),
    ...spec.conf.map((entry) => entry.split('=', 1)[0]?.trim() ?? ''),
  ]);
  const defaults = defaultProperties(spec, setup, set);
  const argv = [`${runtime.sparkHome}/bin/spark-submit`];
  const option = (name: string, value: string | number | null): void => {
    if (value !== null && value !== '') argv.push(name, String(value));
  };
  const list = (name: string, values: string[]): void => option(name, values.join(','));
  option('--master', spec.master);
  option('--name', spec.name);
  const mounts = mountSetup(spec, setup);
  const own = [...mounts.properties, ...clusterProperties(setup.sparkSecret)];
  // Where the user names a file, Spark leaves the node's defaults out, and so does this.
  const texts =
    properties.length > 0 ? [propertiesText(own), ...properties] : [setup.sparkDefaults, propertiesText(own)];
  if (own.length > 0 || properties.length > 0) {
    const path = `${paths.generated}/spark.properties`;
    files.push({ path, content: `${texts.filter((text) => text !== '').join('\n')}\n` });
    option('--properties-file', path);
  }
  for (const [key, value] of defaults) argv.push('--conf', `${key}=${value}`);
  for (const entry of spec.conf) argv.push('--conf', entry);
  list('--files', spec.files.map(locate));
  list('--jars', spec.jars.map(locate));
  list('--py-files', spec.py_files.map(locate));
  list('--archives', spec.archives.map(locate));
  list('--packages', spec.packages);
  list('--repositories', spec.repositories);
  option('--driver-memory', spec.driver_memory);
  option('--driver-cores', spec.driver_cores);
  option('--driver-java-options', spec.driver_java_options);
  option('--driver-library-path', spec.driver_library_path);
  option('--driver-class-path', spec.driver_class_path);
  option('--executor-memory', spec.executor_memory);
  option('--executor-cores', spec.executor_cores);
  option('--total-executor-cores', spec.total_executor_cores);
  option('--num-executors', spec.num_executors);
  option('--principal', spec.principal);
  option('--keytab', spec.keytab);
  option('--queue', spec.queue);

  // Set here and not by --driver-java-options, which is the user's: spark-submit adds both.
  const javaOptions = [
    ...classArchiveOption(runtime.classArchive),
    `-Djava.io.tmpdir=${paths.tmp}`,
    `-Duser.home=${paths.home}`,
    `-Dderby.system.home=${paths.work}`,
  ];
  let stdin = '';
  switch (spec.kind) {
    case 'python':
      argv.push(locate(application(spec)), ...spec.arguments);
      break;
    case 'jar':
      option('--class', spec.class_name);
      argv.push(locate(application(spec)), ...spec.arguments);
      break;
    case 'raw-scala': {
      const repl = scalaReplFiles(code(spec), spec.arguments, {
        dir: `${paths.generated}/scala`,
        beginFile: paths.stdoutBegin,
      });
      files.push(...repl.files);
      javaOptions.push('-Dscala.usejavacp=true');
      argv.push('--class', 'org.apache.spark.repl.Main', 'spark-shell', '-i', repl.script);
      // Read only when the driver script itself could not run; without it the interpreter would end with 0.
      stdin = 'java.lang.System.exit(1)\n';
      break;
    }
    case 'sql': {
      const path = `${paths.generated}/query.sql`;
      files.push({ path, content: code(spec) });
      argv.push('--class', 'org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver', 'spark-internal', '-f', path);
      argv.push(...spec.arguments);
      break;
    }
  }
  const env = {
    ...baseEnvironment(runtime, paths.home),
    SPARK_LOCAL_DIRS: paths.local,
    TMPDIR: paths.tmp,
    ...nodeEnv,
    ...spec.env,
  };
  const nodeOrRunOptions = spec.env['SPARK_SUBMIT_OPTS'] ?? nodeEnv['SPARK_SUBMIT_OPTS'] ?? '';
  return {
    argv,
    env: { ...env, ...mounts.env, SPARK_SUBMIT_OPTS: [...javaOptions, nodeOrRunOptions].join(' ').trim() },
    stdin,
    files,
  };
}

/** The properties and the environment by which a run can use its mounts. */
function mountSetup(
  spec: RunSpec,
  { runtime: { connectors }, paths: { work }, nodeEnv }: SubmitSetup,
): { properties: [string, string][]; env: Record<string, string> } {
  if (spec.mounts.length === 0) return { properties: [], env: {} };
  if (connectors === null)
    throw new SubmitError('The run has mounts, but this node has no connectors to object stores.');
  const around = spec.mounts.find(({ mount_point: point }) => `${work}/`.startsWith(`${point}/`));
  // Relative paths would lead into the store.
  if (around) throw new SubmitError(`The mount point ${around.mount_point} would hide the node's own folder ${work}.`);
  // Behind Spark's own jars, which the class archive holds for (ADR 0007).
  const classPath = lastClassPath(connectors, { ...nodeEnv, ...spec.env });
  const ofExecutors: [string, string] = [`spark.executorEnv.${LAST_CLASS_PATH}`, classPath];
  return { properties: [...mountProperties(spec.mounts), ofExecutors], env: { [LAST_CLASS_PATH]: classPath } };
}

/** What the platform sets unless the user does; `set` are the keys that the user sets. */
function defaultProperties(
  { master }: RunSpec,
  { runtime, paths, sparkSecret }: SubmitSetup,
  set: ReadonlySet<string>,
): [string, string][] {
  const defaults: [string, string][] = [
    // Whoever reaches the machine could look at the job, and end its stages.
    ['spark.ui.enabled', 'false'],
    ['spark.ui.showConsoleProgress', 'false'],
    ['spark.jars.ivy', `${paths.home}/.ivy2`],
  ];
  // A driver in local mode makes up its own secret; daemons started without one know nothing of it.
  if (sparkSecret !== null || !master.startsWith('spark://')) defaults.push(['spark.authenticate', 'true']);
  // The agent learns the application id from the log's name; a folder that the user chose stays theirs, on or off.
  if (!set.has('spark.eventLog.dir'))
    defaults.push(['spark.eventLog.enabled', 'true'], ['spark.eventLog.dir', `file://${paths.events}`]);
  const archive = classArchiveOption(runtime.classArchive);
  if (archive.length > 0) defaults.push(['spark.executor.defaultJavaOptions', archive.join(' ')]);
  return defaults.filter(([key]) => !set.has(key));
}

/** How a driver and the daemons of its cluster authenticate, and encrypt what they say. */
function clusterProperties(sparkSecret: string | null): [string, string][] {
  if (sparkSecret === null) return [];
  return [
    ['spark.authenticate.secret', sparkSecret],
    ['spark.network.crypto.enabled', 'true'],
  ];
}

function application(spec: RunSpec): RunFile {
  if (spec.application) return spec.application;
  throw new SubmitError(`A ${spec.kind} run needs an application file.`);
}

function code(spec: RunSpec): string {
  if (spec.code !== null) return spec.code;
  throw new SubmitError(`A ${spec.kind} run needs source text.`);
}
