import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ZipEntry, zipStream } from './zip-stream';

/** An independent reader, which checks every checksum, prints the entries that it finds. */
const READ = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    broken = z.testzip()
    found = z.infolist()
    print(json.dumps({
        'broken': broken,
        'count': len(found),
        'entries': [[i.filename, i.file_size, list(i.date_time), oct(i.external_attr >> 16), i.extract_version]
                    for i in found[:10]],
        'contents': {i.filename: z.read(i).decode() for i in found[:10] if i.file_size < 100},
    }))
`;

interface Found {
  broken: string | null;
  count: number;
  entries: [name: string, bytes: number, time: number[], mode: string, version: number][];
  contents: Record<string, string>;
}

const AT = new Date('2024-02-29T13:14:16Z');
const never = new AbortController().signal;

describe('a streamed zip file', () => {
  let folder: string;

  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'zip-stream-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const read = async (entries: Iterable<ZipEntry>): Promise<Found> => {
    const path = join(folder, 'made.zip');
    await pipeline(zipStream(inTurn(entries), never), createWriteStream(path));
    const python = process.env['PYTHON'] ?? 'python3';
    return JSON.parse(execFileSync(python, ['-c', READ, path], { encoding: 'utf8' })) as Found;
  };

  it('has names, content, time and modes', async () => {
    const large = 'x'.repeat(300_000);
    const found = await read([
      file('a.txt', 'content'),
      directory('dir'),
      file('dir/ünïcode 🚀', 'more'),
      file('empty', ''),
      file('large', large),
    ]);
    const time = [2024, 2, 29, 13, 14, 16];
    expect(found).toEqual({
      broken: null,
      count: 5,
      entries: [
        ['a.txt', 7, time, '0o100644', 20],
        ['dir/', 0, time, '0o40755', 20],
        ['dir/ünïcode 🚀', 4, time, '0o100644', 20],
        ['empty', 0, time, '0o100644', 20],
        ['large', 300_000, time, '0o100644', 20],
      ],
      contents: { 'a.txt': 'content', 'dir/': '', 'dir/ünïcode 🚀': 'more', empty: '' },
    });
  });

  it('without entries is valid', async () => {
    expect(await read([])).toMatchObject({ broken: null, count: 0 });
  });

  it('has the nearest time that the format can express', async () => {
    const at = (time: string): ZipEntry => ({ name: time, lastModified: new Date(time), open: null });
    const { entries } = await read([
      at('1970-01-01T00:00:00Z'),
      at('2107-12-31T23:59:58Z'),
      at('2999-12-31T00:00:00Z'),
    ]);
    expect(entries.map(([, , [year]]) => year)).toEqual([1980, 2107, 2107]);
  });

  it('has no names that lead out of the folder in which it is unpacked', async () => {
    const { entries } = await read([file('..\\up', ''), file('C:/Windows/x', ''), file('12:30/C:', '')]);
    expect(entries.map(([name]) => name)).toEqual(['.._up', 'C_/Windows/x', '12:30/C:']);
  });

  // The plain format has at most 65,534 entries; with more, ZIP64 is needed.
  it.each([65_535, 65_536])(
    'holds %i entries',
    async (count) => {
      function* many() {
        for (let index = 0; index < count - 1; index += 1) yield directory(`d${index}`);
        yield file('last', 'content');
      }
      expect(await read(many())).toMatchObject({ broken: null, count });
    },
    60_000,
  );

  it('announces a file of 4 GiB or more with 64-bit sizes', async () => {
    const found = await read([file('large', 'content', 2 ** 32), file('after', 'more')]);
    expect(found).toMatchObject({
      broken: null,
      entries: [
        ['large', 7, expect.anything(), '0o100644', 45],
        ['after', 4, expect.anything(), '0o100644', 20],
      ],
      contents: { large: 'content', after: 'more' },
    });
  });

  it('opens one entry after the other and closes each', async () => {
    let [open, most] = [0, 0];
    const source = () => {
      open += 1;
      most = Math.max(most, open);
      return Readable.from([Buffer.from('content')]).on('close', () => (open -= 1));
    };
    const many = Array.from({ length: 50 }, (_, index) => entry(`file-${index}`, source));
    expect(await read(many)).toMatchObject({ count: 50 });
    expect([most, open]).toEqual([1, 0]);
  });

  it('reads ahead only as much as its buffers hold', async () => {
    const part = randomBytes(2 ** 16);
    let pushed = 0;
    const endless = new Readable({
      read() {
        pushed += part.length;
        this.push(part);
      },
    });
    const closed = new Promise((resolve) => endless.once('close', resolve));
    let taken = 0;
    for await (const chunk of zipStream(inTurn([entry('endless', () => endless)]), never) as AsyncIterable<Buffer>) {
      taken += chunk.length;
      expect(pushed - taken).toBeLessThan(2 ** 21);
      // This gives a source that reads ahead the time to do so.
      await new Promise(setImmediate);
      if (taken > 2 ** 24) break;
    }
    await closed;
  });

  it('fails with the error of an entry', async () => {
    const failing = new Readable({ read: () => {} });
    failing.push(randomBytes(2 ** 16));
    const zip = zipStream(inTurn([file('a', 'whole'), entry('b', () => failing)]), never);
    const ended = (async () => {
      for await (const chunk of zip as AsyncIterable<Buffer>) {
        if (chunk.length > 1000) failing.destroy(new Error('the store failed'));
      }
    })();
    await expect(ended).rejects.toThrow('the store failed');
    expect(failing.destroyed).toBe(true);
  });

  it('closes an entry that is opened after its reader has disconnected', async () => {
    const gone = new AbortController();
    const late = new Readable({ read: () => {} });
    const opens = () => {
      gone.abort();
      return late;
    };
    const zip = zipStream(inTurn([entry('late', opens)]), gone.signal).on('error', () => {});
    zip.resume();
    await new Promise((resolve) => late.once('close', resolve));
  });
});

async function* inTurn(entries: Iterable<ZipEntry>): AsyncGenerator<ZipEntry> {
  for (const each of entries) yield await Promise.resolve(each);
}

function directory(name: string): ZipEntry {
  return { name, lastModified: AT, open: null };
}

function file(name: string, content: string, sizeBytes = content.length): ZipEntry {
  return entry(name, () => Readable.from(content === '' ? [] : [Buffer.from(content)]), sizeBytes);
}

function entry(name: string, open: () => Readable, sizeBytes = 0): ZipEntry {
  return { name, lastModified: AT, open: () => Promise.resolve({ stream: open(), sizeBytes }) };
}
