import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/harness/eventually';
import { busyTicks, kernelConstantsIn, memoryInUse, NodeMeter, processUse, ticksBetween } from './node-meter';
import { NODE_MARK } from './processes';

describe('reading /proc', () => {
  it('counts processors that work for this machine, not idle or stolen time', () => {
    expect(busyTicks('cpu  100 20 30 4000 500 6 7 800 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n')).toBe(163);
  });

  it('counts memory that programs cannot get', () => {
    expect(memoryInUse('MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n')).toBe(600 * 1024);
    expect(() => memoryInUse('MemTotal:       1000 kB\n')).toThrow('MemAvailable');
  });

  it('parses a process of any name', () => {
    const fields = ['S', 7, 1, 1, 0, -1, 0, 0, 0, 0, 0, 10, 20, 300, 4000, 20, 0, 1, 0, 555, 9999, 42, 0];
    expect(processUse(9, `9 (a) b (c)) ${fields.join(' ')}\n`)).toEqual({
      key: '9 555',
      pid: 9,
      parent: 7,
      ticks: 4330,
      pages: 42,
    });
  });

  it('reads the constants of the kernel', () => {
    const auxv = Buffer.alloc(48);
    [6n, 65_536n, 17n, 250n, 0n, 0n].forEach((word, at) => auxv.writeBigUInt64LE(word, at * 8));
    expect(kernelConstantsIn(auxv)).toEqual({ pageBytes: 65_536, clockTicks: 250 });
  });
});

describe('ticksBetween', () => {
  const look = (...processes: [pid: number, parent: number, ticks: number][]) =>
    new Map(processes.map(([pid, parent, ticks]) => [`${pid} 1`, { pid, parent, ticks }]));

  it.each<[string, ReturnType<typeof look>, ReturnType<typeof look>, number]>([
    ['what goes on', look([1, 0, 100]), look([1, 0, 130]), 30],
    ['what began', look([1, 0, 100]), look([1, 0, 100], [2, 1, 20]), 20],
    ['what ended, by the parent that waited for it', look([1, 0, 100], [2, 1, 50]), look([1, 0, 160]), 10],
    ['what ended with its parent', look([1, 0, 0], [2, 1, 50], [3, 2, 70]), look([1, 0, 125]), 5],
    ['what ended without anybody of the node', look([1, 0, 100], [2, 1, 50], [3, 9, 70]), look([1, 0, 155]), 5],
    ['what came and went', look([1, 0, 100]), look([1, 0, 140]), 40],
    ['never less than nothing', look([1, 0, 100], [2, 1, 50]), look([1, 0, 100]), 0],
  ])('counts %s', (_what, before, after, ticks) => {
    expect(ticksBetween(before, after)).toBe(ticks);
  });

  it('treats a reused pid as another process', () => {
    const after = new Map([['2 9', { pid: 2, parent: 1, ticks: 5 }]]);
    expect(ticksBetween(look([2, 1, 50]), after)).toBe(5);
  });
});

describe('NodeMeter', () => {
  let nodeDir: string;
  const children: ChildProcess[] = [];

  beforeAll(() => {
    nodeDir = mkdtempSync(join(tmpdir(), 'meter-'));
  });
  afterAll(() => rmSync(nodeDir, { recursive: true }));
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });

  /** Starts a busy process, of the node or of another one. */
  async function busy(dir: string): Promise<void> {
    const script = `const held = Buffer.alloc(100 * 2 ** 20, 1); process.stdout.write('up'); for (;;) held[0] += 1;`;
    const child = spawn(process.execPath, ['-e', script], { env: { [NODE_MARK]: dir } });
    children.push(child);
    await once(child.stdout, 'data');
  }

  it('counts only the processes of its node if nodes share the machine', async () => {
    const meter = new NodeMeter({ nodeDir, uids: null }, true);
    await busy('/somewhere/else');
    expect(await meter.measure()).toMatchObject({ millicores: null, memoryMb: 0 });
    expect(await meter.measure()).toMatchObject({ millicores: 0, memoryMb: 0 });
    await busy(nodeDir);
    const used = await eventually(async () => {
      const use = await meter.measure();
      if (!use.millicores) throw new Error('nothing was used yet');
      return use;
    });
    expect(used.memoryMb).toBeGreaterThan(100);
    expect(used.diskMb).toBeGreaterThan(0);
    expect(used.diskTotalMb).toBeGreaterThan(used.diskMb);
  });

  it('counts the whole machine if the node does not share it', async () => {
    const meter = new NodeMeter({ nodeDir, uids: null }, false);
    await busy('/somewhere/else');
    expect((await meter.measure()).millicores).toBeNull();
    const used = await eventually(async () => {
      const use = await meter.measure();
      if (!use.millicores) throw new Error('nothing was used yet');
      return use;
    });
    expect(used.memoryMb).toBeGreaterThan(100);
  });
});
