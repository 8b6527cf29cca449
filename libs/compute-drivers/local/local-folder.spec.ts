import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { sessionProcesses, signal } from '../../node-agent/processes';
import { FOLDER_IDS_FILE, LocalFolder } from './local-folder';

describe('LocalFolder', () => {
  let root: string;
  let mine: LocalFolder;
  let theirs: LocalFolder;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'local-folder-'));
    [mine, theirs] = [new LocalFolder(join(root, 'mine')), new LocalFolder(join(root, 'theirs'))];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const never = () => undefined;
  const idsFile = ({ dir }: LocalFolder) => join(dir, FOLDER_IDS_FILE);
  const idOf = async (folder: LocalFolder) => (await folder.reference('a')).split(':')[1] ?? '';

  it('has one id, even if several processes create it at once', async () => {
    const folders = Array.from({ length: 8 }, () => new LocalFolder(mine.dir));
    const references = await Promise.all(folders.map((folder) => folder.reference('a')));
    expect(new Set(references).size).toBe(1);
    expect(references[0]).toBe(`local:${readFileSync(idsFile(mine), 'utf8').trim()}:a`);
    expect(readdirSync(mine.dir)).toEqual([FOLDER_IDS_FILE]);
    expect(await idOf(theirs)).not.toBe(await idOf(mine));
  });

  it('holds its own nodes, and nodes of earlier releases, whose references name no folder', async () => {
    await mine.assertHolds([await mine.reference('a'), 'local:b', 'local:0af7651c-d']);
    const wanted = `with the id ${await idOf(theirs)}, but the folder of this worker has the id ${await idOf(mine)}`;
    const references = [await mine.reference('a'), await theirs.reference('b')];
    await expect(mine.assertHolds(references)).rejects.toMatchObject({
      ...{ code: 'LOCAL.ELSEWHERE', kind: 'transient', retryAfterMs: expect.any(Number) },
      message: expect.stringContaining(wanted),
    });
  });

  it('replaces a lost folder once it lists the id of that folder', async () => {
    const reference = await theirs.reference('b');
    await expect(mine.assertHolds([reference])).rejects.toMatchObject({ code: 'LOCAL.ELSEWHERE' });
    const own = await idOf(mine);
    appendFileSync(idsFile(mine), `${await idOf(theirs)}\n`);
    await mine.assertHolds([reference]);
    expect(await idOf(mine)).toBe(own);
  });

  it('does not hold its nodes while its volume is missing', async () => {
    const reference = await mine.reference('a');
    const ids = readFileSync(idsFile(mine));
    rmSync(mine.dir, { recursive: true });
    await expect(mine.assertHolds([reference])).rejects.toMatchObject({ code: 'LOCAL.ELSEWHERE' });
    writeFileSync(idsFile(mine), ids);
    await mine.assertHolds([reference]);
  });

  it.each(['', '\n', 'mine\n'])('refuses a file of ids with %j', async (text) => {
    await mine.reference('a');
    writeFileSync(idsFile(mine), text);
    const refusal = { code: 'LOCAL.FOLDER_IDS_INVALID', message: expect.stringContaining(idsFile(mine)) };
    await expect(mine.reference('a')).rejects.toMatchObject(refusal);
    await expect(mine.tryLock(never)).rejects.toMatchObject(refusal);
  });

  it('is locked by one process at a time, and by another once it is released', async () => {
    const release = await mine.tryLock(never);
    const again = new LocalFolder(mine.dir);
    expect([typeof release, await again.tryLock(never)]).toEqual(['function', null]);
    await release?.();
    const taken = await again.tryLock(never);
    expect(taken).not.toBeNull();
    await taken?.();
  });

  it('reports why it cannot be locked, instead of a lock of another process', async () => {
    writeFileSync(mine.dir, '');
    await expect(mine.tryLock(never)).rejects.toThrow(mine.dir);
  });

  it('reports when its lock is lost', async () => {
    let isLost = false;
    const release = await mine.tryLock(() => (isLost = true));
    const holdersNow = () => {
      const sessions = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
      return sessionProcesses(new Set(sessions.map(Number))).filter(
        ({ parent, argv }) => parent === process.pid && argv[0] === 'cat',
      );
    };
    let holders = holdersNow();
    // The process has the lock before it becomes `cat`, which keeps it.
    for (; holders.length === 0; holders = holdersNow()) await turn();
    expect(holders).toHaveLength(1);
    for (const { pid } of holders) signal(pid, 'SIGKILL');
    while (!isLost) await turn();
    await release?.();
    isLost = false;
    const again = await mine.tryLock(() => (isLost = true));
    await again?.();
    expect([typeof again, isLost]).toEqual(['function', false]);
  });
});
