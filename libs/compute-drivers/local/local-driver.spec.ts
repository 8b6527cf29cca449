import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNodeProcess, markedProcesses, signal } from '../../node-agent/processes';
import type { AgentConfig } from '../../node-agent/config';
import type { DriverContext, NodeSpec } from '../compute-driver';
import { describeComputeDriverContract, plainNodeSpec } from '../compute-driver.contract';
import { LocalDriver, stopAllLocalNodes, type LocalDriverOptions } from './local-driver';
import { FOLDER_IDS_FILE } from './local-folder';

/**
 * Records its start and runs until SIGTERM. Leaves a process in another session, as a daemon would.
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
  for (const dir of ['java/bin', 'spark/bin', 'spark/jars']) mkdirSync(`${root}/${dir}`, { recursive: true });
  for (const path of ['java/bin/java', 'spark/bin/spark-submit', 'python']) executable(`${root}/${path}`);
  writeFileSync(`${root}/agent.js`, FAKE_AGENT);
  writeFileSync(`${root}/spark/jars/spark-core_2.12-3.5.3.jar`, '');
  return {
    root,
    options: {
      dir: `${root}/nodes`,
      sparks: {
        '3.5.3': {
          home: `${root}/spark`,
          classArchive: `${root}/spark.jsa`,
          connectors: `${root}/connectors`,
          scalaKernel: `${root}/scala-kernel`,
          turbo: `${root}/comet.jar`,
        },
      },
      sparkInstaller: null,
      javaHome: `${root}/java`,
      python: `${root}/python`,
      confinement: { kind: 'none' },
      sharedDirs: ['/data'],
      agentEntry: `${root}/agent.js`,
      agentApiUrl: 'http://127.0.0.1:9',
      machineRegistry: `${root}/registry`,
    },
  };
}

describeComputeDriverContract('LocalDriver', () => {
  const { root, options } = makeRoot();
  const driver = new LocalDriver(options);
  return Promise.resolve({
    driver,
    sparkVersion: '3.5.3',
    interrupt: (nodeRef) => driver.interrupt(nodeRef, context),
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

  const spec = (nodeToken: string, sparkVersion = '3.5.3'): NodeSpec => {
    const plain = plainNodeSpec(nodeToken, sparkVersion);
    return { ...plain, boot: { ...plain.boot, bootstrapToken: 'secret' } };
  };
  const ref = (nodeToken: string) => ({ nodeToken });
  const refs = (...tokens: string[]) => tokens.map(ref);
  const processes = (): ReturnType<typeof markedProcesses> => markedProcesses((dir) => dir.startsWith(`${root}/`));
  const folders = (): string[] =>
    readdirSync(options.dir).filter((name) => !name.endsWith('.lock') && name !== FOLDER_IDS_FILE);
  const starts = (token: string): number[] => {
    const path = `${options.dir}/${token}/data/starts`;
    // The file exists before its first line does.
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1).map(Number) : [];
  };
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    const deadline = performance.now() + 60_000;
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error(`Timed out: ${holds.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  /** Repeats, because a killed process may just have started another. */
  const killAll = (): Promise<void> =>
    until(() => {
      for (const { pid } of processes()) signal(pid, 'SIGKILL');
      return processes().length === 0;
    });

  it('writes the configuration of the agent, with the token in no other file', async () => {
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
      turbo: `${root}/comet.jar`,
      spark_version: '3.5.3',
      cores: 1,
      memory_mb: 512,
      shares_machine: true,
      bind_address: '127.0.0.2',
      env: { SPARK_LOCAL_IP: '127.0.0.2' },
      shared_dirs: ['/data'],
      interruption_notice: { kind: 'file', path: `${options.dir}/a/interruption.json` },
      confinement: { kind: 'none' },
    });
    expect(readFileSync(`${options.dir}/a/node.json`, 'utf8')).not.toContain('secret');
  });

  it('refuses a node without the accelerator of its cluster', async () => {
    const wanted = (accelerator: 'turbo' | 'cuda') => {
      const plain = spec('a');
      return driver.provision({ ...plain, boot: { ...plain.boot, accelerator } }, context);
    };
    const refusal = { kind: 'invalid', code: 'LOCAL.ACCELERATOR_UNAVAILABLE' };
    await expect(wanted('turbo')).rejects.toMatchObject({ ...refusal, message: expect.stringContaining('Turbo') });
    await expect(wanted('cuda')).rejects.toMatchObject({ ...refusal, message: expect.stringContaining('no GPUs') });
    expect(existsSync(options.dir) ? folders() : []).toEqual([]);
    writeFileSync(`${root}/comet.jar`, '');
    expect(await wanted('turbo')).toMatchObject({ labels: { nodeToken: 'a' } });
  });

  it('knows the reference of a node beforehand, and recognizes nodes of another folder', async () => {
    const reference = await driver.reference('a');
    expect((await driver.provision(spec('a'), context)).providerRef).toBe(reference);
    const other = new LocalDriver({ ...options, dir: `${root}/other` });
    await expect(other.assertHere([reference])).rejects.toMatchObject({ code: 'LOCAL.ELSEWHERE' });
    for (const one of [driver, new LocalDriver(options)]) await one.assertHere([reference]);
  });

  it('starts one agent for concurrent calls of two drivers', async () => {
    const other = new LocalDriver(options);
    await Promise.all([driver, other, driver, other].map((each) => each.provision(spec('a'), context)));
    await until(() => starts('a').length > 0);
    expect(processes().filter(({ argv }) => argv.includes('node-supervisor'))).toHaveLength(1);
    expect(starts('a')).toHaveLength(1);
  });

  it('restarts a killed agent', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    for (const pid of starts('a')) signal(pid, 'SIGKILL');
    await until(() => starts('a').length === 2);
    expect(await driver.describe(refs('a'))).toMatchObject([{ state: 'running' }]);
  });

  it('reports a node whose supervisor was killed, and starts it again with one agent', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    for (const { pid, argv } of processes()) if (argv.includes('node-supervisor')) signal(pid, 'SIGKILL');
    await until(async () => (await driver.describe(refs('a')))[0]?.state === 'failed');
    await driver.start(ref('a'), context);
    await until(() => starts('a').length === 2);
    expect(processes().filter(({ argv }) => argv.includes(options.agentEntry) && !argv.includes('-c'))).toHaveLength(1);
  });

  it('rewrites the configuration of the agent at each start', async () => {
    await driver.provision(spec('a'), context);
    const config = (): Partial<AgentConfig> =>
      JSON.parse(readFileSync(`${options.dir}/a/agent.json`, 'utf8')) as AgentConfig;
    const later = (number: number): LocalDriver =>
      new LocalDriver({ ...options, agentApiUrl: `http://127.0.0.1:${number}`, javaHome: `${root}/java${number}` });
    for (const number of [1, 2]) {
      mkdirSync(`${root}/java${number}/bin`, { recursive: true });
      writeFileSync(`${root}/java${number}/bin/java`, '', { mode: 0o755 });
    }
    await killAll();
    await later(1).revive(ref('a'), context);
    const kept = { bootstrap_token: 'secret', confinement: { kind: 'none' } };
    expect(config()).toMatchObject({ ...kept, api_url: 'http://127.0.0.1:1', java_home: `${root}/java1` });
    await later(1).stop(ref('a'), context);
    await later(2).start(ref('a'), context);
    expect(config()).toMatchObject({ ...kept, api_url: 'http://127.0.0.1:2', java_home: `${root}/java2` });
  });

  it('refuses a Spark folder that an upgrade has replaced with another version', async () => {
    await driver.provision(spec('a'), context);
    await driver.provision(spec('b'), context);
    await driver.stop(ref('b'), context);
    await killAll();
    renameSync(`${root}/spark/jars/spark-core_2.12-3.5.3.jar`, `${root}/spark/jars/spark-core_2.12-3.5.9.jar`);
    const refusal = {
      ...{ code: 'LOCAL.SPARK_REPLACED', kind: 'invalid' },
      message: expect.stringMatching(
        /needs Spark 3\.5\.3, but .* has Spark 3\.5\.9\. .*COMPUTE_LOCAL_SPARK_HOMES/,
      ) as string,
    };
    await expect(driver.provision(spec('c'), context)).rejects.toMatchObject(refusal);
    await expect(driver.revive(ref('a'), context)).rejects.toMatchObject(refusal);
    await expect(driver.start(ref('b'), context)).rejects.toMatchObject(refusal);
    expect(processes()).toEqual([]);
    // The node is kept, so that it can start again once its Spark is back.
    expect(await driver.describe(refs('b'))).toMatchObject([{ state: 'stopped' }]);
  });

  it('lists nodes that went down by themselves, and revives only those', async () => {
    const killSupervisors = (): void => {
      for (const { pid, argv } of processes()) if (argv.includes('node-supervisor')) signal(pid, 'SIGKILL');
    };
    for (const token of ['a', 'b', 'c']) await driver.provision(spec(token), context);
    await until(() => ['a', 'b', 'c'].every((token) => starts(token).length === 1));
    expect(await driver.listDownNodes()).toEqual([]);
    await driver.stop(ref('b'), context);
    await driver.destroy(ref('c'), context);
    expect(await driver.listDownNodes()).toEqual([]);
    killSupervisors();
    await until(async () => (await driver.listDownNodes()).length > 0);
    expect(await driver.listDownNodes()).toEqual(['a']);
    for (const token of ['a', 'b', 'c']) await driver.revive(ref(token), context);
    expect(await driver.listDownNodes()).toEqual([]);
    expect((await driver.describe(refs('a', 'b', 'c'))).map(({ state }) => state)).toEqual([
      'running',
      'stopped',
      'gone',
    ]);
  });

  it('lists a node without a directory once, when none of its processes runs', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    expect(await driver.listDownNodes()).toEqual([]);
    await killAll();
    rmSync(`${options.dir}/a`, { recursive: true });
    const down: string[] = [];
    await until(async () => down.push(...(await driver.listDownNodes())) > 0);
    expect([...down, ...(await driver.listDownNodes())]).toEqual(['a']);
  });

  it('leaves no process after stop and keeps the directory', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1 && processes().length >= 3);
    await driver.stop(ref('a'), context);
    expect(processes()).toEqual([]);
    expect(existsSync(`${options.dir}/a/data/starts`)).toBe(true);
  });

  it('leaves neither process nor directory after destroy', async () => {
    await driver.provision(spec('a'), context);
    await until(() => starts('a').length === 1);
    await driver.destroy(ref('a'), context);
    expect(processes()).toEqual([]);
    expect(folders()).toEqual([]);
  });

  it('finishes an interrupted destroy', async () => {
    await driver.provision(spec('a'), context);
    await driver.destroy(ref('a'), context);
    mkdirSync(`${options.dir}/.gone-a/data`, { recursive: true });
    await driver.destroy(ref('a'), context);
    expect(folders()).toEqual([]);
  });

  it('removes the draft of an interrupted provision', async () => {
    const draft = `${options.dir}/.new-a`;
    mkdirSync(draft, { recursive: true });
    writeFileSync(`${draft}/stale`, '');
    await driver.provision(spec('a'), context);
    expect(folders()).toEqual(['a']);
    expect(existsSync(`${options.dir}/a/stale`)).toBe(false);
    await driver.destroy(ref('a'), context);
    mkdirSync(draft, { recursive: true });
    await driver.destroy(ref('a'), context);
    expect(folders()).toEqual([]);
  });

  it('sweeps old leftovers, and nothing that is being created', async () => {
    await driver.provision(spec('a'), context);
    for (const name of ['.new-a', '.new-b', '.gone-c', '.gone-d'])
      mkdirSync(`${options.dir}/${name}/data`, { recursive: true });
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const name of ['.new-a', '.new-b', '.gone-c']) utimesSync(`${options.dir}/${name}`, longAgo, longAgo);
    const { place, labels } = spec('a');
    const olderThan = new Date(Date.now() - 60_000);
    const liveAmong = (tokens: readonly string[]) => Promise.resolve(new Set(tokens));
    const swept = await driver.sweep({ installationId: labels.installationId, place, olderThan, liveAmong }, context);
    expect([swept.removed.sort(), swept.failed]).toEqual([['b', 'c'], []]);
    expect(folders().sort()).toEqual(['.gone-d', 'a']);
  });

  it('reports a removal once if several workers sweep', async () => {
    await driver.provision(spec('a'), context);
    const { place, labels } = spec('a');
    const liveAmong = (tokens: readonly string[]) => Promise.resolve(new Set(tokens));
    const scope = { installationId: labels.installationId, place, olderThan: new Date(Date.now() + 60_000), liveAmong };
    mkdirSync(`${options.dir}/.gone-b/data`, { recursive: true });
    const swept = await Promise.all([driver, new LocalDriver(options)].map((each) => each.sweep(scope, context)));
    expect(swept.flatMap(({ removed }) => removed)).toEqual(['b']);
  });

  it('runs a node of an earlier release, and does not list it as its own', async () => {
    await driver.provision(spec('a'), context);
    const file = `${options.dir}/a/node.json`;
    const { attempt, market, createdAt, ...record } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>;
    expect([attempt, market, typeof createdAt]).toEqual([1, 'on-demand', 'string']);
    const { installationId, ...labels } = spec('a').labels;
    writeFileSync(file, JSON.stringify({ ...record, labels }));
    expect(await driver.provision(spec('a'), context)).toMatchObject({ state: 'running', labels });
    await driver.stop(ref('a'), context);
    expect(await driver.start(ref('a'), context)).toMatchObject({ state: 'running' });
    expect(await driver.listOwned({ installationId })).toEqual([]);
  });

  it('does not interrupt an on-demand node', async () => {
    await driver.provision(spec('a'), context);
    await expect(driver.interrupt(ref('a'), context)).rejects.toMatchObject({ code: 'LOCAL.NOT_SPOT' });
    expect(await driver.describe(refs('a'))).toMatchObject([{ state: 'running' }]);
  });

  it.each([
    [0, '127.0.0.1'],
    [254, '127.0.0.255'],
    [255, '127.0.1.0'],
    [65_533, '127.0.255.254'],
    [65_534, '127.0.0.1'],
  ])('gives node %i of a cluster its own address', async (nodeNumber, privateIp) => {
    await driver.provision({ ...spec('a'), nodeNumber }, context);
    expect(await driver.describe(refs('a'))).toMatchObject([{ privateIp }]);
  });

  it('announces the interruption of a spot node, and ends the node later unless the call is aborted', async () => {
    await driver.provision({ ...spec('a'), market: 'spot' }, context);
    await until(() => starts('a').length === 1);
    const notice = `${options.dir}/a/interruption.json`;
    const ending = new AbortController();
    const cut = driver.interrupt(ref('a'), { ...context, signal: ending.signal }, 60_000);
    await until(() => existsSync(notice));
    const { ends_at } = JSON.parse(readFileSync(notice, 'utf8')) as { ends_at: string };
    expect(Date.parse(ends_at)).toBeGreaterThan(Date.now());
    ending.abort();
    await cut;
    expect(await driver.describe(refs('a'))).toMatchObject([{ state: 'running' }]);
    await driver.interrupt(ref('a'), context, 100);
    expect(processes()).toEqual([]);
    expect(await driver.describe(refs('a'))).toMatchObject([{ state: 'interrupted' }]);
  });

  it('removes the interruption notice when a node is started again', async () => {
    await driver.provision(spec('a'), context);
    writeFileSync(`${options.dir}/a/interruption.json`, '{}');
    await driver.stop(ref('a'), context);
    await driver.start(ref('a'), context);
    expect(existsSync(`${options.dir}/a/interruption.json`)).toBe(false);
  });

  it('lists an interrupted spot node as down, and neither revives nor starts it', async () => {
    await driver.provision({ ...spec('a'), market: 'spot' }, context);
    await until(() => starts('a').length === 1);
    expect(await driver.listDownNodes()).toEqual([]);
    await driver.interrupt(ref('a'), context);
    expect(processes()).toEqual([]);
    expect(await driver.listDownNodes()).toEqual(['a']);
    await driver.revive(ref('a'), context);
    await driver.provision({ ...spec('a'), market: 'spot' }, context);
    await expect(driver.start(ref('a'), context)).rejects.toMatchObject({ code: 'LOCAL.INTERRUPTED' });
    expect(processes()).toEqual([]);
  });

  it('ends the processes of all nodes and keeps their directories at shutdown', async () => {
    await driver.provision(spec('a'), context);
    await driver.provision(spec('b'), context);
    await until(() => starts('a').length === 1 && starts('b').length === 1);
    await stopAllLocalNodes(options.dir);
    expect(processes()).toEqual([]);
    expect((await driver.listOwned(spec('a').labels)).map(({ state }) => state)).toEqual(['failed', 'failed']);
    await driver.start(ref('a'), context);
    expect(await driver.describe(refs('a'))).toMatchObject([{ state: 'running' }]);
  });

  describe('with a user for each job', () => {
    const users = { kind: 'users' as const, firstUid: 1_900_010_000, uids: 256, bubblewrap: null };

    beforeEach(() => {
      driver = new LocalDriver({ ...options, confinement: users });
    });

    const confinementOf = (token: string): unknown =>
      (JSON.parse(readFileSync(`${options.dir}/${token}/agent.json`, 'utf8')) as AgentConfig).confinement;

    it('gives each node its own users, and those of a destroyed node to the next', async () => {
      await Promise.all(['a', 'b'].map((token) => driver.provision(spec(token), context)));
      const given = [
        { ...users, uids: 128 },
        { ...users, firstUid: 1_900_010_128, uids: 128 },
      ];
      expect(new Set([confinementOf('a'), confinementOf('b')])).toEqual(new Set(given));
      await expect(driver.provision(spec('c'), context)).rejects.toMatchObject({ code: 'LOCAL.USERS_EXHAUSTED' });
      const freed = confinementOf('a');
      await driver.destroy(ref('a'), context);
      await driver.provision(spec('c'), context);
      expect(confinementOf('c')).toEqual(freed);
    });

    it('keeps the users of a node that is started again, and gives users to a node without', async () => {
      await new LocalDriver(options).provision(spec('a'), context);
      await driver.provision(spec('b'), context);
      const given = confinementOf('b');
      for (const token of ['a', 'b']) {
        await driver.stop(ref(token), context);
        await driver.start(ref(token), context);
      }
      expect(confinementOf('b')).toEqual(given);
      expect(confinementOf('a')).toMatchObject({ kind: 'users', uids: 128 });
      expect(confinementOf('a')).not.toEqual(given);
    });

    describe('beside another installation on the machine', () => {
      let dir: string;
      let other: LocalDriver;
      const jobs: ChildProcess[] = [];
      const rangeOf = (folder: string, token: string): { firstUid: number; uids: number } => {
        const text = readFileSync(`${folder}/${token}/agent.json`, 'utf8');
        return (JSON.parse(text) as AgentConfig).confinement as { firstUid: number; uids: number };
      };

      beforeEach(() => {
        dir = `${root}/other`;
        other = new LocalDriver({ ...options, dir, confinement: users });
      });

      afterEach(() => {
        for (const job of jobs.splice(0)) job.kill('SIGKILL');
      });

      it('shares the range of users, and frees those of a removed installation', async () => {
        await Promise.all([driver.provision(spec('a'), context), other.provision(spec('a'), context)]);
        expect(rangeOf(dir, 'a').firstUid).not.toBe(rangeOf(options.dir, 'a').firstUid);
        await expect(driver.provision(spec('b'), context)).rejects.toMatchObject({ code: 'LOCAL.USERS_EXHAUSTED' });
        await stopAllLocalNodes(dir);
        rmSync(dir, { recursive: true });
        await driver.provision(spec('b'), context);
        expect(readdirSync(`${root}/registry`).filter((name) => !name.startsWith('.'))).toHaveLength(1);
      });

      it('gives a stopped node other users if an earlier release gave both the same', async () => {
        await driver.provision(spec('a'), context);
        await driver.stop(ref('a'), context);
        await other.provision(spec('a'), context);
        const file = `${options.dir}/a/agent.json`;
        const config = JSON.parse(readFileSync(file, 'utf8')) as AgentConfig;
        writeFileSync(file, JSON.stringify({ ...config, confinement: { ...users, ...rangeOf(dir, 'a') } }));
        await driver.start(ref('a'), context);
        expect(rangeOf(options.dir, 'a').firstUid).not.toBe(rangeOf(dir, 'a').firstUid);
      });

      (process.getuid?.() === 0 ? it : it.skip)('ends and counts no process of its jobs', async () => {
        await Promise.all([driver.provision(spec('a'), context), other.provision(spec('a'), context)]);
        const uid = rangeOf(dir, 'a').firstUid + 1;
        // The job has no node mark, because it can change its environment.
        const job = spawn('setpriv', [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'sleep', '600'], {
          env: {},
        });
        jobs.push(job);
        const pid = job.pid ?? 0;
        const ownerIn = (folder: string) => {
          const { firstUid: first, uids: count } = rangeOf(folder, 'a');
          return { nodeDir: `${folder}/a/data`, uids: { first, count } };
        };
        await until(() => isNodeProcess(pid, ownerIn(dir)));
        expect(isNodeProcess(pid, ownerIn(options.dir))).toBe(false);
        await driver.destroy(ref('a'), context);
        await new Promise((resolve) => setImmediate(resolve));
        expect([job.exitCode, job.signalCode]).toEqual([null, null]);
        await other.destroy(ref('a'), context);
        await until(() => job.signalCode === 'SIGKILL');
      });

      it('refuses a registry that others can write to', async () => {
        mkdirSync(`${root}/registry`);
        chmodSync(`${root}/registry`, 0o777);
        await expect(driver.provision(spec('a'), context)).rejects.toMatchObject({ code: 'LOCAL.REGISTRY_UNSAFE' });
      });
    });
  });

  it('names the installed Spark versions', async () => {
    await expect(driver.provision(spec('a', '4.0.0'), context)).rejects.toMatchObject({
      code: 'LOCAL.SPARK_VERSION_UNAVAILABLE',
      kind: 'invalid',
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
      kind: 'invalid',
      message: expect.stringContaining(path) as string,
    });
    expect(existsSync(options.dir)).toBe(false);
  });

  it('throws a driver error if it cannot write', async () => {
    writeFileSync(options.dir, '');
    await expect(driver.provision(spec('a'), context)).rejects.toMatchObject({ name: 'ComputeDriverError' });
  });

  it.each(['../a', 'a/b', '', '.hidden'])('refuses a token that is a path: %j', async (token) => {
    await expect(driver.destroy(ref(token), context)).rejects.toMatchObject({ code: 'LOCAL.INVALID_TOKEN' });
  });
});
