import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  canStartEarly,
  type DaemonSecrets,
  masterCommand,
  parseMasterStatus,
  parseWorkerRegistered,
  workerCommand,
} from './daemon-command';
import type { SparkRuntime } from './submit-command';

const secrets: DaemonSecrets = { spark: 'the-secret', ui: 'the-token' };
const runtime = {
  sparkHome: '/spark',
  sparkVersion: '3.5.9',
  javaHome: '/java',
  python: '/venv/bin/python',
  classArchive: null,
  connectors: null,
  scalaKernel: null,
  accelerators: { turbo: null, cuda: null },
};

describe('daemon commands', () => {
  it('starts a master that does not move to another port', () => {
    const place = { host: '127.0.0.1', port: 7100, webUiPort: 7101 };
    const { argv, env } = masterCommand(runtime, { SPARK_MASTER_OPTS: '-Da=1' }, secrets, place);
    expect(argv.join(' ')).toBe(
      '/spark/bin/spark-class org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 7100 --webui-port 7101',
    );
    expect(env['SPARK_MASTER_OPTS']).toBe('-Dspark.port.maxRetries=0 -Da=1');
  });

  it('starts a worker with the GPUs that it offers', () => {
    const gpus = { amount: 2, discoveryScript: '/node/gpus.sh' };
    const place = { host: '127.0.0.1', webUiPort: 7102, cores: 2, memoryMb: 512, workDir: '/node/work/1', gpus };
    const { env } = workerCommand(runtime, { SPARK_WORKER_OPTS: '-Da=1' }, secrets, place, 'spark://127.0.0.1:7100');
    expect(env['SPARK_WORKER_OPTS']).toMatch(
      / -Dspark.worker.resource.gpu.amount=2 -Dspark.worker.resource.gpu.discoveryScript=\/node\/gpus.sh -Da=1 /,
    );
  });

  it('starts a worker with the resources that it offers', () => {
    const place = { host: '127.0.0.1', webUiPort: 7102, cores: 2, memoryMb: 512, workDir: '/node/work/1' };
    const { argv } = workerCommand(runtime, {}, secrets, place, 'spark://127.0.0.1:7100');
    expect(argv.join(' ')).toBe(
      '/spark/bin/spark-class org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --port 0 --webui-port 7102 ' +
        '--cores 2 --memory 512m --work-dir /node/work/1 spark://127.0.0.1:7100',
    );
  });
});

describe('daemon commands without the scripts of Spark', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'spark-'));
    for (const name of ['jars', 'connectors']) mkdirSync(`${root}/${name}`);
    writeFileSync(`${root}/jars/spark-core_2.12-3.5.9.jar`, '');
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const plain = (connectors: string | null = null): SparkRuntime => ({
    ...runtime,
    sparkHome: root,
    classArchive: '/spark.jsa',
    connectors,
  });
  const text = (argv: readonly string[]): string => argv.join(' ').replaceAll(root, '');

  it('starts a master, with the options of the node after those of the platform', () => {
    const node = { SPARK_DAEMON_JAVA_OPTS: '-Da=1', SPARK_MASTER_OPTS: '-Db=2', SPARK_DAEMON_MEMORY: '1g' };
    const { argv, env } = masterCommand(plain(), node, secrets, { host: '127.0.0.1', port: 7100, webUiPort: 7101 });
    expect(text(argv)).toBe(
      '/java/bin/java -cp /conf/:/jars/* -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=/spark.jsa ' +
        '-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -Xlog:cds=off,cds+dynamic=off ' +
        '-Dspark.ui.killEnabled=false -Dspark.authenticate=true -Dspark.network.crypto.enabled=true -Da=1 ' +
        '-Dspark.port.maxRetries=0 -Db=2 -Xmx1g ' +
        'org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 7100 --webui-port 7101',
    );
    expect(env).toMatchObject({ _SPARK_AUTH_SECRET: 'the-secret', SPARK_SCALA_VERSION: '2.12' });
    expect(argv.join(' ')).not.toMatch(/the-secret|the-token/);
  });

  const place = { host: '127.0.0.1', webUiPort: 7102, cores: 2, memoryMb: 512, workDir: '/work' };
  const worker = (awaited: { host: string; port: number } | null): ReturnType<typeof workerCommand> =>
    workerCommand(plain('/connectors'), {}, secrets, place, 'spark://10.0.0.1:7100', awaited);

  it('starts a worker that waits for its master, with a class that no executor inherits', () => {
    const { argv, env } = worker({ host: '10.0.0.1', port: 7100 });
    expect(text(argv)).toMatch(
      / -cp \/conf\/:\/jars\/\*:\/connectors\/ui-token-filter\.jar:\/connectors\/early-worker\.jar .* -Xmx512m org\.apache\.spark\.deploy\.early\.EarlyWorker 10\.0\.0\.1 7100 60000 org\.apache\.spark\.deploy\.worker\.Worker --host 127\.0\.0\.1 .* spark:\/\/10\.0\.0\.1:7100$/,
    );
    expect(env['SPARK_DIST_CLASSPATH']).toBe('/connectors/ui-token-filter.jar');
    // Every executor gets these two from its worker.
    expect(JSON.stringify(env)).not.toMatch(/UseSerialGC|TieredStopAtLevel/);
    expect(text(worker(null).argv)).not.toMatch(/early/i);
  });

  it('can start a worker early with the jar for it, unless only the scripts of Spark can start it', () => {
    const withJar = plain(`${root}/connectors`);
    expect(canStartEarly(withJar, {})).toBe(false);
    writeFileSync(`${root}/connectors/early-worker.jar`, '');
    expect(canStartEarly(withJar, {})).toBe(true);
    expect(canStartEarly(withJar, { SPARK_CONF_DIR: '/conf' })).toBe(false);
    expect(canStartEarly(plain(), {})).toBe(false);
  });
});

describe('environment of daemons', () => {
  const place = { host: '127.0.0.1', port: 7100, webUiPort: 7101 };

  it('starts from the class archive, and lets the options of the node win', () => {
    const env = { SPARK_DAEMON_JAVA_OPTS: '-Xshare:off', SPARK_DAEMON_MEMORY: '1g' };
    const command = masterCommand({ ...runtime, classArchive: '/spark.jsa' }, env, secrets, place);
    expect(command.env['SPARK_DAEMON_JAVA_OPTS']).toMatch(/^-XX:SharedArchiveFile=\/spark.jsa .* -Xshare:off$/);
    expect(command.env['SPARK_DAEMON_MEMORY']).toBe('1g');
  });

  it('requires the secret of the cluster, which is on no command line', () => {
    const { argv, env } = masterCommand(runtime, {}, secrets, place);
    const { _SPARK_AUTH_SECRET: secret, SPARK_UI_TOKEN: token, SPARK_DAEMON_JAVA_OPTS: options = '' } = env;
    expect([secret, token]).toEqual(['the-secret', 'the-token']);
    expect(options.split(' ')).toEqual([
      '-Dspark.ui.killEnabled=false',
      '-Dspark.authenticate=true',
      '-Dspark.network.crypto.enabled=true',
    ]);
    expect(`${argv.join(' ')} ${options}`).not.toMatch(/the-secret|the-token/);
  });

  it('protects the pages of daemons if the node has the filter', () => {
    const { env } = masterCommand({ ...runtime, connectors: '/connectors' }, {}, { ...secrets, spark: null }, place);
    expect(env['SPARK_DAEMON_JAVA_OPTS']).toBe('-Dspark.ui.killEnabled=false -Dspark.ui.filters=node.UiTokenFilter');
    expect(env['SPARK_DIST_CLASSPATH']).toBe('/connectors/ui-token-filter.jar');
    expect(env).not.toHaveProperty('_SPARK_AUTH_SECRET');
  });
});

describe('status pages', () => {
  it("reads the master's", () => {
    const page = { status: 'ALIVE', aliveworkers: 2, activeapps: [{ id: 'app-1' }, { name: 'x' }] };
    expect(parseMasterStatus(JSON.stringify(page))).toEqual({
      alive: true,
      aliveWorkers: 2,
      activeApplications: ['app-1'],
    });
    expect(parseMasterStatus('{"status":"RECOVERING"}')?.alive).toBe(false);
  });

  it.each(['', '<html>', '[]', 'null', '{}'])('returns null for %j', (body) => {
    expect(parseMasterStatus(body)).toBeNull();
  });

  it("reads whether a worker is registered from the worker's", () => {
    expect(parseWorkerRegistered('{"masterwebuiurl":"http://127.0.0.1:8080"}')).toBe(true);
    expect(parseWorkerRegistered('{"masterwebuiurl":""}')).toBe(false);
    expect(parseWorkerRegistered('nothing')).toBe(false);
  });
});
