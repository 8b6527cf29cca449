import { text } from 'node:stream/consumers';
import type { LogName, LogStore } from './log-store';

/** A log store under test; each `open` is the store of another process over the same data. */
export interface LogStoreUnderTest {
  open: () => LogStore;
  /** Counts the files or objects that hold the logs. */
  pieces: () => Promise<number>;
  /** Counts all requests to the store; null if they are not counted. */
  requests: (() => number) | null;
  close: () => Promise<void>;
}

/** Tests that every log store must pass. @param appends number of small appends, all of which must cost about the same */
export function describeLogStoreContract(
  name: string,
  makeStore: () => Promise<LogStoreUnderTest>,
  { appends }: { appends: number },
): void {
  describe(`${name} holds the log store contract`, () => {
    let tested: LogStoreUnderTest;
    let store: LogStore;
    let log: LogName;
    let id = 7;

    beforeAll(async () => {
      tested = await makeStore();
    });
    afterAll(() => tested.close());
    beforeEach(() => {
      id += 1000;
      log = { kind: 'run', id, stream: 'stdout' };
      store = tested.open();
    });
    afterEach(() => store.delete('run', id));

    const all = async (from = store, offset = 0, length = Infinity) => {
      const opened = await from.open(log);
      return text(opened.read(offset, length));
    };
    const size = async (of = store) => (await of.open(log)).size;
    const lastLines = async (lines: number) => (await store.open(log)).offsetOfLastLines(lines);

    it('writes chunks by offset, and repeated ones change nothing', async () => {
      expect(await store.write(log, 0, Buffer.from('one\n'))).toBe(4);
      expect(await store.write(log, 4, Buffer.from('two\n'))).toBe(8);
      expect(await store.write(log, 0, Buffer.from('one\n'))).toBe(8);
      expect(await store.write(log, 4, Buffer.from('two\nthree\n'))).toBe(14);
      expect(await store.write(log, 14, Buffer.alloc(0))).toBe(14);
      expect(await all()).toBe('one\ntwo\nthree\n');
    });

    it('writes no chunk that would leave a gap, and returns the offset to resume at', async () => {
      expect(await store.write(log, 1, Buffer.from('later'))).toBe(0);
      await store.write(log, 0, Buffer.from('abc'));
      expect(await store.write(log, 10, Buffer.from('later'))).toBe(3);
      expect(await all()).toBe('abc');
    });

    it('is empty if it was never written', async () => {
      expect(await size()).toBe(0);
      expect(await store.resumeAt(log)).toBe(0);
      expect(await all()).toBe('');
      expect(await lastLines(3)).toBe(0);
    });

    it('keeps logs apart', async () => {
      await store.write(log, 0, Buffer.from('out'));
      await store.write({ ...log, stream: 'stderr' }, 0, Buffer.from('error'));
      await store.write({ ...log, id: id + 1 }, 0, Buffer.from('of another run'));
      await store.write({ ...log, kind: 'node' }, 0, Buffer.from('of a node'));
      expect(await all()).toBe('out');
      await store.delete('run', id + 1);
      await store.delete('node', id);
      expect(await all()).toBe('out');
    });

    it.each([
      [1, 'c\n'],
      [2, 'b\nc\n'],
      [3, 'a\nb\nc\n'],
      [9, 'a\nb\nc\n'],
    ])('finds the last %i lines', async (lines, expected) => {
      await store.write(log, 0, Buffer.from('a\nb'));
      await store.write(log, 3, Buffer.from('\nc'));
      await store.write(log, 5, Buffer.from('\n'));
      expect(await all(store, await lastLines(lines))).toBe(expected);
    });

    it('counts an unfinished last line and lines longer than a block', async () => {
      const long = 'x'.repeat(200_000);
      await store.write(log, 0, Buffer.from(`first\n${long}\nlast`));
      expect(await all(store, await lastLines(1))).toBe('last');
      expect(await all(store, await lastLines(2))).toBe(`${long}\nlast`);
      expect(await all(store, 0, 8)).toBe('first\nxx');
      expect(await all(store, 200_004, 5)).toBe('xx\nla');
      expect(await all(store, 1_000_000)).toBe('');
    });

    it('accepts the same bytes from two processes at once', async () => {
      const other = tested.open();
      const content = lines(0, 200);
      // The second process cuts the log elsewhere, like an agent that has restarted.
      await Promise.all([writeAll(store, content, 97), writeAll(other, content, 61)]);
      expect(await all()).toBe(content);
      expect([await size(), await size(other)]).toEqual([content.length, content.length]);
    });

    it('resumes in a process that has not seen the log before', async () => {
      const content = lines(0, 300);
      for (let at = 0, turn = 0; at < content.length; turn += 1) {
        const process = turn % 3 === 0 ? tested.open() : store;
        at = await process.write(log, at, Buffer.from(content.slice(at, at + 50)));
      }
      expect(await all(tested.open())).toBe(content);
      expect(await tested.open().resumeAt(log)).toBe(content.length);
    });

    it('shows a reader the log as it was when opened, while more is appended', async () => {
      const content = lines(0, 600);
      await writeAll(store, content.slice(0, 3000), 100);
      const opened = await tested.open().open(log);
      const reading = (async () => {
        let read = '';
        for await (const chunk of opened.read(0, opened.size)) {
          read += String(chunk);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return read;
      })();
      await writeAll(store, content, 100);
      await store.compact('run', id, AbortSignal.timeout(60_000));
      expect(await reading).toBe(content.slice(0, 3000));
      expect(await text(opened.read(0, opened.size))).toBe(content.slice(0, 3000));
      expect(await all()).toBe(content);
    });

    it('removes both streams of a run, even twice', async () => {
      await writeAll(store, lines(0, 100), 10);
      await store.write({ ...log, stream: 'stderr' }, 0, Buffer.from('error'));
      await store.delete('run', id);
      await store.delete('run', id);
      expect(await size()).toBe(0);
      expect((await store.open({ ...log, stream: 'stderr' })).size).toBe(0);
      expect(await store.resumeAt(log)).toBe(0);
      expect(await tested.pieces()).toBe(0);
    });

    it(`writes ${appends} small appends, the last at the cost of the first`, async () => {
      const content = lines(0, appends);
      const requests: number[] = [];
      const quarter = Math.ceil(appends / 4);
      for (let done = 0, at = 0; done < appends; done += quarter) {
        const before = tested.requests?.() ?? 0;
        for (let line = done; line < Math.min(done + quarter, appends); line += 1) {
          const end = content.indexOf('\n', at) + 1;
          at = await store.write(log, at, Buffer.from(content.slice(at, end)));
        }
        requests.push((tested.requests?.() ?? 0) - before);
      }
      expect(await size()).toBe(content.length);
      expect(await all()).toBe(content);
      // Merges of merges happen now and then; a cost that grew with the length of the log would be several times higher.
      expect(Math.max(...requests)).toBeLessThanOrEqual(requests[0]! * 1.5);
      expect(await tested.pieces()).toBeLessThan(100);
      await store.compact('run', id, AbortSignal.timeout(60_000));
      await store.compact('run', id, AbortSignal.timeout(60_000));
      expect(await tested.pieces()).toBe(1);
      expect(await all(tested.open())).toBe(content);
      expect(await all(store, await lastLines(2))).toBe(lines(appends - 2, appends));
    }, 600_000);

    it('stores a log of many megabytes in few objects, and reads any part of it', async () => {
      const chunk = Buffer.alloc(256 * 1024, 'some line of a log, and more\n');
      for (let at = 0; at < 100 * chunk.length; at += chunk.length) await store.write(log, at, chunk);
      expect(await tested.pieces()).toBeLessThan(40);
      const opened = await store.open(log);
      expect(opened.size).toBe(100 * chunk.length);
      for (const start of [0, chunk.length - 1, 33 * chunk.length + 5, 99 * chunk.length]) {
        const part = await text(opened.read(start, 100));
        expect(part).toBe(
          String(Buffer.concat([chunk, chunk])).slice(start % chunk.length, (start % chunk.length) + 100),
        );
      }
      let bytes = 0;
      for await (const part of opened.read(0, opened.size)) bytes += (part as Buffer).length;
      expect(bytes).toBe(opened.size);
    }, 120_000);

    const writeAll = async (to: LogStore, content: string, step: number) => {
      for (let at = 0; at < content.length;) at = await to.write(log, at, Buffer.from(content.slice(at, at + step)));
    };
  });
}

function lines(first: number, end: number): string {
  return Array.from({ length: end - first }, (_, index) => `line ${first + index}\n`).join('');
}
