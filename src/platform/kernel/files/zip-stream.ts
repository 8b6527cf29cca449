import { pipeline, Readable, Transform } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { firstByte } from './first-byte';
import { freeTransferred } from './transfer-memory';

/** A file or directory that becomes an entry of a zip file. */
export interface ZipEntry {
  /** Path in the zip file. */
  name: string;
  lastModified?: Date | null;
  /** Opens the content when the entry is written; null for a directory. */
  open: (() => Promise<ZipContent>) | null;
}

export interface ZipContent {
  stream: Readable;
  sizeBytes: number;
}

/** The largest number of a 32-bit or 16-bit field. A field with it means that the number is in the ZIP64 field. */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;

/** A file of this size or more is announced with 64-bit sizes. Incompressible content grows by less than the margin. */
const LARGE_BYTES = MAX_32 - 2 ** 24;

const VERSION = 20;
const VERSION_ZIP64 = 45;
const FLAG_UTF8 = 1 << 11;
/** Sizes and checksum of a file follow its content. */
const FLAG_DESCRIPTOR = 1 << 3;
const DEFLATED = 8;
const ZIP64_FIELD = 1;
/** The zip file names Unix as its system, so that modes are those of Unix. */
const MADE_BY_UNIX = 3 << 8;
const FILE_MODE = (0o100644 << 16) >>> 0;
const DIRECTORY_MODE = ((0o040755 << 16) | 0x10) >>> 0;

const BLOCK_BYTES = 64 * 1024;

/**
 * Streams a zip file of the entries (ADR 0010). One entry is open at a time, and only the lines of the central directory
 * are kept in memory. The stream fails with the error of an entry. Sizes and number of files are not limited (ZIP64).
 * @param signal closes the open entry at once, even while the reader waits for it
 */
export function zipStream(entries: AsyncIterable<ZipEntry>, signal: AbortSignal): Readable {
  return Readable.from(zipFile(entries, signal), { objectMode: false });
}

async function* zipFile(entries: AsyncIterable<ZipEntry>, signal: AbortSignal): AsyncGenerator<Buffer> {
  const directory = new CentralDirectory();
  let offset = 0;
  for await (const entry of entries) {
    const parts = entry.open ? file(entry, entry.open, signal, directory, offset) : folder(entry, directory, offset);
    for await (const part of parts) {
      offset += part.length;
      yield part;
    }
  }
  yield* directory.parts(offset);
}

async function* file(
  entry: ZipEntry,
  open: () => Promise<ZipContent>,
  signal: AbortSignal,
  directory: CentralDirectory,
  offset: number,
): AsyncGenerator<Buffer> {
  const { stream, sizeBytes } = await open();
  const close = () => stream.destroy();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  try {
    // The header follows the first byte, so that a failure of the first entry can still become an error response.
    await firstByte(stream);
    const isLarge = sizeBytes >= LARGE_BYTES;
    const header = headerOf(entry, { method: DEFLATED, flags: FLAG_UTF8 | FLAG_DESCRIPTOR, isLarge });
    yield localHeader(header);
    const count = new Count();
    const deflate = createDeflateRaw({ level: 1 });
    // The callback ignores the error, because the last stream, which is read below, fails with it as well.
    const packed = pipeline(stream, count, deflate, () => {});
    let packedBytes = 0;
    for await (const chunk of packed as AsyncIterable<Buffer>) {
      packedBytes += chunk.length;
      yield chunk;
    }
    const sizes = { crc: count.crc, packedBytes, bytes: count.bytes };
    if (!isLarge && Math.max(packedBytes, count.bytes) >= MAX_32) {
      throw new Error(`${entry.name} has ${count.bytes} bytes, not ${sizeBytes} as announced`);
    }
    yield descriptor(sizes, isLarge);
    directory.add(header, sizes, { offset, mode: FILE_MODE });
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

function* folder(entry: ZipEntry, directory: CentralDirectory, offset: number): Generator<Buffer> {
  const header = headerOf({ ...entry, name: `${entry.name}/` }, { method: 0, flags: FLAG_UTF8, isLarge: false });
  yield localHeader(header);
  directory.add(header, { crc: 0, packedBytes: 0, bytes: 0 }, { offset, mode: DIRECTORY_MODE });
}

/** Passes content on, and computes its length and checksum. */
class Count extends Transform {
  crc = 0;
  bytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.crc = crc32(chunk, this.crc);
    this.bytes += chunk.length;
    freeTransferred(chunk.length);
    done(null, chunk);
  }
}

interface Header {
  name: Buffer;
  method: number;
  flags: number;
  time: number;
  isLarge: boolean;
}

interface Sizes {
  crc: number;
  packedBytes: number;
  bytes: number;
}

function headerOf(entry: ZipEntry, kind: Pick<Header, 'method' | 'flags' | 'isLarge'>): Header {
  return { ...kind, name: Buffer.from(relativeName(entry.name)), time: dosTime(entry.lastModified ?? new Date()) };
}

/** Names of objects in stores are arbitrary. On Windows, some would lead out of the folder in which the file is unpacked. */
function relativeName(name: string): string {
  return name.replaceAll('\\', '_').replace(/^([A-Za-z]):/, '$1_');
}

function localHeader({ name, method, flags, time, isLarge }: Header): Buffer {
  const extra = isLarge ? zip64Field([0, 0]) : Buffer.alloc(0);
  const size = isLarge ? MAX_32 : 0;
  return Buffer.concat([
    u32(0x04034b50),
    u16(isLarge ? VERSION_ZIP64 : VERSION, flags, method),
    u32(time, 0, size, size),
    u16(name.length, extra.length),
    name,
    extra,
  ]);
}

function descriptor({ crc, packedBytes, bytes }: Sizes, isLarge: boolean): Buffer {
  const sizes = isLarge ? u64(packedBytes, bytes) : u32(packedBytes, bytes);
  return Buffer.concat([u32(0x08074b50, crc), sizes]);
}

/** The end of a zip file, which lists the offset of each entry. */
class CentralDirectory {
  private readonly blocks: Buffer[] = [];
  private lines: Buffer[] = [];
  private linesBytes = 0;
  private count = 0;

  add(header: Header, sizes: Sizes, { offset, mode }: { offset: number; mode: number }): void {
    const { name, method, flags, time } = header;
    const { crc, packedBytes, bytes } = sizes;
    // All numbers are in the ZIP64 field, or none, because readers treat a partial one differently.
    const isLarge = header.isLarge || offset >= MAX_32;
    const extra = isLarge ? zip64Field([bytes, packedBytes, offset]) : Buffer.alloc(0);
    const version = isLarge ? VERSION_ZIP64 : VERSION;
    const [packedField, bytesField, offsetField] = isLarge ? [MAX_32, MAX_32, MAX_32] : [packedBytes, bytes, offset];
    this.append(
      Buffer.concat([
        u32(0x02014b50),
        u16(MADE_BY_UNIX | version, version, flags, method),
        u32(time, crc, packedField, bytesField),
        u16(name.length, extra.length, 0, 0, 0),
        u32(mode, offsetField),
        name,
        extra,
      ]),
    );
  }

  /** Returns the directory, which begins at this offset of the zip file, and the end of the file. */
  *parts(offset: number): Generator<Buffer> {
    this.closeBlock();
    const bytes = this.blocks.reduce((sum, block) => sum + block.length, 0);
    yield* this.blocks;
    const isLarge = this.count >= MAX_16 || bytes >= MAX_32 || offset >= MAX_32;
    if (isLarge) yield this.zip64End(offset, bytes);
    const count = isLarge ? MAX_16 : this.count;
    const [bytesField, offsetField] = isLarge ? [MAX_32, MAX_32] : [bytes, offset];
    yield Buffer.concat([u32(0x06054b50), u16(0, 0, count, count), u32(bytesField, offsetField), u16(0)]);
  }

  private zip64End(offset: number, bytes: number): Buffer {
    return Buffer.concat([
      u32(0x06064b50),
      // Length of the rest of this record.
      u64(44),
      u16(MADE_BY_UNIX | VERSION_ZIP64, VERSION_ZIP64),
      u32(0, 0),
      u64(this.count, this.count, bytes, offset),
      // The locator of the record.
      u32(0x07064b50, 0),
      u64(offset + bytes),
      u32(1),
    ]);
  }

  /** Lines are joined to few large blocks, because there may be millions of lines. */
  private append(line: Buffer): void {
    this.lines.push(line);
    this.linesBytes += line.length;
    this.count += 1;
    if (this.linesBytes >= BLOCK_BYTES) this.closeBlock();
  }

  private closeBlock(): void {
    this.blocks.push(Buffer.concat(this.lines));
    [this.lines, this.linesBytes] = [[], 0];
  }
}

function zip64Field(values: number[]): Buffer {
  return Buffer.concat([u16(ZIP64_FIELD, values.length * 8), u64(...values)]);
}

/**
 * Converts a time to the format of DOS, which has a precision of two seconds, no time zone, and the years from 1980 to
 * 2107. Other years become the nearest of these.
 */
function dosTime(at: Date): number {
  const year = at.getUTCFullYear() - 1980;
  if (!(year >= 0)) return (1 << 21) | (1 << 16);
  const date = (Math.min(year, 127) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}

function u16(...values: number[]): Buffer {
  const buffer = Buffer.allocUnsafe(values.length * 2);
  values.forEach((value, index) => buffer.writeUInt16LE(value, index * 2));
  return buffer;
}

function u32(...values: number[]): Buffer {
  const buffer = Buffer.allocUnsafe(values.length * 4);
  values.forEach((value, index) => buffer.writeUInt32LE(value, index * 4));
  return buffer;
}

function u64(...values: number[]): Buffer {
  const buffer = Buffer.allocUnsafe(values.length * 8);
  values.forEach((value, index) => buffer.writeBigUInt64LE(BigInt(value), index * 8));
  return buffer;
}
