import { dirname } from 'node:path';
import type { RunFile, RunSpec } from '../contracts/agent-protocol';
import { classArchiveOption } from './class-archive';
import { scalaReplFiles, type GeneratedFile } from './scala-repl';
import { splitScala } from './scala-statements';

/** Where Spark and its runtimes are on a node. */
export interface SparkRuntime {
  sparkHome: string;
  javaHome: string;
  python: string;
  /** Archive of this Spark's classes; null where the node has none. */
  classArchive: string | null;
  /** Home of the platform's processes on the node; holds caches such as Ivy's. */
  home: string;
}

/** Folders and files of one run on its node; all absolute. */
export interface RunPaths {
  /** Working directory of the driver. */
  work: string;
  events: string;
  local: string;
  tmp: string;
  /** Generated sources and properties. */
  generated: string;
  stdout: string;
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

/** Says where a file of a run is: the staged path of a workspace file, the URI of any other. */
export type LocateFile = (file: RunFile) => string;

/** A run that cannot be submitted as it is described; the message is for people. */
export class SubmitError extends Error {}

/** Environment of every process of a node: the named runtimes and nothing of the agent's own environment. */
export function baseEnvironment(runtime: SparkRuntime): Record<string, string> {
  return {
    PATH: [dirname(runtime.python), `${runtime.javaHome}/bin`, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: runtime.home,
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
 * The `spark-submit` of a run. `properties` are the texts of its properties files in order. The user's properties
 * win over the platform's; `env` of the node comes before `env` of the run.
 */
export function submitCommand(
  spec: RunSpec,
  runtime: SparkRuntime,
  paths: RunPaths,
  nodeEnv: Record<string, string>,
  properties: string[],
  locate: LocateFile,
): SubmitCommand {
  const files: GeneratedFile[] = [];
  const set = new Set([
    ...properties.flatMap(propertyKeys),
    ...spec.conf.map((entry) => entry.split('=', 1)[0]?.trim() ?? ''),
  ]);
  const defaults: [string, string][] = [['spark.ui.showConsoleProgress', 'false']];
  // The agent learns the application id from the log's name; a folder that the user chose stays theirs, on or off.
  if (!set.has('spark.eventLog.dir'))
    defaults.push(['spark.eventLog.enabled', 'true'], ['spark.eventLog.dir', `file://${paths.events}`]);

  const archive = classArchiveOption(runtime.classArchive);
  if (archive.length > 0) defaults.push(['spark.executor.defaultJavaOptions', archive.join(' ')]);

  const argv = [`${runtime.sparkHome}/bin/spark-submit`];
  const option = (name: string, value: string | number | null): void => {
    if (value !== null && value !== '') argv.push(name, String(value));
  };
  const list = (name: string, values: string[]): void => option(name, values.join(','));
  option('--master', spec.master);
  option('--name', spec.name);
  if (properties.length > 0) {
    const path = `${paths.generated}/spark.properties`;
    files.push({ path, content: `${properties.join('\n')}\n` });
    option('--properties-file', path);
  }
  for (const [key, value] of defaults) if (!set.has(key)) argv.push('--conf', `${key}=${value}`);
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
  const javaOptions = [...archive, `-Djava.io.tmpdir=${paths.tmp}`, `-Dderby.system.home=${paths.work}`];
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
      const repl = scalaReplFiles(splitScala(code(spec)), spec.arguments, {
        dir: `${paths.generated}/scala`,
        stdout: paths.stdout,
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
    ...baseEnvironment(runtime),
    SPARK_LOCAL_DIRS: paths.local,
    TMPDIR: paths.tmp,
    ...nodeEnv,
    ...spec.env,
  };
  const nodeOrRunOptions = spec.env['SPARK_SUBMIT_OPTS'] ?? nodeEnv['SPARK_SUBMIT_OPTS'] ?? '';
  return {
    argv,
    env: { ...env, SPARK_SUBMIT_OPTS: [...javaOptions, nodeOrRunOptions].join(' ').trim() },
    stdin,
    files,
  };
}

function application(spec: RunSpec): RunFile {
  if (spec.application) return spec.application;
  throw new SubmitError(`A ${spec.kind} run needs an application file.`);
}

function code(spec: RunSpec): string {
  if (spec.code !== null) return spec.code;
  throw new SubmitError(`A ${spec.kind} run needs source text.`);
}
