import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { daemonJava } from './daemon-java';

describe('daemonJava', () => {
  let sparkHome: string;

  beforeEach(() => {
    sparkHome = mkdtempSync(join(tmpdir(), 'spark-'));
    for (const name of ['jars', 'conf']) mkdirSync(`${sparkHome}/${name}`);
    jars('spark-core_2.12-3.5.9.jar', 'slf4j-api-2.0.7.jar');
  });

  afterEach(() => rmSync(sparkHome, { recursive: true, force: true }));

  const jars = (...names: string[]): void => {
    rmSync(`${sparkHome}/jars`, { recursive: true });
    mkdirSync(`${sparkHome}/jars`);
    for (const name of names) writeFileSync(`${sparkHome}/jars/${name}`, '');
  };
  const java = (env: Record<string, string> = {}, further: string[] = []): ReturnType<typeof daemonJava> =>
    daemonJava({ sparkHome, javaHome: '/java' }, env, 'SPARK_WORKER_OPTS', further);
  const argv = (env: Record<string, string>): string[] => java(env)?.argv ?? [];
  const classPath = (env: Record<string, string>, further: string[] = []): string =>
    (java(env, further)?.argv[2] ?? '').replaceAll(sparkHome, '');

  it("starts Java with Spark's class path, a compiler and a collector that start fast, and Spark's heap", () => {
    expect(java()).toEqual({
      argv: [
        ...['/java/bin/java', '-cp', `${sparkHome}/conf/:${sparkHome}/jars/*`],
        ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g'],
      ],
      env: { SPARK_ENV_LOADED: '1', SPARK_CONF_DIR: `${sparkHome}/conf`, SPARK_SCALA_VERSION: '2.12' },
    });
  });

  it('honours every variable that the launcher of Spark does', () => {
    const env = {
      JAVA_HOME: '/other',
      SPARK_DAEMON_MEMORY: '2g',
      SPARK_DAEMON_JAVA_OPTS: '-Da="x y"  -Xss1m',
      SPARK_WORKER_OPTS: `-Da='z'`,
      SPARK_MASTER_OPTS: '-Dof.others=1',
      SPARK_SCALA_VERSION: '2.13',
    };
    const options = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Da=x y', '-Xss1m', '-Da=z', '-Xmx2g'];
    expect(argv(env)).toEqual(['/other/bin/java', '-cp', expect.anything(), ...options]);
    expect(java(env)?.env['SPARK_SCALA_VERSION']).toBe('2.13');
    const paths = {
      SPARK_DAEMON_CLASSPATH: '/first:',
      HADOOP_CONF_DIR: '/hadoop',
      YARN_CONF_DIR: '/yarn',
      SPARK_DIST_CLASSPATH: '/last.jar::/hadoop',
    };
    expect(classPath(paths, ['/own.jar'])).toBe('/first:/conf/:/jars/*:/hadoop:/yarn:/last.jar:/own.jar');
  });

  it('ends with the options of Spark 4, whose class path begins with another jar', () => {
    jars('spark-core_2.13-4.3.0.jar', 'slf4j-api-2.0.17.jar', 'other.jar');
    expect(classPath({})).toBe('/conf/:/jars/slf4j-api-2.0.17.jar:/jars/*');
    expect(java()?.env['SPARK_SCALA_VERSION']).toBe('2.13');
    expect(argv({}).slice(5, 8)).toEqual([
      '-Xmx1g',
      '-XX:+IgnoreUnrecognizedVMOptions',
      '--add-modules=jdk.incubator.vector',
    ]);
  });

  it.each(['3.4.3', '4.0.0', '4.3.0-vendor-1', '5.0.0'])('leaves a Spark %s to spark-class', (version) => {
    jars(`spark-core_2.13-${version}.jar`);
    expect(java()).toBeNull();
  });

  it.each<Record<string, string>>([
    { SPARK_DAEMON_JAVA_OPTS: '-Da=1 -XX:+UseG1GC' },
    { SPARK_WORKER_OPTS: '-XX:+UseZGC' },
    { SPARK_DAEMON_JAVA_OPTS: '-XX:-UseSerialGC' },
    { SPARK_DAEMON_JAVA_OPTS: '@/options' },
    { SPARK_DAEMON_JAVA_OPTS: '-XX:VMOptionsFile=/options' },
    { JAVA_TOOL_OPTIONS: '-XX:+UseParallelGC' },
    { JDK_JAVA_OPTIONS: '-XX:+UseParallelGC' },
    { _JAVA_OPTIONS: '-XX:+UseShenandoahGC' },
  ])('leaves the choice of the collector to %j', (env) => {
    expect(argv(env)).not.toContain('-XX:+UseSerialGC');
    expect(argv(env)).toContain('-XX:TieredStopAtLevel=1');
  });

  it.each<Record<string, string>>([
    { SPARK_MASTER_OPTS: '-XX:+UseG1GC' },
    { SPARK_DAEMON_JAVA_OPTS: '-XX:+UseGCOverheadLimit -Dmail=a@b' },
  ])('chooses the collector itself for %j', (env) => {
    expect(argv(env)).toContain('-XX:+UseSerialGC');
  });

  it.each<Record<string, string>>([
    { SPARK_HOME: '/elsewhere' },
    { SPARK_CONF_DIR: '/conf' },
    { SPARK_PREPEND_CLASSES: '1' },
    { SPARK_TESTING: '1' },
    { SPARK_SQL_TESTING: '1' },
    { SPARK_PRINT_LAUNCH_COMMAND: '1' },
    { BASH_ENV: '/script' },
    { JAVA_HOME: '' },
    { SPARK_DAEMON_JAVA_OPTS: '-Xmx1g' },
    { SPARK_WORKER_OPTS: '-Da="1' },
  ])('leaves %j to spark-class', (env) => {
    expect(java(env)).toBeNull();
  });

  it.each(['spark-env.sh', 'java-opts'])('leaves a Spark with a %s to spark-class', (name) => {
    writeFileSync(`${sparkHome}/conf/${name}`, '');
    expect(java()).toBeNull();
  });

  it('leaves a folder without Spark to spark-class', () => {
    jars('other.jar');
    expect(java()).toBeNull();
    rmSync(`${sparkHome}/jars`, { recursive: true });
    expect(java()).toBeNull();
  });
});
