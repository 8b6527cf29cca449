import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { driverJava, submitProgram } from './driver-java';

describe('driverJava', () => {
  let sparkHome: string;

  beforeEach(() => {
    sparkHome = mkdtempSync(`${tmpdir()}/spark-`);
    mkdirSync(`${sparkHome}/jars`);
    mkdirSync(`${sparkHome}/conf`);
    writeFileSync(`${sparkHome}/jars/spark-core_2.12-3.5.9.jar`, '');
  });

  afterEach(() => rmSync(sparkHome, { recursive: true }));

  const MASTER = ['--master', 'local[2]'];
  const java = (
    args: readonly string[] = MASTER,
    env: Record<string, string> = {},
    properties = '',
  ): ReturnType<typeof driverJava> =>
    driverJava(sparkHome, '/work', { JAVA_HOME: '/java', ...env }, [...args, 'job.py', '--conf', 'x'], properties);
  const heap = (...args: string[]): string | undefined =>
    java([...MASTER, ...args])?.argv.find((word) => word.startsWith('-Xmx'));

  it('is the JVM that spark-submit starts, with its options and the arguments as they are', () => {
    const { argv = [], env } =
      java([...MASTER, '--name', 'a b'], {
        SPARK_SUBMIT_OPTS: `-Da='b c'`,
        SPARK_DIST_CLASSPATH: '/one.jar:/two.jar',
      }) ?? {};
    expect(argv.slice(0, 5)).toEqual([
      ...['/java/bin/java', '-cp', `${sparkHome}/conf/:${sparkHome}/jars/*:/one.jar:/two.jar`],
      ...['-Da=b c', '-Xmx1g'],
    ]);
    const program = ['org.apache.spark.deploy.SparkSubmit', ...MASTER, '--name', 'a b', 'job.py', '--conf', 'x'];
    expect(argv.slice(-program.length)).toEqual(program);
    expect(env).toEqual({
      ...{ SPARK_ENV_LOADED: '1', SPARK_CONF_DIR: `${sparkHome}/conf`, SPARK_SCALA_VERSION: '2.12' },
      ...{ PYTHONHASHSEED: '0', PWD: '/work' },
    });
  });

  it('has the heap that the last of the options asks for', () => {
    expect(heap('--driver-memory', '2g')).toBe('-Xmx2g');
    expect(heap('--conf', 'spark.driver.memory=3g', '--driver-memory', '2g')).toBe('-Xmx2g');
    expect(heap('--driver-memory', '2g', '--conf', 'spark.driver.memory = 3g')).toBe('-Xmx3g');
  });

  it.each<[string, () => ReturnType<typeof driverJava>]>([
    ['a heap in a properties file', () => java(MASTER, {}, 'spark.driver.memory 2g\n')],
    ['options of the JVM in a properties file', () => java(MASTER, {}, 'spark.driver.extraJavaOptions=-Da=b\n')],
    ['a key that may be any other one', () => java(MASTER, {}, 'spark.driver.extraJavaOption\\u0073=-Da=b\n')],
    ['options of the JVM as a property', () => java([...MASTER, '--conf', 'spark.driver.defaultJavaOptions=-Da=b'])],
    ['options of the JVM as an option', () => java([...MASTER, '--driver-java-options', '-Da=b'])],
    ['a class path', () => java([...MASTER, '--driver-class-path', '/a.jar'])],
    ['a master that is not its own', () => java(['--master', 'yarn'])],
    ['no master', () => java([])],
    ['a heap in the environment', () => java(MASTER, { SPARK_DRIVER_MEMORY: '2g' })],
    ['settings of its own', () => java(MASTER, { SPARK_CONF_DIR: '/mine' })],
    ['another Spark', () => java(MASTER, { SPARK_HOME: '/mine' })],
    ['no Java', () => java(MASTER, { JAVA_HOME: '' })],
    ['an unclosed quote', () => java(MASTER, { SPARK_SUBMIT_OPTS: '-Da="b' })],
  ])('leaves %s to spark-submit', (_what, command) => {
    expect(java()).not.toBeNull();
    expect(command()).toBeNull();
  });

  it('leaves a script of settings and an unknown Spark to spark-submit', () => {
    writeFileSync(`${sparkHome}/conf/spark-env.sh`, '');
    expect(java()).toBeNull();
    rmSync(`${sparkHome}/conf/spark-env.sh`);
    expect(java()).not.toBeNull();
    rmSync(`${sparkHome}/jars/spark-core_2.12-3.5.9.jar`);
    writeFileSync(`${sparkHome}/jars/spark-core_2.12-3.5.1.jar`, '');
    expect(java()).toBeNull();
  });

  it('can be started by a program, which adds the words that it is called with', () => {
    mkdirSync(`${sparkHome}/bin`);
    const java = `#!/bin/sh\nprintf '%s\\n' "$PYTHONHASHSEED" "$SPARK_SCALA_VERSION" "$@"\n`;
    writeFileSync(`${sparkHome}/bin/java`, java, { mode: 0o755 });
    const env = { JAVA_HOME: sparkHome, SPARK_SUBMIT_OPTS: `-Da="b'c"` };
    const options = [...MASTER, '--driver-memory', '2g'];
    const program = submitProgram(sparkHome, '/work', env, options, '') ?? '';
    writeFileSync(`${sparkHome}/bin/submit`, program, { mode: 0o755 });
    const words = execFileSync(`${sparkHome}/bin/submit`, [...options, 'a $b'], { encoding: 'utf8' }).split('\n');
    expect(words.slice(0, 2)).toEqual(['0', '2.12']);
    expect(words).toEqual(expect.arrayContaining([`-Da=b'c`, '-Xmx2g']));
    expect(words.slice(words.indexOf('-Xmx2g')).filter((word) => word === 'local[2]')).toHaveLength(1);
    expect(words.slice(-3)).toEqual(['2g', 'a $b', '']);
    expect(submitProgram(sparkHome, '/work', env, [...options, '--driver-class-path', '/a.jar'], '')).toBeNull();
  });
});
