import { readOpaque } from '../../../../../libs/json/opaque-json';
import { KernelFeed } from './kernel-feed';
import { FRAME_JSON, kernelFrame } from './kernel-messages';

const parse = (payload: Buffer) => Promise.resolve(kernelFrame(readOpaque(payload, FRAME_JSON)));

const frame = (number: number) => {
  const message = { msg_id: `m${number}`, msg_type: 'stream', parent_header: {}, content: { text: String(number) } };
  return { number, payload: Buffer.from(JSON.stringify({ op: 'message', generation: 1, message })) };
};

describe('KernelFeed', () => {
  let last: number;
  let reads: number[];
  let feed: KernelFeed;

  beforeEach(() => {
    [last, reads] = [2, []];
    feed = new KernelFeed((after) => {
      reads.push(after);
      const frames = [1, 2, 3].filter((number) => number > after && number <= last).map(frame);
      return Promise.resolve({ frames, lost: false, last });
    }, parse);
  });

  const numbers = async (after: number) => (await feed.messagesAfter(after)).messages.map(({ number }) => number);

  it('reads once for all sockets at the same position', async () => {
    expect(await Promise.all([numbers(0), numbers(0), numbers(1)])).toEqual([[1, 2], [1, 2], [2]]);
    expect(await numbers(0)).toEqual([1, 2]);
    expect(reads).toEqual([0, 1]);
    const [one, other] = await Promise.all([feed.messagesAfter(0), feed.messagesAfter(0)]);
    expect(one.messages[0]?.text).toBe(other.messages[0]?.text);
  });

  it('passes on numbers as the kernel wrote them', async () => {
    const content = '{"data":{"application/json":{"big":9007199254740993,"f":1.0,"list":[1e-05,-0.0]}}}';
    const payload = Buffer.from(
      `{"op":"message","generation":1,"message":{"msg_type":"display_data","content":${content}}}`,
    );
    const exact = new KernelFeed(
      () => Promise.resolve({ frames: [{ number: 1, payload }], lost: false, last: 1 }),
      parse,
    );
    const { messages } = await exact.messagesAfter(0);
    expect(messages[0]?.text?.toString()).toBe(`{"msg_type":"display_data","content":${content}}`);
  });

  it('reads again after new frames were announced', async () => {
    expect(await numbers(2)).toEqual([]);
    last = 3;
    expect(await numbers(2)).toEqual([]);
    feed.invalidate();
    expect(await numbers(2)).toEqual([3]);
  });

  it('caches few positions, and no failures', async () => {
    for (let after = 0; after < 6; after += 1) await feed.messagesAfter(after);
    await feed.messagesAfter(0);
    expect(reads).toEqual([0, 1, 2, 3, 4, 5, 0]);
    const failing = jest.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue({ frames: [], lost: false });
    const other = new KernelFeed(failing, parse);
    await expect(other.messagesAfter(0)).rejects.toThrow('away');
    expect(await other.messagesAfter(0)).toEqual({ messages: [], lost: false });
  });
});
