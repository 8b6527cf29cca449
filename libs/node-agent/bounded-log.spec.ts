import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BoundedLog } from './bounded-log';
import * as files from './files';
import { LogShipper } from './log-shipper';

jest.mock('./files', () => ({ __esModule: true, ...jest.requireActual<typeof files>('./files') }));

const LIMIT = 100_000;
const NOTE = `\n[The output is cut here: it is longer than ${LIMIT} bytes. Its end follows.]\n`;
const MEBIBYTE = 1024 * 1024;

describe('BoundedLog', () => {
  let folder: string;
  let path: string;
  let log: BoundedLog;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bounded-log-'));
    path = join(folder, 'stdout');
    log = new BoundedLog(path, () => LIMIT);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Returns the content of the store once the log has stopped growing. */
  async function shipped(): Promise<string> {
    let store = Buffer.alloc(0);
    const send = (offset: number, chunk: Buffer): Promise<number> => {
      if (offset === store.length) store = Buffer.concat([store, chunk]);
      return Promise.resolve(store.length);
    };
    const refused = (error: Error): never => {
      throw error;
    };
    await new LogShipper(log, null, send, refused).drain();
    return store.toString('utf8');
  }

  it('keeps everything within the limit', async () => {
    writeFileSync(path, 'x'.repeat(LIMIT));
    log.truncate();
    expect([log.isCut, await shipped()]).toEqual([false, 'x'.repeat(LIMIT)]);
  });

  it('returns the end of the output since a moment, even if it was cut', () => {
    writeFileSync(path, 'before\n');
    const { length } = log;
    appendFileSync(path, 'after\n');
    expect([log.since(length, 1000), log.since(length, 3), log.since(log.length, 9)]).toEqual(['after\n', 'er\n', '']);
    appendFileSync(path, `${'x'.repeat(2 * MEBIBYTE)}the end`);
    log.truncate();
    expect(log.since(length, 7)).toBe('the end');
  });

  it('keeps the start and the end of a longer output, with a note between them, at any time', async () => {
    const end = `${'y'.repeat(64 * 1024 - 4)}end\n`;
    for (let part = 0; part < 5; part++) {
      appendFileSync(path, 'x'.repeat(MEBIBYTE));
      log.truncate();
      expect(statSync(path).size).toBeLessThanOrEqual(LIMIT + MEBIBYTE);
    }
    appendFileSync(path, end);
    expect([log.isCut, await shipped()]).toEqual([true, `${'x'.repeat(LIMIT)}${NOTE}${end}`]);
    expect(log.tail()).toBe(end);
  });

  it('has an end that spans the part that was cut off and the part after it', () => {
    appendFileSync(path, 'x'.repeat(2 * MEBIBYTE));
    log.truncate();
    appendFileSync(path, 'the end');
    expect(log.tail()).toBe(`${'x'.repeat(64 * 1024 - 7)}the end`);
  });

  it('loses no bytes that are written while the end is saved', () => {
    appendFileSync(path, 'x'.repeat(2 * MEBIBYTE));
    const save = jest.spyOn(files, 'writeAtomic').mockImplementationOnce((tailPath, content) => {
      writeFileSync(tailPath, content);
      appendFileSync(path, 'the last words');
    });
    log.truncate();
    expect(save).toHaveBeenCalled();
    expect(log.tail()).toBe(`${'x'.repeat(64 * 1024 - 14)}the last words`);
  });

  it('does not follow a link to a file that it would cut', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'x'.repeat(3 * MEBIBYTE));
    symlinkSync(other, path);
    log.truncate();
    expect([statSync(other).size, log.tail(), existsSync(`${path}.tail`)]).toEqual([3 * MEBIBYTE, '', false]);
  });
});
