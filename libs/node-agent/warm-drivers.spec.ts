import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/harness/eventually';
import { plainRunSpec, plainSubmitSetup } from '../../test/harness/run-spec';
import type { RunSpec } from '../contracts/agent-protocol';
import { NodeLog } from './node-log';
import { isAlive } from './processes';
import { Sandboxes } from './sandboxes';
import { type ColdReason, type WarmDriver, WarmDrivers } from './warm-drivers';

/** Percentage of the time in which something waits for the processor. */
let mockPressure = 0;
jest.mock('./machine-load', () => ({
  availableMemoryMb: () => Infinity,
  pressureOf: (resource: string) => (resource === 'cpu' ? mockPressure : 0),
}));

/** Stands for a driver that has rehearsed. */
const READY = '#!/bin/sh\n: >"$WARM_DRIVER_READY"\nexec sleep 60\n';
const FAILS = '#!/bin/sh\nexit 3\n';
/** Fails with one heap, and waits with any other. */
const FAILS_WITH_2G = READY.replace('\n', '\ncase "$*" in *2g*) exit 3 ;; esac\n');

describe('WarmDrivers', () => {
  let dir: string;
  let sandboxes: Sandboxes;
  let env: Record<string, string>;
  let takesRuns: boolean;
  let activeRuns: number;
  let pool: WarmDrivers;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'warm-drivers-'));
    for (const name of ['runs', 'spark/bin', 'connectors', 'java']) mkdirSync(`${dir}/${name}`, { recursive: true });
    writeFileSync(`${dir}/connectors/warm-driver.jar`, '');
    env = {};
    takesRuns = true;
    activeRuns = 0;
    mockPressure = 0;
    pool = poolWith(READY);
  });

  afterEach(async () => {
    await pool.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const poolWith = (script: string): WarmDrivers => {
    writeFileSync(`${dir}/spark/bin/spark-submit`, script, { mode: 0o755 });
    sandboxes = new Sandboxes({ kind: 'none' }, { visible: [], shared: [], mark: dir });
    const runtime = { ...plainSubmitSetup().runtime, sparkHome: `${dir}/spark`, connectors: `${dir}/connectors` };
    const owner = { nodeDir: dir, uids: null };
    const made = new WarmDrivers({
      ...{ owner, runtime, sandboxes, env: () => env, takesRuns: () => takesRuns, activeRuns: () => activeRuns },
      log: new NodeLog(dir),
    });
    made.apply({ count: 1, driver_memory: '1g', max_cpu_pressure: 100 });
    return made;
  };
  const spec = (change: Partial<RunSpec> = {}): RunSpec => plainRunSpec({ driver_memory: '1g', ...change });
  const now = performance.now.bind(performance);
  /** Lets the pauses of the pool pass that end within this time. */
  const skip = (ms: number): void => {
    const later = performance.now() + ms - now();
    jest.spyOn(performance, 'now').mockImplementation(() => now() + later);
  };
  const folders = (): string[] => (existsSync(`${dir}/warm`) ? readdirSync(`${dir}/warm`) : []);
  const ready = (count = 1): Promise<unknown> =>
    eventually(() => (pool.tick(), pool.readyCount === count), { everyMs: 50, what: 'a driver that waits' });
  const taken = (found: WarmDriver | ColdReason): WarmDriver => {
    if ('dir' in found) return found;
    throw new Error(found.coldReason);
  };

  it('gives a driver to one run, with the folder and the sandbox', async () => {
    await ready();
    const driver = taken(pool.take(spec()));
    expect(isAlive(driver.process)).toBe(true);
    expect(driver.dir).toBe(`${dir}/warm/${folders()[0]}`);
    expect(pool.take(spec())).toEqual({ coldReason: 'No driver was ready.' });
    pool.discardTaken(driver);
    await eventually(() => folders().length === 0);
    expect(isAlive(driver.process)).toBe(false);
  });

  it('replaces a driver by one with the heap of the last run', async () => {
    await ready();
    expect(pool.take(spec({ driver_memory: '2g' }))).toEqual({
      coldReason: 'The drivers that were ready have another heap or other libraries.',
    });
    // It is not refilled at once, because the run needs the processor.
    await eventually(() => (pool.tick(), folders().length === 0), { everyMs: 50 });
  });

  it('keeps drivers of both heaps that the last runs had', async () => {
    pool.apply({ count: 2, driver_memory: '1g', max_cpu_pressure: 100 });
    await ready(2);
    for (const driver_memory of ['1g', '2g', '1g', '2g']) {
      const found = pool.take(spec({ driver_memory }));
      if ('dir' in found) pool.discardTaken(found);
    }
    skip(5_000);
    await ready(2);
    for (const driver_memory of ['1g', '2g']) pool.discardTaken(taken(pool.take(spec({ driver_memory }))));
  });

  it('does not try a heap again with which no driver starts, while runs have others', async () => {
    await pool.stop();
    pool = poolWith(FAILS_WITH_2G);
    await ready();
    pool.discardTaken(taken(pool.take(spec())));
    for (let run = 0; run < 2; run += 1) pool.take(spec({ driver_memory: '2g' }));
    skip(5_000);
    await eventually(() => (pool.tick(), folders().length === 1), { everyMs: 50, what: 'a driver that fails' });
    await eventually(() => (pool.tick(), folders().length === 0), { everyMs: 50, what: 'its end' });
    skip(60_000);
    await ready();
    pool.discardTaken(taken(pool.take(spec())));
  });

  it('ends a driver once, so that its sandbox is not taken from the run that gets it next', async () => {
    await ready();
    const released: number[] = [];
    const release = sandboxes.release.bind(sandboxes);
    jest.spyOn(sandboxes, 'release').mockImplementation((index) => {
      released.push(index);
      release(index);
    });
    // The driver is useless for two reasons.
    env = { MINE: '1' };
    pool.apply({ count: 0, driver_memory: '1g', max_cpu_pressure: 100 });
    await eventually(() => (pool.tick(), released.length > 0), { everyMs: 50 });
    await pool.stop();
    expect(released).toHaveLength(1);
  });

  it.each([
    ['while the node takes no runs', () => (takesRuns = false)],
    [
      'while the processor is busier than allowed',
      () => pool.apply({ count: 1, driver_memory: null, max_cpu_pressure: -1 }),
    ],
    ['if the control plane knows none', () => pool.apply(null)],
  ])('starts none %s', async (_when, change) => {
    change();
    pool.tick();
    await new Promise((resolve) => setTimeout(resolve, 600));
    pool.tick();
    expect(folders()).toEqual([]);
  });

  it('starts none on a busy processor while all slots are taken, nor before the next run may have come', async () => {
    pool.apply({ count: 1, driver_memory: '1g', max_cpu_pressure: 100, slots: 2 });
    mockPressure = 21;
    activeRuns = 2;
    pool.tick();
    activeRuns = 1;
    skip(4_000);
    pool.tick();
    expect(folders()).toEqual([]);
    skip(1_000);
    await ready();
  });

  it('starts one on an idle processor while all slots are taken', async () => {
    pool.apply({ count: 1, driver_memory: '1g', max_cpu_pressure: 100, slots: 2 });
    mockPressure = 20;
    activeRuns = 2;
    await ready();
  });

  it('removes a driver that fails, and does not try again at once', async () => {
    await pool.stop();
    pool = poolWith(FAILS);
    pool.tick();
    expect(folders()).toHaveLength(1);
    await eventually(() => (pool.tick(), folders().length === 0), { everyMs: 100 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    pool.tick();
    expect(folders()).toEqual([]);
  });

  it('ends the drivers of an earlier agent, except those of runs', async () => {
    await ready();
    const ofRun = taken(pool.take(spec()));
    symlinkSync(ofRun.dir, `${dir}/runs/1`);
    mkdirSync(`${dir}/warm/left`);
    const next = poolWith(READY);
    await next.restore();
    expect(folders().map((name) => `${dir}/warm/${name}`)).toEqual([ofRun.dir]);
    expect(isAlive(ofRun.process)).toBe(true);
    pool.discardTaken(ofRun);
  });
});
