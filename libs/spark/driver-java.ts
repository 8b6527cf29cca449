import { existsSync } from 'node:fs';
import { entriesOf, installedSpark, isLeftToScripts, type JavaCommand, scriptVariables } from './launcher';
import { LAST_CLASS_PATH } from './mounts';
import { optionWords } from './option-words';
import { isAmong, propertyKeys } from './properties-text';
import { shellQuoted } from './shell-quoted';

export const SUBMIT_CLASS = 'org.apache.spark.deploy.SparkSubmit';

export const DRIVER_MEMORY = 'spark.driver.memory';
/** Properties that `spark-submit` reads to make the command line of the JVM, besides its heap. */
export const READ_BY_LAUNCHER = [
  'spark.api.mode',
  'spark.driver.defaultExtraClassPath',
  'spark.driver.defaultJavaOptions',
  'spark.driver.extraClassPath',
  'spark.driver.extraJavaOptions',
  'spark.driver.extraLibraryPath',
  'spark.remote',
  'spark.submit.deployMode',
];
/** Options of `spark-submit` with the same meaning. */
const OPTIONS_READ_BY_LAUNCHER = [
  '--deploy-mode',
  '--driver-class-path',
  '--driver-java-options',
  '--driver-library-path',
];
/** Variables that it reads, besides those of every class. */
const VARIABLES_READ_BY_LAUNCHER = ['SPARK_DRIVER_MEMORY', 'SPARK_MEM', 'SPARK_SCALA_VERSION'];

/** Spark's own heap for drivers. */
const SPARK_DRIVER_MEMORY = '1g';

/** The command of a driver. `handover` is what follows `spark-submit`; absent if the command is another program. */
interface DriverCommand {
  argv: string[];
  env: Record<string, string>;
  handover?: { arguments: string[]; before: string[] };
}

/**
 * Returns the command with the JVM in place of the `spark-submit` that would start it, if that can be said without Spark's launcher.
 * @param work the folder that the driver starts in
 * @param properties the text of the properties that Spark reads from a file
 */
export function withoutLauncher<T extends DriverCommand>(
  command: T,
  sparkHome: string,
  work: string,
  properties: string,
): T {
  const { env, handover } = command;
  const java = handover ? driverJava(sparkHome, work, env, handover.arguments, properties) : null;
  if (!handover || java === null) return command;
  return { ...command, argv: [...handover.before, ...java.argv], env: { ...env, ...java.env } };
}

/**
 * Returns the text of a program that takes the place of `spark-submit` where a run's own program starts its JVM; null if only
 * `spark-submit` can do so. The program is called with these options, and maybe with more that do not concern the command line of a JVM.
 */
export function submitProgram(
  ...[sparkHome, work, env, options, properties]: Parameters<typeof driverJava>
): string | null {
  const java = driverJava(sparkHome, work, env, options, properties);
  if (java === null) return null;
  const variables = Object.entries(java.env).map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`);
  const argv = java.argv.slice(0, java.argv.length - options.length).map(shellQuoted);
  return `#!/bin/sh\n${variables.join('')}exec ${argv.join(' ')} "$@"\n`;
}

/**
 * Returns the command with which `spark-submit` would start a driver in this environment, without the JVM that makes it: that takes as
 * long as a tenth of a small job. Returns null for settings or a Spark that only `spark-submit` can judge.
 * @param args the arguments of `spark-submit`
 * @param properties the text of the properties that Spark reads from a file
 */
export function driverJava(
  sparkHome: string,
  work: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  properties: string,
): JavaCommand | null {
  const java = env['JAVA_HOME'] ?? '';
  if (java === '' || isLeftToScripts(sparkHome, env) || VARIABLES_READ_BY_LAUNCHER.some((name) => env[name]))
    return null;
  const memory = memoryOf(args);
  if (memory === null || propertyKeys(properties).some((key) => isAmong(key, [...READ_BY_LAUNCHER, DRIVER_MEMORY])))
    return null;
  const spark = installedSpark(sparkHome);
  const options = optionWords(env['SPARK_SUBMIT_OPTS'] ?? '');
  if (spark?.driverOptions == null || options === null) return null;
  const conf = `${sparkHome}/conf`;
  const further = ['HADOOP_CONF_DIR', 'YARN_CONF_DIR', LAST_CLASS_PATH].flatMap((name) => entriesOf(env[name]));
  const classPath = [existsSync(conf) ? `${conf}/` : conf, ...spark.jars, ...further];
  return {
    argv: [
      ...[`${java}/bin/java`, '-cp', [...new Set(classPath)].join(':')],
      ...options,
      `-Xmx${memory}`,
      ...spark.driverOptions,
      SUBMIT_CLASS,
      ...args,
    ],
    // The scripts are run by a shell in the folder of the run, and Spark hashes alike in all Python processes.
    env: { ...scriptVariables(sparkHome, env, spark), PYTHONHASHSEED: '0', PWD: work },
  };
}

/** Returns the heap that the options of `spark-submit` ask for; null if they have something that only the launcher can judge. */
function memoryOf(args: readonly string[]): string | null {
  let memory = SPARK_DRIVER_MEMORY;
  let isLocal = false;
  for (let at = 0; args[at]?.startsWith('--'); at += 2) {
    const [name = '', value = ''] = args.slice(at, at + 2);
    const [key = '', ...rest] = name === '--conf' ? value.split('=') : [];
    if (OPTIONS_READ_BY_LAUNCHER.includes(name) || isAmong(key.trim(), READ_BY_LAUNCHER)) return null;
    if (name === '--master') isLocal = /^(?:local\b|spark:)/.test(value);
    if (name === '--driver-memory') memory = value;
    if (key.trim() === DRIVER_MEMORY) memory = rest.join('=').trim();
  }
  return isLocal ? memory : null;
}
