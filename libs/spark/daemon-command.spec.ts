import { masterCommand, parseMasterStatus, parseWorkerRegistered, workerCommand } from './daemon-command';

const runtime = {
  sparkHome: '/spark',
  javaHome: '/java',
  python: '/venv/bin/python',
  classArchive: null,
  connectors: null,
  home: '/node/home',
};

describe('daemon commands', () => {
  it('starts a master that does not move to another port', () => {
    const place = { host: '127.0.0.1', port: 7100, webUiPort: 7101 };
    const { argv, env } = masterCommand(runtime, { SPARK_MASTER_OPTS: '-Da=1' }, place);
    expect(argv.join(' ')).toBe(
      '/spark/bin/spark-class org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 7100 --webui-port 7101',
    );
    expect(env['SPARK_MASTER_OPTS']).toBe('-Dspark.port.maxRetries=0 -Da=1');
  });

  it('starts a worker with what it offers', () => {
    const place = { host: '127.0.0.1', webUiPort: 7102, cores: 2, memoryMb: 512, workDir: '/node/work/1' };
    const { argv } = workerCommand(runtime, {}, place, 'spark://127.0.0.1:7100');
    expect(argv.join(' ')).toBe(
      '/spark/bin/spark-class org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --port 0 --webui-port 7102 ' +
        '--cores 2 --memory 512m --work-dir /node/work/1 spark://127.0.0.1:7100',
    );
  });
});

describe('environment of daemons', () => {
  const place = { host: '127.0.0.1', port: 7100, webUiPort: 7101 };

  it('starts from the class archive, and lets the options of the node win', () => {
    const env = { SPARK_DAEMON_JAVA_OPTS: '-Xshare:off', SPARK_DAEMON_MEMORY: '1g' };
    const command = masterCommand({ ...runtime, classArchive: '/spark.jsa' }, env, place);
    expect(command.env).toMatchObject({
      SPARK_DAEMON_JAVA_OPTS: '-XX:SharedArchiveFile=/spark.jsa -Xshare:off',
      SPARK_DAEMON_MEMORY: '1g',
    });
  });

  it('names no archive where there is none', () => {
    expect(masterCommand(runtime, {}, place).env['SPARK_DAEMON_JAVA_OPTS']).toBe('');
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

  it.each(['', '<html>', '[]', 'null', '{}'])('takes %j for no status', (body) => {
    expect(parseMasterStatus(body)).toBeNull();
  });

  it("reads whether a worker is registered from the worker's", () => {
    expect(parseWorkerRegistered('{"masterwebuiurl":"http://127.0.0.1:8080"}')).toBe(true);
    expect(parseWorkerRegistered('{"masterwebuiurl":""}')).toBe(false);
    expect(parseWorkerRegistered('nothing')).toBe(false);
  });
});
