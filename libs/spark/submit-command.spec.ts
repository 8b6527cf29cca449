import { plainRunSpec, plainSubmitSetup } from '../../test/harness/run-spec';
import type { RunFile, RunMount, RunSpec } from '../contracts/agent-protocol';
import { submitCommand, type SubmitCommand, type SubmitSetup } from './submit-command';
import { REDACTED } from './mounts';
import { SubmitError } from './submit-error';

const setup = plainSubmitSetup();
const { runtime } = setup;
const fetched = (index: number, name: string): RunFile => ({
  kind: 'fetched',
  index,
  key: `key-${index}`,
  name,
  uri: null,
});
const uri = (address: string): RunFile => ({ kind: 'uri', index: 0, name: 'x', uri: address });

const spec = (change: Partial<RunSpec>): RunSpec => plainRunSpec({ application: fetched(0, 'main.py'), ...change });
const command = (
  change: Partial<RunSpec>,
  nodeEnv: Record<string, string> = {},
  properties: string[] = [],
): SubmitCommand => submitCommand(spec(change), { ...setup, nodeEnv, properties });

const DEFAULTS = [
  ...['--conf', 'spark.ui.enabled=false', '--conf', 'spark.ui.showConsoleProgress=false'],
  ...['--conf', 'spark.jars.ivy=/run/home/.ivy2', '--conf', `spark.redaction.regex=${REDACTED}`],
  ...['--conf', 'spark.executor.metrics.pollingInterval=1s'],
];
const DRIVER_PYTHON = '/run/generated/driver-python';
const STARTS_PYTHON = ['--conf', `spark.pyspark.driver.python=${DRIVER_PYTHON}`];
/** The files of a Python run, without the wrapper of its Python. */
const settingsIn = ({ files }: SubmitCommand) => files.filter(({ path }) => path !== DRIVER_PYTHON);
const OWN = [
  ...['--conf', 'spark.authenticate=true', '--conf', 'spark.eventLog.enabled=true'],
  ...['--conf', 'spark.eventLog.dir=file:///run/events', '--conf', 'spark.eventLog.rolling.enabled=false'],
  ...['--conf', 'spark.eventLog.compress=false', '--conf', 'spark.eventLog.buffer.kb=8k'],
  ...['--conf', 'spark.eventLog.logStageExecutorMetrics=true'],
];

describe('submitCommand with a metastore', () => {
  const properties = { 'hive.metastore.uris': 'thrift://one:9083', 'fs.s3a.secret.key': 'the-secret' };
  const submit = (change: Partial<RunSpec> = {}, connectors: string | null = null): SubmitCommand =>
    submitCommand(spec({ metastore: { kind: 'hive', properties }, ...change }), {
      ...setup,
      runtime: { ...runtime, connectors },
    });

  it('has its properties in the file that only its owner reads', () => {
    const { argv, env, files } = submit();
    expect(JSON.stringify([argv, env])).not.toContain('the-secret');
    expect(files[0]?.content).toContain(
      'spark.sql.catalogImplementation=hive\nspark.hadoop.hive.metastore.uris=thrift://one:9083\n',
    );
    expect(files[0]?.content).toContain('secret.key=the-secret\n');
  });

  it('finds the stores of its tables if the node has connectors', () => {
    expect(submit().env['SPARK_DIST_CLASSPATH']).toBeUndefined();
    expect(submit({}, '/connectors').env['SPARK_DIST_CLASSPATH']).toBe('/connectors/*');
  });

  it('lets the job use another one', () => {
    const { argv } = submit({ conf: ['spark.hadoop.hive.metastore.uris=thrift://own:9083'] });
    expect(argv).toContain('spark.hadoop.hive.metastore.uris=thrift://own:9083');
  });

  it('refuses one that cannot be used', () => {
    expect(() => submit({ metastore: { kind: 'unusable', fault: 'It is gone.' } })).toThrow('It is gone.');
  });
});

describe('submitCommand with AWS Glue', () => {
  const ICEBERG =
    'org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1,org.apache.iceberg:iceberg-aws-bundle:1.10.1';
  const metastore = {
    kind: 'glue',
    region: 'eu-west-1',
    access_key_id: 'AKIA',
    secret_access_key: 'the-secret',
  } as const;
  const packages = (change: Partial<RunSpec>, properties: string[] = []) => {
    const { argv } = command({ metastore, ...change }, {}, properties);
    return argv[argv.indexOf('--packages') + 1];
  };

  it('has its keys in the environment and in the file that only its owner reads, and not on the command line', () => {
    const { argv, env, files } = command({ metastore });
    expect(argv.join(' ')).not.toMatch(/AKIA|the-secret/);
    expect(env).toMatchObject({ AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'the-secret' });
    expect(files[0]?.content).toContain('spark.executorEnv.AWS_SECRET_ACCESS_KEY=the-secret\n');
  });

  it("lets the job's or the node's own keys win", () => {
    const own = { AWS_ACCESS_KEY_ID: 'own', AWS_SECRET_ACCESS_KEY: 'own' };
    for (const { env, files } of [command({ metastore, env: own }), command({ metastore }, own)]) {
      expect(env).toMatchObject(own);
      expect(files[0]?.content).not.toContain('the-secret');
    }
  });

  it('loads its client, whichever way the job names its own packages', () => {
    expect(packages({})).toBe(ICEBERG);
    expect(packages({ packages: ['a:b:1'] })).toBe(`a:b:1,${ICEBERG}`);
    expect(packages({ conf: ['spark.jars.packages=x:y:1', 'spark.jars.packages=a:b:1, c:d:2'] })).toBe(
      `a:b:1,c:d:2,${ICEBERG}`,
    );
    expect(packages({}, ['spark.jars.packages a:b:1,\\\n  c:d:2'])).toBe(`a:b:1,c:d:2,${ICEBERG}`);
    expect(command({ metastore }).argv).toContain('spark.jars.ivySettings=/run/generated/ivysettings.xml');
  });

  it('leaves the packages of a run without it unchanged', () => {
    expect(command({ conf: ['spark.jars.packages=a:b:1'] }).argv).not.toContain('--packages');
  });
});

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

  it('keeps secrets in the file that only its owner reads', () => {
    const submitted = submit();
    const { argv, env } = submitted;
    expect(argv).toContain('/run/generated/spark.properties');
    expect(JSON.stringify([argv, env])).not.toContain('the-secret');
    expect(settingsIn(submitted)).toEqual([
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
    // Without mounts, too, Spark ignores the node's defaults if the user names a file.
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

  it("refuses a mount that would hide the run's working directory, to which its paths are relative", () => {
    const submitAt = (mount_point: string) => () =>
      submit([], { change: { mounts: [mount, { ...mount, mount_point }] } });
    for (const point of ['/run', '/run/work']) {
      expect(submitAt(point)).toThrow(
        new SubmitError(`The mount point ${point} would hide the run's working directory.`),
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

  it('uses no secret if the daemons were started without one', () => {
    const { argv } = command({ master: 'spark://m:7077' });
    expect(argv).toContain('spark.authenticate=false');
  });

  it("does not let the user's properties override it", () => {
    const { argv, files } = withSecret(['spark.a=1\nspark.authenticate=false\nspark.authenticate.secret  mine']);
    expect(argv).toContain('spark.authenticate=true');
    expect(files[0]?.content).toBe(
      'spark.authenticate.secret=the-secret\nspark.network.crypto.enabled=true\nspark.a=1\n',
    );
  });
});

describe('submitCommand', () => {
  it('submits a Python file with its arguments unchanged', () => {
    expect(command({ arguments: ['a b', '--x', '$(y)'] }).argv).toEqual([
      '/spark/bin/spark-submit',
      ...['--master', 'local[2]', '--name', 'a job', ...DEFAULTS, ...OWN],
      ...[...STARTS_PYTHON, '/run/staging/0/main.py', 'a b', '--x', '$(y)'],
    ]);
  });

  it.each<[string, Partial<RunSpec>, string[], Record<string, string>, string]>([
    ['of the runtime', {}, [], {}, '/venv/bin/python'],
    ['that the node names', {}, [], { PYSPARK_PYTHON: 'python3' }, 'python3'],
    ['that the run names for drivers', { env: { PYSPARK_DRIVER_PYTHON: 'a' } }, [], { PYSPARK_PYTHON: 'python3' }, 'a'],
    ['of a property', { conf: ['spark.pyspark.python=./env/bin/python'] }, ['spark.a=1'], {}, './env/bin/python'],
    ['of a file', {}, ['spark.pyspark.driver.python=python3\nspark.pyspark.python=x'], {}, 'python3'],
    ['whatever its name', { conf: ["spark.pyspark.driver.python=it's"] }, [], {}, `it'\\''s`],
  ])('starts the Python %s', (_what, change, properties, env, python) => {
    const { files, argv } = command(change, env, properties);
    const program = files.find(({ path }) => path === DRIVER_PYTHON);
    expect(program).toMatchObject({ isProgram: true, content: expect.stringContaining(`\nexec '${python}' "$@"\n`) });
    expect(argv.findLast((word) => word.startsWith('spark.pyspark.driver.python='))).toBe(STARTS_PYTHON[1]);
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
    const options =
      '-XX:SharedArchiveFile=/spark.jsa -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -Xlog:cds=off,cds+dynamic=off';
    expect(argv).toContain(`spark.executor.defaultJavaOptions=${options}`);
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
    const fromFile = command({}, {}, ['# c\nspark.ui.enabled  true\n', 'spark.b=1']);
    expect(fromFile.argv.join(' ')).not.toContain('spark.ui.enabled');
    expect(fromFile.argv).toContain('/run/generated/spark.properties');
    expect(settingsIn(fromFile)).toEqual([
      { path: '/run/generated/spark.properties', content: '# c\nspark.ui.enabled  true\n\nspark.b=1\n' },
    ]);
  });

  it('skips the byte order mark of a text', () => {
    const file = command({}, {}, ['\uFEFFspark.ui.enabled=true\r\nspark.b=1']);
    expect(file.argv.join(' ')).not.toContain('spark.ui.enabled');
    expect(file.files[0]?.content).toBe('spark.ui.enabled=true\nspark.b=1\n');
    const scala = command({ kind: 'raw-scala', application: null, code: '\uFEFFval a = 1\r\n' });
    expect(scala.files[0]?.content).toBe('val a = 1\r\n');
  });

  it('removes properties that the platform owns, from conf and from files, with a note', () => {
    const conf = ['spark.master=local[9]', 'spark.a=1', 'spark.eventLog.enabled=false', 'spark.eventLog.enabled=no'];
    const { argv, files, notes } = command({ conf }, {}, ['spark.eventLog.dir \\\n  s3a://logs\nspark.b=1']);
    const text = argv.join(' ');
    for (const owned of ['local[9]', 'enabled=false --conf spark.eventLog.dir', 'enabled=no'])
      expect(text).not.toContain(owned);
    expect(files[0]?.content).toBe('spark.b=1\n');
    expect(notes).toEqual([
      'The Spark property spark.eventLog.dir is ignored: the event log of every job is kept with its logs.',
      'The Spark property spark.master is ignored: the cluster of the job decides where it runs.',
      'The Spark property spark.eventLog.enabled is ignored: the event log of every job is kept with its logs.',
    ]);
    expect(argv.indexOf('spark.a=1')).toBeLessThan(argv.indexOf('spark.eventLog.enabled=true'));
    expect(command({ conf: ['spark.a=1'] }).notes).toEqual([]);
  });

  it('resolves packages from the repository that the platform names, or Maven Central', () => {
    const settings = (change: Partial<RunSpec>) => settingsIn(command(change))[0];
    const packages = ['g:a:1'];
    expect(settings({ packages })?.content).toContain('root="https://repo1.maven.org/maven2/"');
    const mirror = 'http://m/"x"?a&b';
    expect(settings({ packages, maven_repository: mirror })?.content).toContain(
      'root="http://m/&quot;x&quot;?a&amp;b"',
    );
    const path = '/run/generated/ivysettings.xml';
    expect(settings({ conf: ['spark.jars.packages=g:a:1'] })?.path).toBe(path);
    expect(command({ packages }).argv).toContain(`spark.jars.ivySettings=${path}`);
    expect(settings({})).toBeUndefined();
  });

  it("gives the driver the runtimes and nothing from the agent's environment", () => {
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

  it('runs raw Scala statement by statement in the interpreter, which exits with 1 by default', () => {
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

  it('removes the byte order mark of a text', () => {
    const { files } = command({ kind: 'raw-scala', application: null, code: '\uFEFFval a = 1' });
    expect(files[0]?.content).toBe('val a = 1');
  });

  it('runs sql from a file', () => {
    const { argv, files } = command({ kind: 'sql', application: null, code: 'select 1' });
    expect(argv.slice(-4)).toEqual([
      '--conf',
      'spark.pyspark.driver.python=/venv/bin/python',
      '/run/generated/bridge/sql_job.py',
      '/run/generated/query.sql',
    ]);
    expect(files).toContainEqual({ path: '/run/generated/query.sql', content: 'select 1' });
    expect(files.map(({ path }) => path)).toContain('/run/generated/bridge/sql_statements.py');
  });

  it('refuses arguments that spark-sql does not accept', () => {
    const sql = (...words: string[]) => command({ kind: 'sql', application: null, code: 'select 1', arguments: words });
    expect(sql('--hivevar', 'a=1').argv.slice(-2)).toEqual(['--hivevar', 'a=1']);
    expect(() => sql('--hivevar', 'a=1', '--master', 'local[7]')).toThrow(
      'A SQL job does not take the argument --master. It takes -S, --silent, -d,',
    );
  });

  it('names the folder of an archive, and the keytab file', () => {
    const { argv } = command({
      archives: [{ ...fetched(1, 'e.zip'), alias: 'env' }, fetched(2, 'f.zip')],
      keytab: '/x.keytab',
      keytab_file: fetched(3, 'x.keytab'),
    });
    expect(argv).toContain('/run/staging/1/e.zip#env,/run/staging/2/f.zip');
    expect(argv[argv.indexOf('--keytab') + 1]).toBe('/run/staging/3/x.keytab');
    expect(command({ keytab: '/x.keytab' }).argv.join(' ')).toContain('--keytab /x.keytab');
  });

  it("passes files with special characters as system properties, which hide the user's", () => {
    const { argv, env, files } = command(
      {
        application: fetched(0, 'main#1.py'),
        files: [fetched(1, 'sales, 2024.csv')],
        archives: [{ ...fetched(2, 'e,1.zip'), alias: 'env' }],
        jars: [fetched(3, 'l.jar')],
        conf: ['spark.files=/own', 'spark.a=1'],
      },
      {},
      ['spark.archives=/own\nspark.b=2'],
    );
    expect(argv.join(' ')).not.toMatch(/--files|--archives|\/own/);
    expect(argv).toContain('spark.a=1');
    expect(files[0]?.content).toBe('spark.b=2\n');
    expect(env['SPARK_SUBMIT_OPTS']).toContain(
      '-Dspark.files=file:///run/staging/1/sales%2C%202024.csv -Dspark.archives=file:///run/staging/2/e%2C1.zip#env',
    );
    expect(argv.slice(-5)).toEqual([
      ...['--jars', '/run/staging/3/l.jar'],
      ...[...STARTS_PYTHON, 'file:///run/staging/0/main%231.py'],
    ]);
  });

  it('starts with the program that puts fetched files and archives into the working directory', () => {
    const archives = [
      { ...fetched(2, 'e.zip'), alias: 'env' },
      fetched(3, 'f.tgz'),
      { ...fetched(4, 'g'), alias: '..' },
    ];
    const { argv, files } = command({ files: [fetched(1, 'a.csv'), uri('s3a://b/c')], archives });
    const program = '/run/generated/bridge/beside_driver.py';
    const description = '/run/generated/beside-driver.json';
    expect(argv.slice(0, 6)).toEqual(['/venv/bin/python', '-I', '-S', program, description, '/spark/bin/spark-submit']);
    expect(files.find(({ path }) => path === program)?.content).toContain('os.execv');
    const { content = '' } = files.find(({ path }) => path === description) ?? {};
    expect(JSON.parse(content)).toEqual({
      files: [['/run/staging/1/a.csv', 'a.csv']],
      archives: [
        ['/run/staging/2/e.zip', 'env'],
        ['/run/staging/3/f.tgz', 'f.tgz'],
      ],
    });
    expect(command({ files: [uri('s3a://b/c')] }).argv[0]).toBe('/spark/bin/spark-submit');
  });

  it.each([
    ['of one core each', {}, '--executor-cores 1 --total-executor-cores 3'],
    ['of the requested cores', { executor_cores: 2 }, '--executor-cores 2 --total-executor-cores 6'],
    ['as far as the total allows', { total_executor_cores: 2 }, '--total-executor-cores 2'],
    ['as far as conf allows', { conf: ['spark.cores.max=2'] }, '--num-executors 3'],
    ['in local mode none', { master: 'local[2]', executor_cores: 2 }, '--executor-cores 2 --num-executors 3'],
  ])('has num_executors on a standalone cluster, %s', (_what, change, expected) => {
    const text = command({ master: 'spark://m:7077', num_executors: 3, ...change }).argv.join(' ');
    expect(text).toContain(expected);
    if (!expected.includes('total')) expect(text).not.toContain('--total-executor-cores');
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

describe('submitCommand of a notebook', () => {
  const notebook = (language: 'python' | 'scala', scalaKernel: string | null = null): SubmitCommand =>
    submitCommand(spec({ kind: 'notebook', application: null, kernel: { language }, driver_memory: "5'12m" }), {
      ...setup,
      runtime: { ...runtime, scalaKernel },
    });

  it('is its bridge, with the options of spark-submit', () => {
    const { argv, env, files, stdin } = notebook('python');
    expect(argv).toEqual(['/venv/bin/python', '/run/generated/bridge/kernel_bridge.py', 'python']);
    expect(env['PYSPARK_SUBMIT_ARGS']).toMatch(
      /^'--master' 'local\[2\]' .*'--driver-memory' '5'"'"'12m' pyspark-shell$/,
    );
    expect(files.map(({ path }) => path)).toContain('/run/generated/bridge/kernel_process.py');
    expect(stdin).toBe('');
  });

  it('in Scala names the folder of the kernel', () => {
    const { argv } = notebook('scala', '/scala-kernel');
    expect(argv.slice(1)).toEqual(['/run/generated/bridge/kernel_bridge.py', 'scala', '/scala-kernel']);
  });

  it('in Scala is refused if the node has no kernel for it', () => {
    expect(() => notebook('scala')).toThrow(
      new SubmitError('The notebook is in Scala, but this node has no kernel for Scala.'),
    );
  });
});

describe('secrets of a run', () => {
  const secrets = { env: { API_KEY: 'hush\nhush' }, conf: { 'spark.hadoop.a.b': 'hush=hush' } };
  const properties = (built: SubmitCommand) => built.files.find(({ path }) => path.endsWith('.properties'))?.content;

  it('are in the environment and in the properties file, and on no command line', () => {
    const built = command({ secrets });
    expect(built.env).toMatchObject({ API_KEY: 'hush\nhush' });
    expect(properties(built)).toBe('spark.hadoop.a.b=hush=hush\nspark.executorEnv.API_KEY=hush\\nhush\n');
    expect(built.argv.join(' ')).not.toContain('hush');
    expect(built.notes.join(' ')).not.toContain('hush');
  });

  it('override the plain settings of the cluster and the job', () => {
    const open = ['spark.hadoop.a.b=open', 'spark.executorEnv.API_KEY=open', 'spark.c=open'];
    const texts = ['spark.hadoop.a.b: open\nspark.d=open\nspark.executorEnv.API_KEY open'];
    const built = command({ secrets, conf: open, env: { API_KEY: 'open', OTHER: 'open' } }, { API_KEY: 'open' }, texts);
    expect(built.env).toMatchObject({ API_KEY: 'hush\nhush', OTHER: 'open' });
    expect(properties(built)).toBe('spark.hadoop.a.b=hush=hush\nspark.executorEnv.API_KEY=hush\\nhush\nspark.d=open\n');
    expect(built.argv.filter((word) => word.endsWith('=open'))).toEqual(['spark.c=open']);
  });

  it("are redacted by Spark, with the user's own pattern", () => {
    const patterns = (conf: string[]) =>
      command({ secrets, conf }).argv.flatMap((word) => word.split('spark.redaction.regex=')[1] ?? []);
    const names = '|^spark\\.hadoop\\.a\\.b$|^spark\\.executorEnv\\.API_KEY$';
    expect(patterns([])).toEqual([`${REDACTED}${names}`]);
    expect(patterns(['spark.redaction.regex=a|b'])).toEqual([`a|b${names}`]);
  });

  it('do not change properties that the platform owns', () => {
    const built = command({ secrets: { env: {}, conf: { 'spark.master': 'hush' } } });
    expect(built).toEqual(command({}));
  });

  it('refuse the run if one cannot be read', () => {
    const fault = 'The environment variable A cannot be set from the secret "a".';
    expect(() => command({ secrets: { env: {}, conf: {}, fault } })).toThrow(new SubmitError(fault));
  });

  it('add a note if Spark drops blanks at their beginning or end', () => {
    const changed = { env: { A: ' hush', B: 'a b\n' }, conf: { 'spark.a': 'hush\t', 'spark.b': '' } };
    const { notes } = command({ secrets: changed });
    expect(notes).toEqual([
      'Spark drops blanks at the beginning and end of the secret property spark.a.',
      'For executors, Spark drops blanks at the beginning and end of the secret variable A; the driver gets them.',
    ]);
  });
});

describe('an accelerated run', () => {
  const accelerators = { turbo: '/turbo.jar', cuda: '/rapids.jar' };
  const turbo = { kind: 'turbo', memory_mb: 3072 } as const;
  const made = (change: Partial<RunSpec>, more: Partial<SubmitSetup> = {}): SubmitCommand =>
    submitCommand(spec({ accelerator: turbo, ...change }), {
      ...setup,
      runtime: { ...runtime, accelerators },
      ...more,
    });
  const confOf = ({ argv }: SubmitCommand): Record<string, string> =>
    Object.fromEntries(
      argv.flatMap((word, at) => {
        const [key = '', ...value] = argv[at - 1] === '--conf' ? word.split('=') : [];
        return key === '' ? [] : [[key, value.join('=')]];
      }),
    );
  const offHeap = (command: SubmitCommand): string | undefined => confOf(command)['spark.memory.offHeap.size'];

  it('finds the jar after all others, in the driver and in executors', () => {
    const { env, files } = made({ env: { SPARK_DIST_CLASSPATH: '/own' } });
    expect(env['SPARK_DIST_CLASSPATH']).toBe('/own:/turbo.jar');
    expect(files[0]?.content).toContain('spark.executorEnv.SPARK_DIST_CLASSPATH=/own:/turbo.jar');
    const metastore = { kind: 'hive', properties: {} } as const;
    const both = made({ metastore }, { runtime: { ...runtime, accelerators, connectors: '/connectors' } });
    expect(both.env['SPARK_DIST_CLASSPATH']).toBe('/connectors/*:/turbo.jar');
  });

  it('has the properties that it needs whatever the user sets, with a note', () => {
    const own = ['spark.shuffle.manager=sort', 'spark.memory.offHeap.size=64g', 'spark.comet.enabled=false'];
    const command = made({ conf: own, driver_memory: '2g' }, { properties: ['spark.plugins=mine'] });
    expect(confOf(command)).toMatchObject({
      'spark.plugins': 'org.apache.spark.CometPlugin',
      'spark.shuffle.manager': 'org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager',
      'spark.memory.offHeap.size': '1024m',
      'spark.comet.enabled': 'false',
    });
    expect(command.notes.map((note) => note.split(' ')[3])).toEqual([
      'spark.plugins',
      'spark.shuffle.manager',
      'spark.memory.offHeap.size',
    ]);
    expect(command.files.map(({ content }) => content).join()).not.toContain('mine');
  });

  it('counts the heap of the process that tasks run in, wherever it is set', () => {
    const cluster = { master: 'spark://m:1' };
    expect(offHeap(made({ driver_memory: '2560m' }))).toBe('512m');
    expect(offHeap(made({ ...cluster, driver_memory: '512m' }))).toBe('512m');
    expect(offHeap(made({ ...cluster, executor_memory: '4g' }))).toBe('2048m');
    expect(offHeap(made({ ...cluster, conf: ['spark.executor.memory=3g'] }))).toBe('1536m');
    expect(offHeap(made(cluster, { properties: ['spark.executor.memory 2g'] }))).toBe('1024m');
  });

  it('requests the memory beside its heap, too, unless tasks run in executors', () => {
    expect(made({ driver_memory: '2g' }).requestedMemoryMb).toBe(2048 + 1024);
    expect(made({ driver_memory: '2g', master: 'spark://m:1' }).requestedMemoryMb).toBe(2048);
  });

  it('is impossible on a node without the jar', () => {
    expect(() => submitCommand(spec({ accelerator: turbo }), setup)).toThrow(SubmitError);
  });

  it('has the plugin of RAPIDS if the cluster has CUDA', () => {
    const command = made({ accelerator: { kind: 'cuda', gpu_percent: 45 } });
    expect(command.env['SPARK_DIST_CLASSPATH']).toBe('/rapids.jar');
    expect(confOf(command)).toMatchObject({ 'spark.plugins': 'com.nvidia.spark.SQLPlugin' });
  });
});

describe('the default memory of a driver', () => {
  it('does not override the memory in a properties file', () => {
    const given = { driver_memory: '700m', driver_memory_is_default: true } as const;
    expect(command(given).argv).toContain('--driver-memory');
    expect(command(given, {}, ['spark.driver.memory=2g']).argv).not.toContain('--driver-memory');
  });

  it('is what the driver requests unless the run names another', () => {
    const given = { driver_memory: '700m', driver_memory_is_default: true } as const;
    expect(command(given).requestedMemoryMb).toBe(700);
    expect(command(given, {}, ['spark.driver.memory=2g']).requestedMemoryMb).toBe(2048);
    expect(command({ ...given, conf: ['spark.driver.memory=3g'] }).requestedMemoryMb).toBe(3072);
    expect(command({ driver_memory: '536870912' }).requestedMemoryMb).toBe(512);
    expect(command({ driver_memory: null }).requestedMemoryMb).toBe(1024);
  });
});
