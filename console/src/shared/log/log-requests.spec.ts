import { polledLog, readingLog } from './log-requests';

/** Sends parts of a text, as the API does. */
function logOf(text: string) {
  const parts: object[] = [];
  const log = readingLog((part) => {
    parts.push(part);
    const bytes = new TextEncoder().encode(text);
    const from = part.offset ?? 0;
    const sent = part.last_n_lines === undefined ? bytes.subarray(from, from + (part.file_size_bytes ?? 0)) : bytes;
    return Promise.resolve(new Response(sent, { headers: { 'x-log-offset': String(bytes.length) } }));
  });
  return { ...log, parts };
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const { signal } = new AbortController();

describe('readingLog', () => {
  it('asks for the size by a line, and for bytes by their place', async () => {
    const { size, read, parts } = logOf('one\ntwo\n');
    expect(await size(signal)).toBe(8);
    expect(textOf(await read(4, 3, signal))).toBe('two');
    expect(await read(8, 0, signal)).toHaveLength(0);
    expect(parts).toEqual([{ last_n_lines: 1 }, { offset: 4, file_size_bytes: 3 }]);
  });
});

describe('polledLog', () => {
  afterEach(() => jest.useRealTimers());

  it('yields what is written behind the last byte, and asks for no more once it is ended', async () => {
    jest.useFakeTimers();
    let text = 'one\n';
    const read = jest.fn((offset: number) => Promise.resolve(new TextEncoder().encode(text).subarray(offset)));
    const end = new AbortController();
    const lines = polledLog(read, 0, end.signal);
    expect(textOf((await lines.next()).value ?? new Uint8Array())).toBe('one\n');
    const next = lines.next();
    await jest.advanceTimersByTimeAsync(1_000);
    text += 'two\n';
    expect(read).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(textOf((await next).value ?? new Uint8Array())).toBe('two\n');
    const last = lines.next();
    await jest.advanceTimersByTimeAsync(10);
    end.abort();
    expect((await last).done).toBe(true);
    expect(read).toHaveBeenCalledTimes(4);
  });
});
