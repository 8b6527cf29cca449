import { Readable } from 'node:stream';
import { type Part, type PartsOptions, sendParts } from './part-upload';

const PART = 8 * 2 ** 20;

describe('sendParts', () => {
  const options = (changes: Partial<PartsOptions> = {}): PartsOptions => ({
    sizeBytes: null,
    maxParts: 100,
    parallelParts: 3,
    idleMs: 5_000,
    signal: undefined,
    ...changes,
  });
  const bytes = (size: number, chunk = 100_000): Readable =>
    Readable.from(
      (function* () {
        for (let at = 0; at < size; at += chunk) yield Buffer.alloc(Math.min(chunk, size - at), at % 251);
      })(),
    );
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** A provider that keeps the content and records how it was sent. */
  class Provider {
    readonly parts: { number: number; offset: number; length: number; isLast: boolean }[] = [];
    readonly content: Buffer[] = [];
    running = 0;
    maxRunning = 0;
    besideLast = 0;

    readonly send = async (part: Part): Promise<void> => {
      const { number, offset, data, isLast } = part;
      this.parts.push({ number, offset, length: data.length, isLast });
      if (isLast) this.besideLast = this.running;
      this.running += 1;
      this.maxRunning = Math.max(this.maxRunning, this.running);
      await turn();
      this.content[number - 1] = Buffer.from(data);
      this.running -= 1;
    };
  }

  it.each([
    [0, [0]],
    [1, [1]],
    [PART, [PART]],
    [PART + 1, [PART, 1]],
    [3 * PART, [PART, PART, PART]],
  ])('cuts %i bytes into parts, whether the size is announced or not', async (size, lengths) => {
    for (const sizeBytes of [null, size]) {
      const provider = new Provider();
      expect(await sendParts(bytes(size), options({ sizeBytes }), provider.send)).toBe(size);
      expect(provider.parts.map(({ length }) => length)).toEqual(lengths);
      expect(provider.parts.map(({ isLast }) => isLast)).toEqual(lengths.map((_, i) => i === lengths.length - 1));
    }
  });

  it('sends a few at a time, keeps their content apart, and the last one alone', async () => {
    const size = 7 * PART + 5;
    const provider = new Provider();
    await sendParts(bytes(size), options(), provider.send);
    expect(provider.maxRunning).toBe(3);
    expect(provider.besideLast).toBe(0);
    const whole = Buffer.concat(await bytes(size).toArray());
    expect(Buffer.concat(provider.content).equals(whole)).toBe(true);
    expect(provider.parts.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => i * PART));
  });

  it('makes parts larger if there would be too many, and sends fewer at a time', async () => {
    const provider = new Provider();
    const size = 5 * PART;
    await sendParts(bytes(size), options({ sizeBytes: size, maxParts: 3 }), provider.send);
    expect(provider.parts.map(({ length }) => length / 2 ** 20)).toEqual([14, 14, 12]);
    expect(provider.maxRunning).toBe(1);
  });

  it('does not send the last part if the size is wrong', async () => {
    for (const sizeBytes of [PART - 1, PART + 1, 3 * PART]) {
      const provider = new Provider();
      await expect(sendParts(bytes(PART), options({ sizeBytes }), provider.send)).rejects.toMatchObject({
        code: 'SIZE_MISMATCH',
      });
      expect(provider.parts.filter(({ isLast }) => isLast)).toEqual([]);
    }
    await expect(sendParts(bytes(3 * PART), options({ maxParts: 2 }), new Provider().send)).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
  });

  it('aborts the other parts when one fails, waits for them, and destroys the source', async () => {
    const source = bytes(100 * PART);
    let [started, ended] = [0, 0];
    const send = async ({ number }: Part, signal: AbortSignal): Promise<void> => {
      if (number === 2) throw new Error('refused');
      started += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await turn();
      ended += 1;
      throw new Error('aborted');
    };
    await expect(sendParts(source, options(), send)).rejects.toThrow('refused');
    expect(started).toBeGreaterThan(0);
    expect(ended).toBe(started);
    expect(source.destroyed).toBe(true);
  });

  it('does not wait for the source once a part has failed', async () => {
    const source = new Readable({ read: () => {} });
    source.push(Buffer.alloc(PART + 1));
    const send = () => Promise.reject(new Error('refused'));
    await expect(sendParts(source, options(), send)).rejects.toThrow('refused');
  });

  it('ends with its signal, even while it waits for the source', async () => {
    const controller = new AbortController();
    const silent = new Readable({ read: () => {} });
    const sending = sendParts(silent, options({ signal: controller.signal }), new Provider().send);
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(silent.destroyed).toBe(true);
  });

  it('ends when the source fails or stalls', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.alloc(PART);
        await turn();
        throw new Error('lost');
      })(),
    );
    await expect(sendParts(failing, options(), new Provider().send)).rejects.toMatchObject({ code: 'SOURCE_FAILED' });
    const silent = new Readable({ read: () => {} });
    await expect(sendParts(silent, options({ idleMs: 20 }), new Provider().send)).rejects.toMatchObject({
      code: 'SOURCE_FAILED',
      message: 'The upload sent no data for 0.02 seconds.',
    });
  });

  it('does not count the time that a part takes as a stall of the source', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const slow = async () => {
        await jest.advanceTimersByTimeAsync(60);
      };
      await expect(sendParts(bytes(4 * PART), options({ parallelParts: 1, idleMs: 40 }), slow)).resolves.toBe(4 * PART);
    } finally {
      jest.useRealTimers();
    }
  });
});
