import { existsSync, readdirSync } from 'node:fs';

/** A command line of Java up to the name of the class, and the variables that Spark's scripts would have set for it. */
export interface JavaCommand {
  argv: string[];
  env: Record<string, string>;
}

/** Variables that make `spark-class` do more than start a class of the Spark that it belongs to. */
const LEFT_TO_SCRIPTS = [
  ...['SPARK_CONF_DIR', 'SPARK_PREPEND_CLASSES', 'SPARK_TESTING', 'SPARK_SQL_TESTING', 'SPARK_PRINT_LAUNCH_COMMAND'],
  'BASH_ENV',
];
/** Files in Spark's `conf` that only its scripts and its launcher read. */
const READ_BY_SCRIPTS = ['spark-env.sh', 'java-opts'];

/** The packages of java.base that Spark opens to itself. */
const OPENED = [
  ...['java.lang', 'java.lang.invoke', 'java.lang.reflect', 'java.io', 'java.net', 'java.nio', 'java.util'],
  ...['java.util.concurrent', 'java.util.concurrent.atomic', 'jdk.internal.ref', 'sun.nio.ch', 'sun.nio.cs'],
  ...['sun.security.action', 'sun.util.calendar'],
];

const OPENS = [
  ...OPENED.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED',
];
const IGNORES_UNKNOWN = '-XX:+IgnoreUnrecognizedVMOptions';
const DIRECT_METHOD_HANDLE = '-Djdk.reflect.useDirectMethodHandle=false';

/** The options of Java that are part of the drivers of Spark 3.5. */
const SPARK_3_OPTIONS = [IGNORES_UNKNOWN, ...OPENS, DIRECT_METHOD_HANDLE];
/** An option that only drivers of Spark 4 have. */
const DERBY = '-Dderby.connection.requireAuthentication=false';

/** @param reflection options about it; @param memory options about access to memory outside the heap */
const spark4Options = (reflection: readonly string[], memory: readonly string[]): readonly string[] => [
  IGNORES_UNKNOWN,
  '--add-modules=jdk.incubator.vector',
  ...OPENS,
  ...reflection,
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Dio.netty.allocator.type=pooled',
  '-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE',
  ...memory,
  '--enable-native-access=ALL-UNNAMED',
];

/** The options of Java that are part of each Spark 4. Any other Spark 4 is left to its own launcher. */
const SPARK_4_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  '4.1.4': spark4Options([DIRECT_METHOD_HANDLE], []),
  '4.3.0': spark4Options([], ['--sun-misc-unsafe-memory-access=allow']),
};

export interface InstalledSpark {
  /** Entries of the class path. */
  jars: string[];
  scalaVersion: string;
  /** Options with which its launcher ends those of every daemon. */
  daemonOptions: readonly string[];
  /** Options with which its launcher ends those of every driver; null if they are not known. */
  driverOptions: readonly string[] | null;
}

/** Returns what a command line needs to know about a Spark; null for a folder without one, and for one whose launcher is not known. */
export function installedSpark(sparkHome: string): InstalledSpark | null {
  const folder = `${sparkHome}/jars`;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const core = names.map((name) => /^spark-core_([\d.]+)-(.+)\.jar$/.exec(name)).find((match) => match !== null);
  const [scalaVersion, version] = [core?.[1], core?.[2]];
  if (scalaVersion === undefined || version === undefined) return null;
  if (version.startsWith('3.5.')) {
    const driverOptions = version === '3.5.9' ? SPARK_3_OPTIONS : null;
    return { jars: [`${folder}/*`], scalaVersion, daemonOptions: [], driverOptions };
  }
  const options = SPARK_4_OPTIONS[version];
  if (options === undefined) return null;
  const first = names.filter((name) => name.startsWith('slf4j-api-')).map((name) => `${folder}/${name}`);
  return { jars: [...first, `${folder}/*`], scalaVersion, daemonOptions: options, driverOptions: [...options, DERBY] };
}

/** Returns the entries of a class path. */
export function entriesOf(classPath: string | undefined): string[] {
  return (classPath ?? '').split(':').filter((entry) => entry !== '');
}

/** Returns true if only the scripts of a Spark can judge how a class of it is started in this environment. */
export function isLeftToScripts(sparkHome: string, env: Readonly<Record<string, string>>): boolean {
  return (
    (env['SPARK_HOME'] ?? sparkHome) !== sparkHome ||
    LEFT_TO_SCRIPTS.some((name) => env[name]) ||
    READ_BY_SCRIPTS.some((name) => existsSync(`${sparkHome}/conf/${name}`))
  );
}

/** Returns the variables that Spark's scripts set for each class that they start. */
export function scriptVariables(
  sparkHome: string,
  env: Readonly<Record<string, string>>,
  { scalaVersion }: InstalledSpark,
): Record<string, string> {
  return {
    SPARK_ENV_LOADED: '1',
    SPARK_CONF_DIR: `${sparkHome}/conf`,
    SPARK_SCALA_VERSION: env['SPARK_SCALA_VERSION'] || scalaVersion,
  };
}
