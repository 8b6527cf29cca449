import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BoundedLog } from './bounded-log';
import { LogShipper } from './log-shipper';
import { MaskedLog } from './masked-log';
import { SecretMask } from './secret-mask';

const LIMIT = 1024 * 1024;
const VALUES = ['hush!', randomBytes(300).toString('base64')];
const [SHORT, LONG] = VALUES as [string, string];
const stars = (length: number): string => '*'.repeat(length);

describe('MaskedLog', () => {
  let folder: string;
  let path: string;
  let log: BoundedLog;
  let masked: MaskedLog;
  let store: Buffer;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'masked-log-'));
    path = join(folder, 'stdout');
    log = new BoundedLog(path, () => LIMIT);
    const mask = new SecretMask(VALUES);
    masked = new MaskedLog(log, 'text', () => mask);
    store = Buffer.alloc(0);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const shipper = () =>
    new LogShipper(
      masked,
      store.length === 0 ? null : store.length,
      (offset, chunk) => {
        expect(offset).toBeLessThanOrEqual(store.length);
        store = Buffer.concat([store, chunk.subarray(store.length - offset)]);
        return Promise.resolve(store.length);
      },
      (error) => {
        throw error;
      },
    );
  const write = (text: string) => appendFileSync(path, text);
  const drained = async () => {
    await shipper().drain();
    return store.toString('latin1');
  };

  it('hides values wherever chunks are split', async () => {
    const [before, after] = ['.'.repeat(256 * 1024 - 3), '.'.repeat(256 * 1024 - 500)];
    write(`${before}${SHORT}${after}${LONG}${SHORT}end`);
    expect(await drained()).toBe(`${before}*****${after}${stars(LONG.length + 5)}end`);
  });

  it('hides a value that is written and sent byte by byte', async () => {
    for (const character of `a ${SHORT} b ${LONG} c hus d hush`) {
      write(character);
      // A byte that was sent stays sent.
      store = Buffer.concat([store, masked.read(store.length, masked.kept - store.length, false)]);
    }
    expect(store.toString()).toBe(`a ***** b ${stars(LONG.length)} c hus d `);
    expect(await drained()).toBe(`a ***** b ${stars(LONG.length)} c hus d ****`);
  });

  it.each([0, 1, 3, 4, 17, 200, 399])('hides the part of a value within the limit, %s bytes', async (left) => {
    write(`${'.'.repeat(LIMIT - left)}${LONG}${'.'.repeat(100)}`);
    const sent = await drained();
    const kept = sent.slice(LIMIT - left, LIMIT);
    expect(kept).toBe(left < 4 ? LONG.slice(0, left) : stars(left));
    // The end of the log contains the whole value.
    expect(sent.slice(LIMIT)).toContain(`${stars(LONG.length)}${'.'.repeat(100)}`);
  });

  it.each([0, 1, 15, 16, 17, 399])("hides the part of a value in the log's end, all but %s bytes", async (out) => {
    write('.'.repeat(LIMIT + 2 * 1024 * 1024));
    write(`${LONG}${'.'.repeat(64 * 1024 - LONG.length + out)}`);
    log.truncate();
    const sent = await drained();
    expect(sent.slice(-64 * 1024)).toBe(`${stars(LONG.length - out)}${'.'.repeat(64 * 1024 - LONG.length + out)}`);
    expect(log.tail(new SecretMask(VALUES))).not.toContain(LONG.slice(-20));
  });
});
