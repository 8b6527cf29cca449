import { plainRunSpec } from '../testing/run-spec';
import type { RunFile, RunMount, RunSpec } from '../contracts/agent-protocol';
import { propertyKeys, submitCommand, type RunPaths, type SubmitCommand, type SubmitSetup } from './submit-command';
import { SubmitError } from './submit-error';

const runtime = {
  sparkHome: '/spark',
  javaHome: '/java',
  python: '/venv/bin/python',
  classArchive: null,
  connectors: null,
};
const paths: RunPaths = {
  work: '/run/work',
  home: '/run/home',
  events: '/run/events',
  local: '/run/local',
  tmp: '/run/tmp',
  generated: '/run/generated',
  stdoutBegin: '/run/stdout.begin',
};
const fetched = (index: number, name: string): RunFile => ({
  kind: 'fetched',
  index,
  key: `key-${index}`,
  name,
  uri: null,
});
const uri = (address: string): RunFile => ({ kind: 'uri', index: 0, name: 'x', uri: address });
const locate = (file: RunFile): string => file.uri ?? `/run/staging/${file.index}/${file.name}`;

const spec = (change: Partial<RunSpec>): RunSpec => plainRunSpec({ application: fetched(0, 'main.py'), ...change });
const setup: SubmitSetup = {
  runtime,
  paths,
  nodeEnv: {},
  properties: [],
  locate,
  sparkDefaults: '',
  sparkSecret: null,
};
const command = (
  change: Partial<RunSpec>,
  nodeEnv: Record<string, string> = {},
  properties: string[] = [],
): SubmitCommand => submitCommand(spec(change), { ...setup, nodeEnv, properties });

const DEFAULTS = [
  ...['--conf', 'spark.ui.enabled=false', '--conf', 'spark.ui.showConsoleProgress=false'],
  ...['--conf', 'spark.jars.ivy=/run/home/.ivy2', '--conf', 'spark.authenticate=true'],
];
const EVENT_LOG = ['--conf', 'spark.eventLog.enabled=true', '--conf', 'spark.eventLog.dir=file:///run/events'];

describe('submitCommand with mounts', () => {
  const mount: RunMount = {
    mount_point: '/mnt/data',
    provider: 's3-compatible',
    bucket: 'b',
    path: '',
    read_only: false,
    encryption: null,
    extra_configs: {},
    credentials: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'the-secret', S3_ENDPOINT: 'http://s3' },
  };
  const withConnectors = { ...runtime, connectors: '/connectors' };
  const submit = (
    properties: string[] = [],
    { nodeEnv = {}, change = {} }: { nodeEnv?: Record<string, string>; change?: Partial<RunSpec> } = {},
  ): SubmitCommand =>
    submitCommand(spec({ mounts: [mount], ...change }), {
      ...setup,
      runtime: withConnectors,
      nodeEnv,
      properties,
      sparkDefaults: 'spark.node=1',
    });

  it('keeps what is secret in the file that only its owner reads', () => {
    const { argv, env, files } = submit();
    expect(argv).toContain('/run/generated/spark.properties');
    expect(JSON.stringify([argv, env])).not.toContain('the-secret');
    expect(files).toEqual([
      {
        path: '/run/generated/spark.properties',
        content: expect.stringContaining('secret.key=the-secret\n') as string,
      },
    ]);
  });

  it("puts the mounts behind the node's properties and before the user's", () => {
    const own = submit().files[0]?.content ?? '';
    expect(own.indexOf('spark.node=1')).toBe(0);
    expect(own.indexOf('fs.defaultFS')).toBeGreaterThan(0);
    // As without mounts: Spark leaves the node's out where the user names a file.
    const users = submit(['spark.hadoop.fs.defaultFS=file:///']).files[0]?.content ?? '';
    expect(users).not.toContain('spark.node=1');
    expect(users.indexOf('mounts:///')).toBeLessThan(users.indexOf('spark.hadoop.fs.defaultFS=file:///'));
  });

  it('puts the connectors behind every other class path, for driver and executors', () => {
    expect(submit().env['SPARK_DIST_CLASSPATH']).toBe('/connectors/*');
    const { env, files } = submit([], { nodeEnv: { SPARK_DIST_CLASSPATH: '/node/*' } });
    expect(env['SPARK_DIST_CLASSPATH']).toBe('/node/*:/connectors/*');
    expect(files[0]?.content).toContain('spark.executorEnv.SPARK_DIST_CLASSPATH=/node/*:/connectors/*\n');
    const change = { env: { SPARK_DIST_CLASSPATH: '/run/*' } };
    const ofRun = submit([], { nodeEnv: { SPARK_DIST_CLASSPATH: '/node/*' }, change });
    expect(ofRun.env['SPARK_DIST_CLASSPATH']).toBe('/run/*:/connectors/*');
  });

  it('changes nothing for a run without mounts', () => {
    const without = submit([], { change: { mounts: [] } });
    expect(without).toEqual(command({}));
    expect(without.argv).not.toContain('--properties-file');
  });

  it('is refused where a mount would hide the folder of the run, in which its relative paths lie', () => {
    const submitAt = (mount_point: string) => () =>
      submit([], { change: { mounts: [mount, { ...mount, mount_point }] } });
    for (const point of ['/run', '/run/work']) {
      expect(submitAt(point)).toThrow(
        new SubmitError(`The mount point ${point} would hide the node's own folder /run/work.`),
      );
    }
    for (const point of ['/run/work/data', '/run/wor', '/ru']) expect(submitAt(point)).not.toThrow();
  });

  it('is refused on a node without connectors', () => {
    expect(() => command({ mounts: [mount] })).toThrow(
      new SubmitError('The run has mounts, but this node has no connectors to object stores.'),
    );
  });
});

describe('submitCommand on a cluster with a secret', () => {
  const withSecret = (properties: string[] = []) =>
    submitCommand(spec({ master: 'spark://m:7077' }), { ...setup, properties, sparkSecret: 'the-secret' });

  it('gives the driver the secret in the file that only its owner reads', () => {
    const { argv, env, files } = withSecret();
    expect(JSON.stringify([argv, env])).not.toContain('the-secret');
    expect(files[0]?.content).toBe('spark.authenticate.secret=the-secret\nspark.network.crypto.enabled=true\n');
  });

  it('expects none of daemons that were started without one', () => {
    const { argv } = command({ master: 'spark://m:7077' });
    expect(argv.join(' ')).not.toContain('spark.authenticate');
  });

  it("lets the user's properties win over it", () => {
    const { argv, files } = withSecret(['spark.authenticate=false']);
    expect(argv.join(' ')).not.toContain('spark.authenticate=true');
    expect(files[0]?.content).toMatch(/^spark.authenticate.secret=the-secret\n[^]*spark.authenticate=false\n$/);
  });
});

describe('submitCommand', () => {
  it('submits a Python file with its arguments as they are', () => {
    expect(command({ arguments: ['a b', '--x', '$(y)'] }).argv).toEqual([
      '/spark/bin/spark-submit',
      ...['--master', 'local[2]', '--name', 'a job', ...DEFAULTS, ...EVENT_LOG],
      ...['/run/staging/0/main.py', 'a b', '--x', '$(y)'],
    ]);
  });

  it('submits a jar with its class, and every option that is set', () => {
    const { argv } = command({
      kind: 'jar',
      application: uri('s3a://b/app.jar'),
      class_name: 'com.x.Main',
      files: [fetched(1, 'a.csv'), uri('s3a://b/c')],
      jars: [fetched(2, 'l.jar')],
      py_files: [fetched(3, 'h.py')],
      archives: [fetched(4, 'e.zip')],
      packages: ['g:a:1', 'g:b:2'],
      repositories: ['https://r'],
      driver_memory: '1g',
      driver_cores: 1,
      executor_memory: '2g',
      executor_cores: 2,
      total_executor_cores: 4,
      num_executors: 3,
      queue: 'q',
    });
    const text = argv.join(' ');
    for (const part of [
      '--files /run/staging/1/a.csv,s3a://b/c',
      '--jars /run/staging/2/l.jar',
      '--py-files /run/staging/3/h.py',
      '--archives /run/staging/4/e.zip',
      '--packages g:a:1,g:b:2',
      '--repositories https://r',
      '--driver-memory 1g --driver-cores 1',
      '--executor-memory 2g --executor-cores 2 --total-executor-cores 4 --num-executors 3',
      '--queue q',
    ])
      expect(text).toContain(part);
    expect(argv.slice(-3)).toEqual(['--class', 'com.x.Main', 's3a://b/app.jar']);
  });

  it('starts driver and executors from the class archive, before the options of the node and the user', () => {
    const withArchive = { ...runtime, classArchive: '/spark.jsa' };
    const env = { SPARK_SUBMIT_OPTS: '-Xshare:off' };
    const submit = (change: Partial<RunSpec>) =>
      submitCommand(spec(change), { ...setup, runtime: withArchive, nodeEnv: env });
    const { argv, env: given } = submit({});
    expect(argv).toContain('spark.executor.defaultJavaOptions=-XX:SharedArchiveFile=/spark.jsa');
    expect(given['SPARK_SUBMIT_OPTS']).toMatch(/^-XX:SharedArchiveFile=\/spark\.jsa .* -Xshare:off$/);
    const own = submit({ conf: ['spark.executor.defaultJavaOptions=-Da=1'] });
    expect(own.argv.join(' ')).not.toContain('/spark.jsa');
  });

  it("lets the user's properties win, from conf and from files", () => {
    const own = command({ conf: ['spark.ui.showConsoleProgress=true', 'spark.a=1', 'spark.a=2'] }).argv;
    expect(own.filter((word) => word.startsWith('spark.ui.showConsoleProgress'))).toEqual([
      'spark.ui.showConsoleProgress=true',
    ]);
    expect(own.indexOf('spark.a=1')).toBeLessThan(own.indexOf('spark.a=2'));
    const fromFile = command({}, {}, ['# c\nspark.eventLog.dir  s3a://logs\n', 'spark.b=1']);
    expect(fromFile.argv.join(' ')).not.toContain('spark.eventLog');
    expect(fromFile.argv).toContain('/run/generated/spark.properties');
    expect(fromFile.files).toEqual([
      { path: '/run/generated/spark.properties', content: '# c\nspark.eventLog.dir  s3a://logs\n\nspark.b=1\n' },
    ]);
  });

  it('keeps the event log off when the user switched it off', () => {
    const { argv } = command({ conf: ['spark.eventLog.enabled=false'] });
    expect(argv).not.toContain('spark.eventLog.enabled=true');
  });

  it('gives the driver the runtimes and nothing of the environment of the agent', () => {
    const { env } = command({ env: { A: 'run', SPARK_SUBMIT_OPTS: '-Dx=1' } }, { A: 'node', B: 'node' });
    expect(env).toEqual({
      PATH: '/venv/bin:/java/bin:/usr/local/bin:/usr/bin:/bin',
      HOME: '/run/home',
      LANG: 'C.UTF-8',
      JAVA_HOME: '/java',
      SPARK_HOME: '/spark',
      PYSPARK_PYTHON: '/venv/bin/python',
      PYTHONUNBUFFERED: '1',
      SPARK_LOCAL_DIRS: '/run/local',
      TMPDIR: '/run/tmp',
      A: 'run',
      B: 'node',
      SPARK_SUBMIT_OPTS: '-Djava.io.tmpdir=/run/tmp -Duser.home=/run/home -Dderby.system.home=/run/work -Dx=1',
    });
  });

  it('runs raw Scala statement by statement in the interpreter, which ends with 1 unless told otherwise', () => {
    const { argv, files, stdin, env } = command({
      kind: 'raw-scala',
      application: null,
      code: 'case class P(a: Int)\nval b = 1\n',
      arguments: ['x"\n$y'],
    });
    expect(argv.slice(-5)).toEqual([
      '--class',
      'org.apache.spark.repl.Main',
      'spark-shell',
      '-i',
      '/run/generated/scala/driver.scala',
    ]);
    const code = 'case class P(a: Int)\nval b = 1\n';
    expect(files[0]).toEqual({ path: '/run/generated/scala/source.scala', content: code });
    expect(files[1]?.content).toContain('java.nio.file.Paths.get("/run/stdout.begin")');
    expect(files[1]?.content).toContain('Array(\\"x\\\\\\"\\\\n$y\\")');
    expect(stdin).toBe('java.lang.System.exit(1)\n');
    expect(env['SPARK_SUBMIT_OPTS']).toContain('-Dscala.usejavacp=true');
  });

  it('runs sql from a file', () => {
    const { argv, files } = command({ kind: 'sql', application: null, code: 'select 1' });
    expect(argv.join(' ')).toMatch(/SparkSQLCLIDriver spark-internal -f \/run\/generated\/query\.sql$/);
    expect(files).toEqual([{ path: '/run/generated/query.sql', content: 'select 1' }]);
  });

  it.each([
    ['python', 'application file'],
    ['jar', 'application file'],
    ['raw-scala', 'source text'],
    ['sql', 'source text'],
  ] as const)('refuses a %s run without %s', (kind, what) => {
    expect(() => command({ kind, application: null, code: null })).toThrow(SubmitError);
    expect(() => command({ kind, application: null, code: null })).toThrow(what);
  });
});

describe('propertyKeys', () => {
  it('reads keys before =, : or white space and skips comments', () => {
    expect(propertyKeys('# a=1\n! b\n\n c = 2\nd:3\r\ne f')).toEqual(['c', 'd', 'e']);
  });
});
