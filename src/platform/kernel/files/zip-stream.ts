import { pipeline, Readable, Transform } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { firstByte } from './first-byte';
import { freeTransferred } from './transfer-memory';

/** A file or directory on its way into a zip file. */
export interface ZipEntry {
  /** Path in the zip file. */
  name: string;
  lastModified?: Date | null;
  /** Opens the content when its turn has come; null for a directory. */
  open: (() => Promise<ZipContent>) | null;
}

export interface ZipContent {
  stream: Readable;
  sizeBytes: number;
}

/** The largest number of a field of 32 or 16 bits; if a field holds it, the actual number is in its ZIP64 twin. */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;

/** From this size on a file is announced with 64-bit sizes: incompressible content grows by less than the rest. */
const LARGE_BYTES = MAX_32 - 2 ** 24;

const VERSION = 20;
const VERSION_ZIP64 = 45;
/** UTF-8 names; and for files: sizes and checksum follow the content. */
const FLAG_UTF8 = 1 << 11;
const FLAG_DESCRIPTOR = 1 << 3;
const DEFLATED = 8;
const ZIP64_FIELD = 1;
/** Modes as Unix has them, which is the system that the zip file says it was made on. */
const MADE_BY_UNIX = 3 << 8;
const FILE_MODE = (0o100644 << 16) >>> 0;
const DIRECTORY_MODE = ((0o040755 << 16) | 0x10) >>> 0;

const BLOCK_BYTES = 64 * 1024;

/**
 * A zip file of the entries (ADR 0010), made as it is read: one entry is open at a time, and of what was sent only the
 * line in the closing directory is kept. Fails with what an entry fails with. Files and their number may be of any size
 * (ZIP64).
 * @param signal closes the open entry at once, also one that the reader waits for
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
    // Before the entry begins: a failure of the first one can still be answered with an error.
    await firstByte(stream);
    const isLarge = sizeBytes >= LARGE_BYTES;
    const header = headerOf(entry, { method: DEFLATED, flags: FLAG_UTF8 | FLAG_DESCRIPTOR, isLarge });
    yield localHeader(header);
    const count = new Count();
    const deflate = createDeflateRaw({ level: 1 });
    // Its failure is that of the last stream, which is read below.
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

/** Passes content on and sums it up. */
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

/** Objects in stores can have any name; on Windows some would lead out of the directory being unpacked into. */
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

/** What closes a zip file: where each entry is. */
class CentralDirectory {
  private readonly blocks: Buffer[] = [];
  private lines: Buffer[] = [];
  private linesBytes = 0;
  private count = 0;

  add(header: Header, sizes: Sizes, { offset, mode }: { offset: number; mode: number }): void {
    const { name, method, flags, time } = header;
    const { crc, packedBytes, bytes } = sizes;
    // Either all of them or none: readers differ in how they treat a part.
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

  /** The directory, which begins at this offset of the zip file, and the end of the file. */
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
      // What follows of this record.
      u64(44),
      u16(MADE_BY_UNIX | VERSION_ZIP64, VERSION_ZIP64),
      u32(0, 0),
      u64(this.count, this.count, bytes, offset),
      // Where to find it.
      u32(0x07064b50, 0),
      u64(offset + bytes),
      u32(1),
    ]);
  }

  /** Kept in few large pieces: there may be millions of lines. */
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

/** To two seconds, in UTC since a zip file names no zone; years before 1980 and after 2107 cannot be expressed. */
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
