import { exactJson } from '../../../../libs/json/exact-json';
import { readOpaque } from '../../../../libs/json/opaque-json';
import { LARGE_FROM_BYTES } from './json-thread';
import { UntrustedJson } from './untrusted-json';

const BOUNDS = { bytes: 4 * LARGE_FROM_BYTES, values: 10, levels: 5, parsedLevels: 2 };

describe('large untrusted JSON', () => {
  let json: UntrustedJson;

  beforeAll(() => (json = new UntrustedJson(undefined as never)));
  afterAll(() => json.onApplicationShutdown());

  const read = (text: string) => json.readOpaque('tenant', Buffer.from(text), BOUNDS);
  const many = `1.0,"]",{"é":[null]},`.repeat(LARGE_FROM_BYTES / 16);

  it('is read in a thread, with the same result as on the event loop', async () => {
    const text = `{"a":{"b":[${many}1]},"c":[1.0,"${'x'.repeat(9)}"]}`;
    expect(text.length).toBeGreaterThan(LARGE_FROM_BYTES);
    const value = await read(text);
    expect(value).toEqual(readOpaque(Buffer.from(text), BOUNDS));
    expect(exactJson(value)).toBe(text);
  });

  it.each([
    ['is no JSON', `{"a":{"b":[${many}1}}`],
    ['has too many values', `{"a":[${many}1]}`],
    ['has too many levels', `{"a":{"b":[[[[${many}1]]]]}}`],
    ['is too long', `{"a":{"b":[${many.repeat(4)}1]}}`],
  ])('is undefined if it %s', async (_, text) => expect(await read(text)).toBeUndefined());
});

describe('small untrusted JSON', () => {
  it('leaves turns of the event loop to other requests, however many texts there are', async () => {
    const json = new UntrustedJson(undefined as never);
    const text = Buffer.from(`["${'x'.repeat(1_000)}"]`);
    const texts = 2_000;
    let turns = 0;
    let next: NodeJS.Immediate = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    for (let at = 0; at < texts; at += 1) await json.readOpaque('tenant', text, BOUNDS);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(Math.floor((texts * text.length) / LARGE_FROM_BYTES));
    await json.onApplicationShutdown();
  });
});
