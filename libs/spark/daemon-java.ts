import { entriesOf, installedSpark, isLeftToScripts, type JavaCommand, scriptVariables } from './launcher';
import { LAST_CLASS_PATH } from './mounts';
import { optionWords } from './option-words';
import type { SparkRuntime } from './submit-command';

/** The variable with the JVM's options that only the master, or only the workers, are started with. */
export type OptionsVariable = 'SPARK_MASTER_OPTS' | 'SPARK_WORKER_OPTS';

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
  if (java === '' || isLeftToScripts(sparkHome, env)) return null;
  const spark = installedSpark(sparkHome);
  const options = optionsOf([env['SPARK_DAEMON_JAVA_OPTS'] ?? '', env[variable] ?? '']);
  if (spark === null || options === null) return null;
  const conf = `${sparkHome}/conf`;
  const classPath = [
    ...entriesOf(env['SPARK_DAEMON_CLASSPATH']),
    // The archive of classes was made for this path, character by character.
    `${conf}/`,
    ...spark.jars,
    ...['HADOOP_CONF_DIR', 'YARN_CONF_DIR', LAST_CLASS_PATH].flatMap((name) => entriesOf(env[name])),
    ...further,
  ];
  return {
    argv: [
      ...[`${java}/bin/java`, '-cp', [...new Set(classPath)].join(':')],
      ...(collectorIsChosen(env, variable) ? [] : [COLLECTOR]),
      COMPILER,
      ...options,
      `-Xmx${env['SPARK_DAEMON_MEMORY'] || SPARK_DAEMON_MEMORY}`,
      ...spark.daemonOptions,
    ],
    // A worker hands them down to its executors and needs the version to start one.
    env: scriptVariables(sparkHome, env, spark),
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
