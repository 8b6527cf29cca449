import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../test/harness/eventually';
import { identify } from './processes';
import { highestMemory, type MeasurableRun, type RunProcesses, RunMemorySampler } from './run-memory';

const MB = 2 ** 20;

/** A run whose processes are real, with what was measured of it. */
class FakeRun implements MeasurableRun {
  readonly measured: number[] = [];
  hasWarmDriver = false;

  constructor(public processes: RunProcesses | null) {}

  observeMemory(memoryMb: number): void {
    this.measured.push(memoryMb);
  }

  get peak(): number {
    return Math.max(0, ...this.measured);
  }
}

describe('highestMemory', () => {
  it('reads what the kernel says, whatever the name of the process', () => {
    const status =
      'Name:\tVmHWM: 1 kB\\nVmHWM: 2 kB\rVmHWM: 3 kB\nUmask:\t0022\nVmPeak:\t 9000 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n';
    expect(highestMemory(status)).toBe(2048);
  });

  it.each(['', 'Name:\tzombie\nState:\tZ (zombie)\n', 'VmHWM:\t-5 kB\n', 'VmHWM:\t1e9 kB\n'])(
    'is none in %p',
    (status) => {
      expect(highestMemory(status)).toBe(0);
    },
  );
});

describe('RunMemorySampler', () => {
  const children: ChildProcess[] = [];
  let failures: string[];
  let sampler: RunMemorySampler;

  beforeEach(() => {
    failures = [];
    sampler = new RunMemorySampler(({ message }) => failures.push(message));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      // Every process of its session is in its group.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });

  /** Starts a process in a session of its own, which holds what the script allocates and says `up`. */
  async function start(script: string): Promise<RunProcesses> {
    const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    await once(child.stdout, 'data');
    return { leader: identify(child.pid ?? 0)!, uid: null };
  }
  const holding = (mb: number) =>
    `globalThis.held = Buffer.alloc(${mb} * ${MB}, 1); process.stdout.write('up'); setInterval(() => 0, 1e6);`;
  /** A child in a session of its own, which ends with its parent. */
  const withChild = (mb: number) => {
    const child = `process.stdin.resume().on('end', () => process.exit()); ${holding(mb)}`;
    return `const { spawn } = require('node:child_process'); setInterval(() => 0, 1e6);
      spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: ['pipe', 'inherit', 'inherit'] });`;
  };
  const measure = (runs: FakeRun[], count: number) =>
    eventually(() => (sampler.tick(runs), runs.every(({ measured }) => measured.length >= count)), { what: 'samples' });

  it('adds up the highest memory of all processes of each run, and of no others', async () => {
    const [one, other] = [new FakeRun(await start(holding(200))), new FakeRun(await start(withChild(90)))];
    await measure([one, other], 1);
    // A process of Node alone takes 40 to 90 MiB.
    expect(one.peak).toBeGreaterThan(220);
    expect(one.peak).toBeLessThan(320);
    expect(other.peak).toBeGreaterThan(90 + 2 * 30);
    expect(other.peak).toBeLessThan(320);
    expect(failures).toEqual([]);
  });

  it('counts what a process no longer has, but not what a driver had before it took the run', async () => {
    const freed = `process.stdin.on('data', () => 0);
      const child = require('node:child_process').spawnSync(process.execPath, ['-e', '0']);
      let held = Buffer.alloc(300 * ${MB}, 1); held = null; globalThis.gc?.(); require('node:v8').setFlagsFromString('--expose-gc');
      require('node:vm').runInNewContext('gc')(); setTimeout(() => process.stdout.write('up'), 200); setInterval(() => 0, 1e6);`;
    const cold = new FakeRun(await start(freed));
    const warm = new FakeRun(await start(freed));
    warm.hasWarmDriver = true;
    await measure([cold, warm], 1);
    expect(cold.peak).toBeGreaterThan(320);
    expect(warm.peak).toBeGreaterThan(30);
    expect(warm.peak).toBeLessThan(250);
  });

  it('does not take another process with the same id for the driver, and ends with the run', async () => {
    const other = await start(holding(1));
    const reused = new FakeRun({ leader: { ...other.leader, startTime: '1' }, uid: null });
    const ended = new FakeRun(null);
    const run = new FakeRun(await start(holding(1)));
    await eventually(() => (sampler.tick([reused, ended, run]), run.measured.length >= 2), { what: 'samples' });
    expect([reused.measured, ended.measured, failures]).toEqual([[], [], []]);
  });

  it('finds processes by their user if a run has one', async () => {
    const processes = await start(holding(150));
    // Nobody else has this user in a sandbox; here the user of the test has more processes than the run.
    const byUser = new FakeRun({ leader: { ...processes.leader, startTime: '1' }, uid: process.getuid?.() ?? 0 });
    await measure([byUser], 1);
    expect(byUser.peak).toBeGreaterThan(150);
  });

  it('measures soon at first, then less often, and less if that takes much of a processor', async () => {
    jest.useFakeTimers();
    try {
      const spent = jest.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 });
      const find = jest.fn(() => Promise.resolve(new Map<MeasurableRun, number[]>()));
      sampler = new RunMemorySampler(() => undefined, find);
      const runs = [new FakeRun({ leader: { pid: 2, startTime: '1' }, uid: null })];
      const passesIn = async (seconds: number) => {
        find.mockClear();
        for (let tick = 0; tick < seconds * 10; tick += 1) {
          sampler.tick(runs);
          await jest.advanceTimersByTimeAsync(100);
        }
        return find.mock.calls.length;
      };
      expect(await passesIn(2)).toBe(6);
      expect(await passesIn(58)).toBe(15);
      expect(await passesIn(60)).toBe(4);
      spent.mockReturnValue({ user: 80_000, system: 40_000 });
      await passesIn(60);
      expect(await passesIn(120)).toBe(2);
      // A run that has just begun is measured soon all the same.
      runs.push(new FakeRun({ leader: { pid: 3, startTime: '1' }, uid: null }));
      expect(await passesIn(20)).toBe(4);
    } finally {
      jest.useRealTimers();
    }
  });

  it('says once that it cannot measure', async () => {
    sampler = new RunMemorySampler(
      ({ message }) => failures.push(message),
      () => Promise.reject(new Error('no /proc')),
    );
    const run = new FakeRun({ leader: { pid: 2, startTime: '1' }, uid: null });
    for (let tries = 0; tries < 20; tries += 1) {
      sampler.tick([run]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect([failures, run.measured]).toEqual([['no /proc'], []]);
  });
});
