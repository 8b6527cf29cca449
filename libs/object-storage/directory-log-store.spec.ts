import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DirectoryLogStore, type LogName } from './directory-log-store';

describe('DirectoryLogStore', () => {
  const log: LogName = { kind: 'run', id: 7, stream: 'stdout' };
  let root: string;
  let store: DirectoryLogStore;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'logs-'));
    store = new DirectoryLogStore(root);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const all = async (offset = 0, length?: number) => text(await store.read(log, offset, length));

  it('takes chunks by offset, repeated ones without change', async () => {
    expect(await store.write(log, 0, Buffer.from('one\n'))).toBe(4);
    expect(await store.write(log, 4, Buffer.from('two\n'))).toBe(8);
    expect(await store.write(log, 0, Buffer.from('one\n'))).toBe(8);
    expect(await store.write(log, 4, Buffer.from('two\nthree\n'))).toBe(14);
    expect(await all()).toBe('one\ntwo\nthree\n');
  });

  it('writes nothing that would leave a gap and says where to resume', async () => {
    await store.write(log, 0, Buffer.from('abc'));
    expect(await store.write(log, 10, Buffer.from('later'))).toBe(3);
    expect(await all()).toBe('abc');
  });

  it('is empty where nobody wrote', async () => {
    expect(await store.size(log)).toBe(0);
    expect(await all()).toBe('');
    expect(await store.offsetOfLastLines(log, 3)).toBe(0);
  });

  it.each([
    [1, 'c\n'],
    [2, 'b\nc\n'],
    [3, 'a\nb\nc\n'],
    [9, 'a\nb\nc\n'],
  ])('finds the last %i lines', async (lines, expected) => {
    await store.write(log, 0, Buffer.from('a\nb\nc\n'));
    expect(await all(await store.offsetOfLastLines(log, lines))).toBe(expected);
  });

  it('counts an unfinished last line and lines longer than a block', async () => {
    const long = 'x'.repeat(200_000);
    await store.write(log, 0, Buffer.from(`first\n${long}\nlast`));
    expect(await all(await store.offsetOfLastLines(log, 1))).toBe('last');
    expect(await all(await store.offsetOfLastLines(log, 2))).toBe(`${long}\nlast`);
    expect(await all(0, 8)).toBe('first\nxx');
  });
});
