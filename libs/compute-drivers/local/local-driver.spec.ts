import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses, signal } from '../../node-agent/processes';
import type { AgentConfig } from '../../node-agent/config';
import type { DriverContext, NodeSpec } from '../compute-driver';
import { describeComputeDriverContract } from '../compute-driver.contract';
import { LocalDriver, stopAllLocalNodes, type LocalDriverOptions } from './local-driver';

jest.setTimeout(30_000);

/**
 * Reports that it started and lives until it is asked to end; leaves a process in another session, as a daemon would.
 */
const FAKE_AGENT = `
const { appendFileSync, readFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.on('SIGTERM', () => process.exit(0));
spawn('/bin/sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();
appendFileSync(config.node_dir + '/starts', process.pid + '\\n');
setInterval(() => undefined, 1000);
`;

const context: DriverContext = {
  endpoint: 'local://',
  credentials: {},
  correlationId: 'test',
  signal: new AbortController().signal,
};

function makeRoot(): { root: string; options: LocalDriverOptions } {
  const root = mkdtempSync(join(tmpdir(), 'local-driver-'));
  const executable = (path: string): void => {
    writeFileSync(path, '#!/bin/sh\n');
    chmodSync(path, 0o755);
  };
  for (const dir of ['java/bin', 'spark/bin']) mkdirSync(`${root}/${dir}`, { recursive: true });
  for (const path of ['java/bin/java', 'spark/bin/spark-submit', 'python']) executable(`${root}/${path}`);
  writeFileSync(`${root}/agent.js`, FAKE_AGENT);
  return {
    root,
    options: {
      dir: `${root}/nodes`,
      sparkHomes: { '3.5.3': `${root}/spark` },
      javaHome: `${root}/java`,
      python: `${root}/python`,
      classArchives: { '3.5.3': `${root}/spark.jsa` },
      connectors: { '3.5.3': `${root}/connectors` },
      scalaKernels: { '3.5.3': `${root}/scala-kernel` },
      confinement: { kind: 'none' },
      sharedDirs: ['/data'],
      agentEntry: `${root}/agent.js`,
    },
  };
}

describeComputeDriverContract('LocalDriver', () => {
  const { root, options } = makeRoot();
  return Promise.resolve({
    driver: new LocalDriver(options),
    sparkVersion: '3.5.3',
    close: () => Promise.resolve(rmSync(root, { recursive: true })),
  });
});

describe('LocalDriver', () => {
  let root: string;
  let options: LocalDriverOptions;
  let driver: LocalDriver;

  beforeEach(() => {
    ({ root, options } = makeRoot());
    driver = new LocalDriver(options);
  });

  afterEach(async () => {
    await killAll();
    rmSync(root, { recursive: true, force: true });
  });

  const spec = (nodeToken: string): NodeSpec => ({
    labels: { clusterId: '1', tenantId: '2', nodeToken },
    nodeNumber: 1,
    machineType: 'small',
    cores: 2,
    memoryMb: 1024,
    disks: [],
    sparkVersion: '3.5.3',
    userLabels: {},
    isSpot: false,
    enablePublicIp: false,
    agentApiUrl: 'http://127.0.0.1:9',
    bootstrapToken: 'secret',
  });
  const processes = (): ReturnType<typeof markedProcesses> => markedProcesses((dir) => dir.startsWith(`${root}/`));
  const folders = (): string[] => readdirSync(options.dir).filter((name) => !name.endsWith('.lock'));
  const starts = (token: string): number[] => {
    const path = `${options.dir}/${token}/data/starts`;
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : [];
  };
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    const deadline = performance.now() + 15_000;
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error(`never came true: ${holds.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  /** One may just be starting another. */
  const killAll = (): Promise<void> =>
    until(() => {
      for (const { pid } of processes()) signal(pid, 'SIGKILL');
      return processes().length === 0;
    });

  it('gives the agent its configuration, readable by its owner alone', async () => {
    await driver.provision(spec('a'), context);
    const config: unknown = JSON.parse(readFileSync(`${options.dir}/a/agent.json`, 'utf8'));
    expect(config).toEqual({
      api_url: 'http://127.0.0.1:9',
      bootstrap_token: 'secret',
      node_dir: `${options.dir}/a/data`,
      spark_home: `${root}/spark`,
      java_home: `${root}/java`,
      python: `${root}/python`,
      class_archive: `${root}/spark.jsa`,
      connectors: `${root}/connectors`,
      scala_kernel: `${root}/scala-kernel`,
      spark_version: '3.5.3',
      cores: 2,
      memory_mb: 1024,
      bind_address: '127.0.0.1',
      env: { SPARK_LOCAL_IP: '127.0.0.1' },
      shared_dirs: ['/data'],
      confinement: { kind: 'none' },
    });
    expect(readFileSync(`${options.dir}/a/node.json`, 'utf8')).not.toContain('secret');
  });

  it('starts one agent however many callers race, in one process or two drivers', async () => {
    const other = new LocalDriver(options);
    await Promise.all([driver, other, driver, other].map((each) => each.provision(spec('a'), context)));
    await until(() => starts('a').length > 0);
    expect(processes().filter(({ argv }) => argv.includes('node-supervisor'))).toHaveLength(1);
    expect(starts('a')).toHaveLength(1);
  });

  it('starts an agent again that was killed', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    signal(starts('a')[0] ?? 0, 'SIGKILL');
    await until(() => starts('a').length === 2);
    expect(await driver.describe(['a'])).toMatchObject([{ state: 'running' }]);
  });

  it('tells a node whose supervisor was killed, and start revives it with one agent', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    for (const { pid, argv } of processes()) if (argv.includes('node-supervisor')) signal(pid, 'SIGKILL');
    await until(async () => (await driver.describe(['a']))[0]?.state === 'failed');
    await driver.start('a', context);
    await until(() => starts('a').length === 2);
    expect(processes().filter(({ argv }) => argv.includes(options.agentEntry) && !argv.includes('-c'))).toHaveLength(1);
  });

  it('sees which nodes went down by themselves, and revives those alone', async () => {
    const killSupervisors = (): void => {
      for (const { pid, argv } of processes()) if (argv.includes('node-supervisor')) signal(pid, 'SIGKILL');
    };
    for (const token of ['a', 'b', 'c']) await driver.provision(spec(token), context);
    await until(() => ['a', 'b', 'c'].every((token) => starts(token).length === 1));
    expect(await driver.downed()).toEqual([]);
    await driver.stop('b', context);
    await driver.destroy('c', context);
    expect(await driver.downed()).toEqual([]);
    killSupervisors();
    await until(async () => (await driver.downed()).length > 0);
    expect(await driver.downed()).toEqual(['a']);
    for (const token of ['a', 'b', 'c']) await driver.revive(token, context);
    expect(await driver.downed()).toEqual([]);
    expect((await driver.describe(['a', 'b', 'c'])).map(({ state }) => state)).toEqual(['running', 'stopped', 'gone']);
  });

  it('tells once of a node whose directory is gone, when nothing of it runs any more', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    expect(await driver.downed()).toEqual([]);
    await killAll();
    rmSync(`${options.dir}/a`, { recursive: true });
    const told: string[] = [];
    await until(async () => told.push(...(await driver.downed())) > 0);
    expect([...told, ...(await driver.downed())]).toEqual(['a']);
  });

  it('leaves no process after stop and keeps the directory', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1 && processes().length >= 3);
    await driver.stop('a', context);
    expect(processes()).toEqual([]);
    expect(existsSync(`${options.dir}/a/data/starts`)).toBe(true);
  });

  it('leaves neither process nor directory after destroy', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    await driver.destroy('a', context);
    expect(processes()).toEqual([]);
    expect(folders()).toEqual([]);
  });

  it('finishes a destroy that was cut short', async () => {
    await driver.provision(spec('a'), context);
    await driver.destroy('a', context);
    mkdirSync(`${options.dir}/.gone-a/data`, { recursive: true });
    await driver.destroy('a', context);
    expect(folders()).toEqual([]);
  });

  it('leaves nothing of a provision that was cut short', async () => {
    const draft = `${options.dir}/.new-a`;
    mkdirSync(draft, { recursive: true });
    writeFileSync(`${draft}/stale`, '');
    await driver.provision(spec('a'), context);
    expect(folders()).toEqual(['a']);
    expect(existsSync(`${options.dir}/a/stale`)).toBe(false);
    await driver.destroy('a', context);
    mkdirSync(draft, { recursive: true });
    await driver.destroy('a', context);
    expect(folders()).toEqual([]);
  });

  it('ends the processes of all nodes and keeps the directories when everything is shut down', async () => {
    await driver.provision(spec('a'), context);
    await driver.provision(spec('b'), context);
    await until(() => starts('a').length === 1 && starts('b').length === 1);
    await stopAllLocalNodes(options.dir);
    expect(processes()).toEqual([]);
    expect((await driver.listOwned()).map(({ state }) => state)).toEqual(['failed', 'failed']);
    await driver.start('a', context);
    expect(await driver.describe(['a'])).toMatchObject([{ state: 'running' }]);
  });

  describe('where each job has a user of its own', () => {
    const users = { kind: 'users' as const, firstUid: 1_900_010_000, uids: 256, bubblewrap: null };

    beforeEach(() => {
      driver = new LocalDriver({ ...options, confinement: users });
    });

    const confinementOf = (token: string): unknown =>
      (JSON.parse(readFileSync(`${options.dir}/${token}/agent.json`, 'utf8')) as AgentConfig).confinement;

    it('gives each node its own, and those of a destroyed one to the next', async () => {
      await Promise.all(['a', 'b'].map((token) => driver.provision(spec(token), context)));
      const given = [
        { ...users, uids: 128 },
        { ...users, firstUid: 1_900_010_128, uids: 128 },
      ];
      expect(new Set([confinementOf('a'), confinementOf('b')])).toEqual(new Set(given));
      await expect(driver.provision(spec('c'), context)).rejects.toMatchObject({ code: 'LOCAL.USERS_EXHAUSTED' });
      const freed = confinementOf('a');
      await driver.destroy('a', context);
      await driver.provision(spec('c'), context);
      expect(confinementOf('c')).toEqual(freed);
    });

    it('keeps them for a node that comes back, and gives them to one that had none', async () => {
      await new LocalDriver(options).provision(spec('a'), context);
      await driver.provision(spec('b'), context);
      const given = confinementOf('b');
      for (const token of ['a', 'b']) {
        await driver.stop(token, context);
        await driver.start(token, context);
      }
      expect(confinementOf('b')).toEqual(given);
      expect(confinementOf('a')).toMatchObject({ kind: 'users', uids: 128 });
      expect(confinementOf('a')).not.toEqual(given);
    });
  });

  it('names the Spark versions it has', async () => {
    await expect(driver.provision({ ...spec('a'), sparkVersion: '4.0.0' }, context)).rejects.toMatchObject({
      code: 'LOCAL.SPARK_VERSION_UNAVAILABLE',
      retryable: false,
      message: expect.stringContaining('3.5.3') as string,
    });
  });

  it.each([
    ['java/bin/java', 'LOCAL.JAVA_UNAVAILABLE'],
    ['spark/bin/spark-submit', 'LOCAL.SPARK_UNAVAILABLE'],
    ['python', 'LOCAL.PYTHON_UNAVAILABLE'],
    ['agent.js', 'LOCAL.AGENT_UNAVAILABLE'],
  ])('names what is missing: %s', async (path, code) => {
    rmSync(`${root}/${path}`);
    await expect(driver.provision(spec('a'), context)).rejects.toMatchObject({
      code,
      retryable: false,
      message: expect.stringContaining(path) as string,
    });
    expect(existsSync(options.dir)).toBe(false);
  });

  it('says where it cannot write', async () => {
    writeFileSync(options.dir, '');
    await expect(driver.provision(spec('a'), context)).rejects.toMatchObject({ name: 'ComputeDriverError' });
  });

  it.each(['../a', 'a/b', '', '.hidden'])('takes no token that is a path: %j', async (token) => {
    await expect(driver.destroy(token, context)).rejects.toMatchObject({ code: 'LOCAL.INVALID_TOKEN' });
  });
});
