import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DesiredDaemons, ObservedDaemons } from '../contracts/agent-protocol';
import { BoundedLog } from './bounded-log';
import { Daemons } from './daemons';
import { NodeLog } from './node-log';
import { markedProcesses, signal } from './processes';
import { Sandboxes } from './sandboxes';

/**
 * Fakes of Spark's daemons. A master counts the workers connected to it and shows the number on its page, as a worker does. It listens
 * only while there is no file `hold`; an early worker waits for that.
 */
const FAKE_DAEMON = `
const fs = require('node:fs');
const net = require('node:net');
const http = require('node:http');
const at = process.argv.findIndex((word) => /^org[.]apache[.]spark[.]deploy[.](?:master[.]Master|worker[.]Worker)$/.test(word));
const [role, ...args] = process.argv.slice(at);
const isEarly = process.argv.includes('org.apache.spark.deploy.early.EarlyWorker');
const option = (name) => args[args.indexOf(name) + 1];
const page = (status) =>
  http.createServer((_, answer) => answer.end(JSON.stringify(status()))).listen(Number(option('--webui-port')), option('--host'));
fs.appendFileSync(process.env.SPARK_HOME + '/starts', (isEarly ? 'Early' : '') + role.split('.').pop() + '\\n');
if (role.endsWith('Master')) {
  const workers = new Set();
  const server = net.createServer((socket) => {
    socket.on('data', () => workers.add(socket));
    socket.on('close', () => workers.delete(socket));
    socket.on('error', () => undefined);
  });
  const begin = () =>
    fs.existsSync(process.env.SPARK_HOME + '/hold')
      ? setTimeout(begin, 5)
      : server.listen(Number(option('--port')), option('--host'));
  begin();
  page(() => ({ status: 'ALIVE', aliveworkers: workers.size, activeapps: [] }));
} else {
  const master = new URL(args[args.length - 1].replace('spark:', 'http:'));
  let registered = false;
  let hadMaster = isEarly;
  const join = () => {
    const socket = net.connect(Number(master.port), master.hostname, () => {
      registered = hadMaster = true;
      socket.write('worker');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      // The second attempt is late enough for a test to fail if a worker needs one.
      setTimeout(join, hadMaster ? 20 : 90_000);
      registered = false;
    });
  };
  join();
  let executors = [{}, {}];
  process.on('SIGPWR', () => {
    fs.appendFileSync(process.env.SPARK_HOME + '/told', 'told\\n');
    const leave = () => (fs.existsSync(process.env.SPARK_HOME + '/leave') ? (executors = []) : setTimeout(leave, 20));
    leave();
  });
  page(() => ({ masterwebuiurl: registered ? 'http://master' : '', coresused: executors.length, executors }));
}
`;

describe('Daemons', () => {
  let root: string;
  let made: Daemons[];
  let observed: ObservedDaemons | null;
  let connectors: string | null;

  /** Makes Java start the daemons, and workers together with their master. */
  const withoutScripts = (): void => {
    writeFileSync(`${root}/spark/jars/spark-core_2.12-3.5.9.jar`, '');
    connectors = `${root}/connectors`;
    writeFileSync(`${connectors}/early-worker.jar`, '');
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'daemons-'));
    for (const name of ['spark/bin', 'spark/jars', 'jdk/bin', 'connectors'])
      mkdirSync(`${root}/${name}`, { recursive: true });
    // The daemons' own process is recognized by this.
    symlinkSync(process.execPath, `${root}/java`);
    for (const program of [`${root}/spark/bin/spark-class`, `${root}/jdk/bin/java`]) {
      writeFileSync(program, `#!${root}/java${FAKE_DAEMON}`);
      chmodSync(program, 0o755);
    }
    connectors = null;
    made = [];
    observed = null;
  });

  afterEach(async () => {
    await Promise.all(made.map((daemons) => daemons.stop()));
    await until('no process is left', () => {
      for (const { pid } of processes()) signal(pid, 'SIGKILL');
      return processes().length === 0;
    });
    rmSync(root, { recursive: true, force: true });
  });

  const processes = (): ReturnType<typeof markedProcesses> => markedProcesses((dir) => dir.startsWith(`${root}/`));
  const pidOf = (role: string): number[] =>
    processes()
      .filter(({ argv }) => argv.some((word) => word.endsWith(role)))
      .map(({ pid }) => pid);
  const starts = (): string[] => readFileSync(`${root}/spark/starts`, 'utf8').trim().split('\n').sort();
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    const deadline = performance.now() + 60_000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`never came true: ${what}; ${JSON.stringify(observed)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const make = (nodeDir = `${root}/node`): Daemons => {
    const log = new NodeLog(nodeDir);
    const limit = (): number => 1024 * 1024;
    const daemons = new Daemons({
      owner: { nodeDir, uids: null },
      runtime: {
        sparkHome: `${root}/spark`,
        sparkVersion: '3.5.9',
        javaHome: `${root}/jdk`,
        python: '/usr/bin/python3',
        classArchive: null,
        connectors,
        scalaKernel: null,
        accelerators: { turbo: null, cuda: null },
      },
      sandboxes: new Sandboxes({ kind: 'none' }, { visible: [], shared: [], mark: nodeDir }),
      bindAddress: '127.0.0.1',
      env: {},
      log,
      logs: { stdout: new BoundedLog(log.stdout, limit), stderr: new BoundedLog(log.stderr, limit) },
      changed: (next) => (observed = next),
    });
    made.push(daemons);
    return daemons;
  };
  const desired = (change: Partial<DesiredDaemons>): DesiredDaemons => ({
    role: 'master-and-workers',
    workers: 2,
    worker_cores: 1,
    worker_memory_mb: 512,
    master_url: null,
    bootstrap_script: null,
    env: {},
    ...change,
  });
  const ready = (): Promise<void> => until('ready', () => observed?.state === 'ready');

  it('is ready when the master has all its workers, and reports its address', async () => {
    await make().apply(desired({}));
    await ready();
    expect(observed?.master_url).toMatch(/^spark:\/\/127\.0\.0\.1:\d+$/);
    expect(starts()).toEqual(['Master', 'Worker', 'Worker']);
  });

  describe('a draining worker', () => {
    let master: Daemons;

    beforeEach(async () => {
      master = make(`${root}/master`);
      await master.apply(desired({ role: 'master', workers: 0 }));
      await ready();
    });

    const begin = async (): Promise<Daemons> => {
      const daemons = make();
      observed = null;
      await daemons.apply(desired({ role: 'worker', workers: 1, master_url: master.state.master_url }));
      await ready();
      await until('a load', () => daemons.load !== null);
      expect(daemons.load).toEqual({ pending_cores: 0, used_cores: 2, executors: 2 });
      expect(daemons.isDrained).toBe(false);
      return daemons;
    };

    it('receives the signal, and is drained once it has no executors left', async () => {
      const daemons = await begin();
      daemons.drain();
      await until('told', () => existsSync(`${root}/spark/told`));
      expect(daemons.isDrained).toBe(false);
      writeFileSync(`${root}/spark/leave`, '');
      await until('drained', () => daemons.isDrained);
      expect(daemons.load).toEqual({ pending_cores: 0, used_cores: 0, executors: 0 });
      expect(daemons.state).toMatchObject({ state: 'ready', error: null });
    });

    it('is not started again once it has ended, not even by another agent', async () => {
      const daemons = await begin();
      daemons.drain();
      const [pid = 0] = pidOf('worker.Worker');
      signal(pid, 'SIGKILL');
      await until('drained', () => daemons.isDrained);
      expect(daemons.state).toMatchObject({ state: 'ready', error: null });
      const other = make();
      other.drain();
      await other.apply(desired({ role: 'worker', workers: 1, master_url: master.state.master_url }));
      await until('drained', () => other.isDrained);
      expect(starts()).toEqual(['Master', 'Worker']);
    });
  });

  it('is ready as a master without workers', async () => {
    await make().apply(desired({ role: 'master', workers: 0 }));
    await ready();
    expect(starts()).toEqual(['Master']);
  });

  it('waits as a worker for its master, and is ready once registered there', async () => {
    const master = make();
    await master.apply(desired({ role: 'master', workers: 0 }));
    await ready();
    const url = observed?.master_url ?? null;
    await master.stop();
    observed = null;
    const worker = make();
    await worker.apply(desired({ role: 'worker', workers: 1 }));
    expect(pidOf('worker.Worker')).toEqual([]);
    await worker.apply(desired({ role: 'worker', workers: 1, master_url: url }));
    await until('the worker runs', () => pidOf('worker.Worker').length === 1);
    expect(observed).toBeNull();
    await make().apply(desired({ role: 'master', workers: 0 }));
    await ready();
  });

  it('restarts a daemon that was killed, at the same address', async () => {
    await make().apply(desired({}));
    await ready();
    const url = observed?.master_url;
    for (const pid of pidOf('master.Master')) signal(pid, 'SIGKILL');
    await until(
      'the crash is reported',
      () => observed?.state === 'starting' && (observed.error ?? '').includes('SIGKILL'),
    );
    await ready();
    expect(observed).toEqual({ state: 'ready', master_url: url, error: null });
  });

  it('follows the number of workers', async () => {
    const daemons = make();
    await daemons.apply(desired({ workers: 1 }));
    await ready();
    await daemons.apply(desired({ workers: 3 }));
    await until('three workers', () => pidOf('worker.Worker').length === 3);
    await daemons.apply(desired({ workers: 1 }));
    await until('one worker', () => pidOf('worker.Worker').length === 1);
  });

  it('adopts the daemons of an earlier agent, and kills one that was never recorded', async () => {
    await make().apply(desired({ workers: 1 }));
    await ready();
    const pids = [...pidOf('master.Master'), ...pidOf('worker.Worker')];
    const journal = `${root}/node/daemons/worker-1.json`;
    const next = make();
    observed = null;
    rmSync(journal);
    await next.apply(desired({ workers: 1 }));
    await ready();
    expect(pidOf('master.Master')).toEqual([pids[0]]);
    expect(pidOf('worker.Worker')).not.toContain(pids[1]);
  });

  it('fails after several crashes in a row, with the last output', async () => {
    writeFileSync(`${root}/spark/bin/spark-class`, '#!/bin/sh\necho no such class >&2; exit 3\n');
    await make().apply(desired({ workers: 0 }));
    await until('failed', () => observed?.state === 'failed');
    expect(observed?.error).toMatch(/^The Spark master ended \(exit code 3\).*no such class/s);
  });

  describe('started by Java itself', () => {
    const journal = (name: string): { port: number } =>
      JSON.parse(readFileSync(`${root}/node/daemons/${name}.json`, 'utf8')) as { port: number };
    const urlsOfWorkers = (): (string | undefined)[] =>
      processes().flatMap(({ argv }) =>
        argv.some((word) => word.endsWith('.Worker')) ? [argv.find((word) => word.startsWith('spark://'))] : [],
      );

    beforeEach(withoutScripts);

    it('starts workers together with their master, and reports the address only once the master listens', async () => {
      writeFileSync(`${root}/spark/hold`, '');
      await make().apply(desired({}));
      await until('the workers', () => urlsOfWorkers().length === 2);
      expect(urlsOfWorkers()).toEqual(Array(2).fill(`spark://127.0.0.1:${journal('master').port}`));
      expect(observed).toBeNull();
      rmSync(`${root}/spark/hold`);
      await ready();
      expect(starts()).toEqual(['EarlyWorker', 'EarlyWorker', 'Master']);
    });

    it('starts a worker that has ended without the wait, because its master listens', async () => {
      await make().apply(desired({ workers: 1 }));
      await ready();
      for (const pid of pidOf('worker.Worker')) signal(pid, 'SIGKILL');
      await until('the worker again', () => starts().length === 3);
      await ready();
      expect(starts()).toEqual(['EarlyWorker', 'Master', 'Worker']);
    });

    it('starts workers again if their master has to move to another port before it listens', async () => {
      writeFileSync(`${root}/spark/hold`, '');
      await make().apply(desired({ workers: 1 }));
      await until('both', () => existsSync(`${root}/spark/starts`) && starts().length === 2);
      const { port } = journal('master');
      const other = createServer((socket) => socket.destroy());
      await new Promise<void>((done) => other.listen(port, '127.0.0.1', done));
      try {
        for (const pid of pidOf('master.Master')) signal(pid, 'SIGKILL');
        await until('another port', () => journal('master').port !== port);
        const url = `spark://127.0.0.1:${journal('master').port}`;
        await until('the worker there', () => urlsOfWorkers().join() === url);
        rmSync(`${root}/spark/hold`);
        await ready();
        expect(observed?.master_url).toBe(url);
        expect(starts()).toEqual(['EarlyWorker', 'EarlyWorker', 'Master', 'Master']);
      } finally {
        await new Promise((done) => other.close(done));
      }
    });

    it('leaves workers alone while their master is started again at the same port', async () => {
      await make().apply(desired({ workers: 1 }));
      await ready();
      const workers = pidOf('worker.Worker');
      for (const pid of pidOf('master.Master')) signal(pid, 'SIGKILL');
      await until('the crash is reported', () => observed?.state === 'starting');
      await ready();
      expect(pidOf('worker.Worker')).toEqual(workers);
      expect(starts()).toEqual(['EarlyWorker', 'Master', 'Master']);
    });

    it('adopts the daemons of an earlier agent, and kills one that was never recorded', async () => {
      await make().apply(desired({ workers: 2 }));
      await ready();
      const kept = [pidOf('master.Master'), pidOf('worker.Worker')].flat();
      rmSync(`${root}/node/daemons/worker-2.json`);
      observed = null;
      await make().apply(desired({ workers: 2 }));
      await ready();
      const now = [pidOf('master.Master'), pidOf('worker.Worker')].flat();
      expect(now.filter((pid) => kept.includes(pid))).toHaveLength(2);
      expect(now).toHaveLength(3);
    });

    it('starts a worker after its master without the jar for the other way', async () => {
      rmSync(`${root}/connectors/early-worker.jar`);
      writeFileSync(`${root}/spark/hold`, '');
      await make().apply(desired({ workers: 1 }));
      await until('the master', () => pidOf('master.Master').length === 1);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(urlsOfWorkers()).toEqual([]);
      rmSync(`${root}/spark/hold`);
      await ready();
      expect(starts()).toEqual(['Master', 'Worker']);
    });

    it('makes a draining worker leave', async () => {
      const master = make(`${root}/master`);
      await master.apply(desired({ role: 'master', workers: 0 }));
      await ready();
      const daemons = make();
      await daemons.apply(desired({ role: 'worker', workers: 1, master_url: master.state.master_url }));
      await until('a load', () => daemons.load !== null);
      daemons.drain();
      await until('told', () => existsSync(`${root}/spark/told`));
      writeFileSync(`${root}/spark/leave`, '');
      await until('drained', () => daemons.isDrained);
    });
  });

  it('leaves no process after stop', async () => {
    const daemons = make();
    await daemons.apply(desired({}));
    await ready();
    await daemons.stop();
    expect(processes()).toEqual([]);
  });
});
