import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeFileHeader, decodeRecords, encodeFileRecord, FILE_HEADER } from '../contracts/channel-records';
import { eventually } from '../../test/harness/eventually';
import { ResponseError } from './control-plane';
import { RunChannel } from './run-channel';

/** Stores frames by number as the control plane does, and returns requests by number. */
class FakeStore {
  readonly frames: string[] = [];
  readonly requests: string[] = [];
  /** The error of the next calls. */
  failures: Error[] = [];
  /** True if frames are stored although their response is lost. */
  losesAnswers = 0;
  private woken: () => void = () => undefined;

  ask(...texts: string[]): void {
    this.requests.push(...texts);
    this.woken();
  }

  readonly calls = {
    requests: async (after: number, _waitMs: number, signal: AbortSignal) => {
      this.fail();
      if (this.requests.length <= after) {
        await new Promise<void>((resolve) => {
          this.woken = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return this.requests.slice(after).map((text, at) => ({ number: after + at + 1, payload: Buffer.from(text) }));
    },
    sendFrames: async (records: Buffer): Promise<number> => {
      this.fail();
      for (const { number, payload } of decodeRecords(records)) {
        if (number === this.frames.length + 1) this.frames.push(payload.toString());
      }
      if (records.length > 0 && this.losesAnswers-- > 0) throw new Error('The connection broke.');
      return this.frames.length + 1;
    },
  };

  private fail(): void {
    const failure = this.failures.shift();
    if (failure) throw failure;
  }
}

describe('RunChannel', () => {
  let dir: string;
  let store: FakeStore;
  let channel: RunChannel;
  let broken: string[];
  const path = (name: string) => join(dir, name);
  const say = (number: number, text: string, ack = 0) =>
    appendFileSync(path('frames'), encodeFileRecord({ number, ack, payload: Buffer.from(text) }));
  const open = () => {
    channel = new RunChannel({
      requests: path('requests'),
      frames: path('frames'),
      calls: store.calls,
      hide: (payload) => {
        const at = payload.indexOf('hush');
        if (at >= 0) payload.fill('*', at, at + 4);
      },
      broken: (why) => broken.push(why),
    });
    channel.start();
    return channel;
  };
  const requests = () => {
    const bytes = readFileSync(path('requests'));
    const found: { number: number; ack: number; text: string }[] = [];
    for (let at = 0; at < bytes.length;) {
      const header = decodeFileHeader(bytes.subarray(at));
      if (!header) throw new Error(`There is no record at ${at}`);
      const end = at + FILE_HEADER + header.length;
      found.push({ number: header.number, ack: header.ack, text: bytes.toString('utf8', at + FILE_HEADER, end) });
      at = end;
    }
    return found;
  };
  const said = (...texts: string[]) =>
    eventually(() => store.frames.length >= texts.length, { what: 'frames' }).then(() =>
      expect(store.frames).toEqual(texts),
    );

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'run-channel-'));
    for (const name of ['requests', 'frames']) writeFileSync(path(name), '');
    store = new FakeStore();
    broken = [];
  });

  afterEach(() => {
    channel.close();
    rmSync(dir, { recursive: true });
  });

  it('copies frames and requests in order', async () => {
    open();
    say(1, 'one');
    say(2, 'two');
    await said('one', 'two');
    store.ask('first', 'second');
    await eventually(() => requests().length === 2, { what: 'requests' });
    expect(requests()).toEqual([
      { number: 1, ack: 2, text: 'first' },
      { number: 2, ack: 2, text: 'second' },
    ]);
  });

  it('continues after an agent that died at any point', async () => {
    store.ask('first');
    open();
    say(1, 'one');
    await said('one');
    await eventually(() => requests().length === 1, { what: 'a request' });
    channel.close();
    // It was about to write the second request, and had not sent the second frame.
    appendFileSync(
      path('requests'),
      encodeFileRecord({ number: 2, ack: 1, payload: Buffer.from('second') }).subarray(0, 27),
    );
    say(2, 'two');
    store.ask('second');
    open();
    await said('one', 'two');
    const texts = () => requests().map(({ text }) => text);
    await eventually(() => texts().join() === 'first,second', { what: 'the other request' });
  });

  it('does not send frames again that were stored but whose response was lost', async () => {
    store.losesAnswers = 1;
    open();
    say(1, 'one');
    await said('one');
    say(2, 'two');
    await said('one', 'two');
  });

  it('continues once the control plane is back', async () => {
    store.failures = [
      new Error('away'),
      new Error('away'),
      new ResponseError(503, 'away'),
      new ResponseError(401, 'unknown'),
    ];
    open();
    say(1, 'one');
    await said('one');
  });

  it('waits for the rest of a record', async () => {
    open();
    const record = encodeFileRecord({ number: 1, ack: 0, payload: Buffer.from('in two parts') });
    appendFileSync(path('frames'), record.subarray(0, 30));
    channel.wake();
    appendFileSync(path('frames'), record.subarray(30));
    await said('in two parts');
  });

  it.each([
    ['a shorter', ['two']],
    ['a longer', ['a record that reaches beyond where the reader was', 'and another']],
  ])('follows a file that was truncated and started again, with %s content', async (_, texts) => {
    open();
    say(1, 'a record that was read');
    await said('a record that was read');
    truncateSync(path('frames'), 0);
    texts.forEach((text, at) => say(2 + at, text));
    await said('a record that was read', ...texts);
    expect(broken).toEqual([]);
  });

  it('acknowledges processed records, and truncates its own file once all of it was read', async () => {
    store.ask('x'.repeat(9 * 1024 * 1024));
    open();
    say(1, 'y'.repeat(2 * 1024 * 1024));
    await eventually(() => requests().some(({ number, ack }) => number === 0 && ack === 1), {
      what: 'an acknowledgement',
    });
    say(2, 'read it', 1);
    await eventually(() => store.frames.length === 2, { what: 'the frame' });
    store.ask('next');
    await eventually(() => statSync(path('requests')).size < 1024, { what: 'a new beginning' });
    expect(requests()).toEqual([{ number: 2, ack: 2, text: 'next' }]);
  });

  it('hides secrets', async () => {
    open();
    say(1, 'the word is hush');
    await said('the word is ****');
  });

  it('sends all frames before it is drained', async () => {
    open();
    for (let number = 1; number <= 1_000; number += 1) say(number, `frame ${number}`);
    await channel.drain();
    expect(store.frames).toHaveLength(1_000);
  });

  it.each([
    ['another text', () => appendFileSync(path('frames'), 'x'.repeat(100))],
    ['a gap', () => say(5, 'five')],
    [
      'a length beyond all bounds',
      () => appendFileSync(path('frames'), Buffer.from('52434831ffffffff'.padEnd(64, '0'), 'hex')),
    ],
    [
      'a number beyond all bounds',
      () => appendFileSync(path('frames'), Buffer.from('5243483100000000'.padEnd(64, 'f'), 'hex')),
    ],
    ['a long empty file', () => truncateSync(path('frames'), 10 * 1024 ** 3)],
  ])('ends at %s in the place of frames, and reports that', async (_, write) => {
    open();
    write();
    await eventually(() => broken.length > 0, { what: 'the end of the channel' });
    expect(broken).toEqual([expect.stringContaining('something other than records')]);
    await channel.drain();
    expect(store.frames).toEqual([]);
  });

  it('ends at garbage after records, without reading these forever', async () => {
    open();
    say(1, 'one');
    await said('one');
    appendFileSync(path('frames'), 'x'.repeat(100));
    await eventually(() => broken.length > 0, { what: 'the end of the channel' });
  });

  it('does not write into a file that a job has enlarged', async () => {
    truncateSync(path('requests'), 1024 ** 3);
    store.ask('first');
    open();
    await eventually(() => broken.length > 0, { what: 'the end of the channel' });
    expect(broken[0]).toMatch(/longer than any that an agent writes/);
  });

  it('ends when the control plane refuses its frames', async () => {
    store.failures = [new ResponseError(409, 'The job 1 has ended.'), new ResponseError(409, 'The job 1 has ended.')];
    open();
    await eventually(() => broken.length > 0, { what: 'the end of the channel' });
    expect(broken).toEqual(['The job 1 has ended.']);
  });
});
