import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isNodeProcess, NODE_MARK, signal, signalGroup, tryLock } from './processes';

describe('tryLock', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has one holder at a time, and is free again after its release', async () => {
    const file = join(folder, 'lock');
    const release = await tryLock(file);
    expect([typeof release, await tryLock(file)]).toEqual(['function', null]);
    await release?.();
    const again = await tryLock(file);
    expect(again).not.toBeNull();
    await again?.();
  });
});

describe('signal', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is never sent to a process group or to every process', () => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    // An empty file parsed as a number is 0, which is the caller's own process group.
    for (const pid of [Number(''), -0, -1, NaN, 1.5]) expect(() => signal(pid, 'SIGKILL')).toThrow(RangeError);
    expect(kill).not.toHaveBeenCalled();
  });

  it('is sent to the group of a process only on request', () => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    for (const leader of [Number(''), 1, -2, NaN, 2.5])
      expect(() => signalGroup(leader, 'SIGTERM')).toThrow(RangeError);
    expect(kill).not.toHaveBeenCalled();
    signalGroup(4321, 'SIGTERM');
    expect(kill.mock.calls).toEqual([[-4321, 'SIGTERM']]);
  });
});

describe('isOf', () => {
  afterEach(() => jest.restoreAllMocks());

  it('recognizes a process that has made itself unreadable by the leader of its session', async () => {
    // A shell of the node, and its child.
    const script = 'sleep 60 & echo $!; wait';
    const env = { PATH: process.env['PATH'], [NODE_MARK]: '/node' };
    const leader = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env });
    try {
      const [text] = (await once(leader.stdout, 'data')) as [Buffer];
      const pid = Number(text.toString());
      const owner = (nodeDir: string) => ({ nodeDir, uids: null });
      const read = fs.readFileSync;
      const closed = (reason: string) =>
        jest.spyOn(fs, 'readFileSync').mockImplementation(((path: string, ...more: never[]) => {
          if (path === `/proc/${pid}/environ`) throw Object.assign(new Error(reason), { code: reason });
          return read(path, ...more);
        }) as typeof read);
      // While a program is loaded, its process has no environment.
      while (!isNodeProcess(pid, owner('/node'))) await turn();
      expect(isNodeProcess(pid, owner('/other'))).toBe(false);
      closed('EACCES');
      expect([isNodeProcess(pid, owner('/node')), isNodeProcess(pid, owner('/other'))]).toEqual([true, false]);
      // A process that has ended belongs to no node.
      closed('ENOENT');
      expect(isNodeProcess(pid, owner('/node'))).toBe(false);
    } finally {
      if (leader.pid) process.kill(-leader.pid, 'SIGKILL');
    }
  });
});
