import { findLine, isFault } from './log-search';
import type { LogSource } from './log-window';

/** A log of a hundred thousand lines, which is larger than one chunk. */
const LINES = Array.from({ length: 100_000 }, (_, line) => `26/11/28 line ${line} of the log`);
const BYTES = new TextEncoder().encode(LINES.join('\n'));
const OFFSETS = new Map<number, number>();
LINES.reduce((offset, line, index) => (OFFSETS.set(index, offset), offset + line.length + 1), 0);

const source: LogSource = {
  size: () => Promise.resolve(BYTES.length),
  read: (offset, length) => Promise.resolve(BYTES.slice(offset, offset + length)),
  follow: () => {
    throw new Error('Nothing is followed');
  },
};

const find = (text: string, direction: 'forward' | 'backward', from: number) =>
  findLine(source, {
    text,
    from,
    direction,
    size: BYTES.length,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });

describe('a search in a log', () => {
  it.each([0, 1, 33_333, 66_666, 99_999])('finds line %s from both ends', async (line) => {
    await expect(find(`LINE ${line} of`, 'forward', 0)).resolves.toBe(OFFSETS.get(line));
    await expect(find(`line ${line} of`, 'backward', BYTES.length)).resolves.toBe(OFFSETS.get(line));
  });

  it('finds every line, wherever chunks begin', async () => {
    // A chunk has 1 MiB, and lines have about thirty bytes, so one of these is divided by the end of a chunk.
    const first = LINES.findIndex((_, index) => (OFFSETS.get(index + 1) ?? 0) > 1024 * 1024);
    for (const line of [first - 1, first, first + 1])
      await expect(find(`line ${line} of the log`, 'forward', 0)).resolves.toBe(OFFSETS.get(line));
  });

  it('ends without a result', async () => {
    await expect(find('nowhere', 'forward', 0)).resolves.toBeNull();
    await expect(find('nowhere', 'backward', BYTES.length)).resolves.toBeNull();
  });
});

describe('a line of a log', () => {
  it.each([
    [true, '26/11/28 09:44:01 \u001b[31mERROR\u001b[0m Executor: lost'],
    [true, 'Traceback (most recent call last):'],
    [true, "KeyError: 'invoice_total'"],
    [true, 'java.lang.OutOfMemoryError: Java heap space'],
    [false, '26/11/28 09:44:01 INFO Executor: no errors'],
    [false, '  File "/work/error.py", line 3'],
  ])('names a fault: %s, for %j', (isOne, line) => expect(isFault(line)).toBe(isOne));
});
