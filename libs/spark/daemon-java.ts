import { existsSync, readdirSync } from 'node:fs';
import { LAST_CLASS_PATH } from './mounts';
import { optionWords } from './option-words';
import type { SparkRuntime } from './submit-command';

/** A command line of Java up to the name of the class, and the variables that Spark's scripts would have set for it. */
export interface JavaCommand {
  argv: string[];
  env: Record<string, string>;
}

/** The variable with the JVM's options that only the master, or only the workers, are started with. */
export type OptionsVariable = 'SPARK_MASTER_OPTS' | 'SPARK_WORKER_OPTS';

/** Variables that make `spark-class` do more than start a daemon of the Spark that it belongs to. */
const LEFT_TO_SCRIPTS = [
  ...['SPARK_CONF_DIR', 'SPARK_PREPEND_CLASSES', 'SPARK_TESTING', 'SPARK_SQL_TESTING', 'SPARK_PRINT_LAUNCH_COMMAND'],
  'BASH_ENV',
];
/** Files in Spark's `conf` that only its scripts and its launcher read. */
const READ_BY_SCRIPTS = ['spark-env.sh', 'java-opts'];

/** The packages of java.base that Spark 4 opens to itself. */
const OPENED = [
  ...['java.lang', 'java.lang.invoke', 'java.lang.reflect', 'java.io', 'java.net', 'java.nio', 'java.util'],
  ...['java.util.concurrent', 'java.util.concurrent.atomic', 'jdk.internal.ref', 'sun.nio.ch', 'sun.nio.cs'],
  ...['sun.security.action', 'sun.util.calendar'],
];

/** @param reflection options about it; @param memory options about access to memory outside the heap */
const spark4Options = (reflection: readonly string[], memory: readonly string[]): readonly string[] => [
  '-XX:+IgnoreUnrecognizedVMOptions',
  '--add-modules=jdk.incubator.vector',
  ...OPENED.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED',
  ...reflection,
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Dio.netty.allocator.type=pooled',
  '-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE',
  ...memory,
  '--enable-native-access=ALL-UNNAMED',
];

/** The options of Java that are part of each Spark 4. Any other Spark 4 is left to its own launcher. */
const SPARK_4_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  '4.1.4': spark4Options(['-Djdk.reflect.useDirectMethodHandle=false'], []),
  '4.3.0': spark4Options([], ['--sun-misc-unsafe-memory-access=allow']),
};

/** Spark's own heap for daemons. */
const SPARK_DAEMON_MEMORY = '1g';

/**
 * A daemon runs little code and holds few objects, so compiling it further and collecting in parallel costs its start more than it
 * gives back later.
 */
const COLLECTOR = '-XX:+UseSerialGC';
const COMPILER = '-XX:TieredStopAtLevel=1';
/** A JVM does not start with two collectors. Its options may also be in a file. */
const CHOOSES_COLLECTOR = /-XX:[+-]Use\w+GC\b|-XX:(?:Flags|VMOptionsFile)=|(?:^|\s)['"]?@/;

/**
 * Returns the command with which `spark-class` would start a daemon in this environment, without the JVM that makes it: it takes as long
 * as a quarter of the daemon's own start. Options of ours come first, so those of the environment win. Returns null for an environment
 * or a Spark that only `spark-class` can judge, which then honours or refuses it.
 * @param further entries at the end of the class path that executors must not inherit
 */
export function daemonJava(
  { sparkHome, javaHome }: Pick<SparkRuntime, 'sparkHome' | 'javaHome'>,
  env: Readonly<Record<string, string>>,
  variable: OptionsVariable,
  further: readonly string[] = [],
): JavaCommand | null {
  const java = env['JAVA_HOME'] ?? javaHome;
  if (java === '' || (env['SPARK_HOME'] ?? sparkHome) !== sparkHome) return null;
  if (
    LEFT_TO_SCRIPTS.some((name) => env[name]) ||
    READ_BY_SCRIPTS.some((name) => existsSync(`${sparkHome}/conf/${name}`))
  )
    return null;
  const spark = installedSpark(sparkHome);
  const options = optionsOf([env['SPARK_DAEMON_JAVA_OPTS'] ?? '', env[variable] ?? '']);
  if (spark === null || options === null) return null;
  const conf = `${sparkHome}/conf`;
  const classPath = [
    ...entries(env['SPARK_DAEMON_CLASSPATH']),
    // The archive of classes was made for this path, character by character.
    `${conf}/`,
    ...spark.jars,
    ...['HADOOP_CONF_DIR', 'YARN_CONF_DIR', LAST_CLASS_PATH].flatMap((name) => entries(env[name])),
    ...further,
  ];
  return {
    argv: [
      ...[`${java}/bin/java`, '-cp', [...new Set(classPath)].join(':')],
      ...(collectorIsChosen(env, variable) ? [] : [COLLECTOR]),
      COMPILER,
      ...options,
      `-Xmx${env['SPARK_DAEMON_MEMORY'] || SPARK_DAEMON_MEMORY}`,
      ...spark.options,
    ],
    // A worker hands them down to its executors and needs the version to start one.
    env: {
      SPARK_ENV_LOADED: '1',
      SPARK_CONF_DIR: conf,
      SPARK_SCALA_VERSION: env['SPARK_SCALA_VERSION'] || spark.scalaVersion,
    },
  };
}

/** Returns the words of both strings; null if the launcher refuses one of them. */
function optionsOf(texts: readonly string[]): string[] | null {
  const words = texts.map((text) => (text.includes('Xmx') ? null : optionWords(text)));
  return words.some((each) => each === null) ? null : words.flatMap((each) => each ?? []);
}

function collectorIsChosen(env: Readonly<Record<string, string>>, variable: OptionsVariable): boolean {
  const names = ['SPARK_DAEMON_JAVA_OPTS', variable, 'JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS'];
  return names.some((name) => CHOOSES_COLLECTOR.test(env[name] ?? ''));
}

interface InstalledSpark {
  /** Entries of the class path. */
  jars: string[];
  scalaVersion: string;
  /** Options with which its launcher ends those of every daemon. */
  options: readonly string[];
}

/** Returns what a command line needs to know about a Spark; null for a folder without one, and for one whose launcher is not known. */
function installedSpark(sparkHome: string): InstalledSpark | null {
  const folder = `${sparkHome}/jars`;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const core = names.map((name) => /^spark-core_([\d.]+)-(.+)\.jar$/.exec(name)).find((match) => match !== null);
  const [scalaVersion, version] = [core?.[1], core?.[2]];
  if (scalaVersion === undefined || version === undefined) return null;
  if (version.startsWith('3.5.')) return { jars: [`${folder}/*`], scalaVersion, options: [] };
  const options = SPARK_4_OPTIONS[version];
  if (options === undefined) return null;
  const first = names.filter((name) => name.startsWith('slf4j-api-')).map((name) => `${folder}/${name}`);
  return { jars: [...first, `${folder}/*`], scalaVersion, options };
}

function entries(classPath: string | undefined): string[] {
  return (classPath ?? '').split(':').filter((entry) => entry !== '');
}
