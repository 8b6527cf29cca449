import { closeSync, constants, fstatSync, ftruncateSync, writeSync } from 'node:fs';
import {
  decodeFileHeader,
  encodeFileRecord,
  FILE_HEADER,
  MAX_PAYLOAD_BYTES,
  type NumberedPayload,
} from '../contracts/channel-records';
import { openPlain, readAt } from './files';

/** A file that is longer is begun anew once the other side has read all of it. */
const LONG_FILE = 8 * 1024 * 1024;
/** A file of requests is never longer than this; one that is was written by somebody else. */
const MAX_FILE_BYTES = LONG_FILE + 5 * MAX_PAYLOAD_BYTES;
/** Bytes of a file in one read, unless a record is longer. */
const READ_AT_ONCE = 256 * 1024;
/** How much is read before the other side is told of it; bytes. */
const TELL_EVERY = 1024 * 1024;

/** What a job has written in the place of records. */
export class ForeignRecords extends Error {}

/**
 * Reads the records that the process of a run appends to a file, which it also cuts once all of it was acknowledged. It is
 * the job's file: whatever else is there ends the reading with {@link ForeignRecords}.
 */
export class RecordReader {
  /** Number of the last record of its own file that the other side has read. */
  acknowledged = 0;
  private position = 0;

  /** @param expected number of the record that is wanted next; earlier ones are left out */
  constructor(
    private readonly path: string,
    private expected: number,
  ) {}

  /** The next records that are whole, at most about so many bytes but one at least if there is one. */
  read(maxBytes: number): NumberedPayload[] {
    const fd = openPlain(this.path);
    if (fd === null) return [];
    try {
      return this.readFrom(fd, maxBytes);
    } finally {
      closeSync(fd);
    }
  }

  private readFrom(fd: number, maxBytes: number): NumberedPayload[] {
    const { size } = fstatSync(fd);
    // Cut by its writer, which begins anew.
    if (size < this.position) this.position = 0;
    const records: NumberedPayload[] = [];
    let [chunk, at, restarted]: [Buffer, number, boolean] = [Buffer.alloc(0), 0, false];
    /** The next bytes, fewer where the file ends. */
    const bytes = (count: number): Buffer => {
      if (chunk.length - at < count) {
        chunk = readAt(fd, this.position, Math.min(Math.max(count, READ_AT_ONCE), size - this.position));
        at = 0;
      }
      return chunk.subarray(at, at + count);
    };
    for (let length = 0; length < maxBytes;) {
      const head = bytes(FILE_HEADER);
      if (head.length < FILE_HEADER) break;
      const header = decodeFileHeader(head);
      if (header === null || header.number > this.expected) {
        // It was cut and has grown beyond this place since, unless it is the same once more.
        if (restarted || this.position === 0) {
          throw new ForeignRecords('The job wrote something other than records to its channel.');
        }
        [chunk, at, restarted] = [Buffer.alloc(0), 0, true];
        this.position = 0;
        continue;
      }
      const record = bytes(FILE_HEADER + header.length);
      if (record.length < FILE_HEADER + header.length) break;
      if (header.number === this.expected) {
        records.push({ number: header.number, payload: Buffer.from(record.subarray(FILE_HEADER)) });
        length += record.length;
        this.expected += 1;
      }
      this.acknowledged = Math.max(this.acknowledged, header.ack);
      this.position += record.length;
      at += record.length;
    }
    return records;
  }
}

/** Appends records to a file that the process of a run reads. */
export class RecordWriter {
  /** Number of the last record in the file; 0 while that is unknown. */
  last: number;
  private size: number;
  private toldAt = 0;

  /** @throws ForeignRecords when the file holds what no agent wrote */
  constructor(private readonly path: string) {
    const fd = this.open();
    try {
      const { last, end } = wholeRecords(fd);
      // An agent that died while it wrote left a part behind, which nobody has read.
      ftruncateSync(fd, end);
      this.last = last;
      this.size = end;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * @param read number of the last record of the other file that was taken care of
   * @param acknowledged number of the last record of this file that the other side has read
   */
  append(records: readonly NumberedPayload[], read: number, acknowledged: number): void {
    const fd = this.open();
    try {
      if (this.size > LONG_FILE && this.last > 0 && acknowledged >= this.last) {
        ftruncateSync(fd, 0);
        this.size = 0;
      }
      for (const record of records) {
        const bytes = encodeFileRecord({ ...record, ack: read });
        writeWhole(fd, bytes);
        this.size += bytes.length;
        if (record.number > 0) this.last = record.number;
      }
    } finally {
      closeSync(fd);
    }
  }

  /** Tells the other side, now and then, how much of its file was taken care of. */
  tell(read: number, bytes: number, acknowledged: number): void {
    this.toldAt += bytes;
    if (this.toldAt < TELL_EVERY) return;
    this.toldAt = 0;
    this.append([{ number: 0, payload: Buffer.alloc(0) }], read, acknowledged);
  }

  private open(): number {
    const fd = openPlain(this.path, constants.O_RDWR | constants.O_APPEND);
    if (fd === null) throw new ForeignRecords('The file of requests is gone.');
    return fd;
  }
}

/** Number of the last whole record of a file, and where it ends. */
function wholeRecords(fd: number): { last: number; end: number } {
  const { size } = fstatSync(fd);
  if (size > MAX_FILE_BYTES) throw new ForeignRecords('The file of requests is longer than an agent makes it.');
  let [last, end] = [0, 0];
  while (size - end >= FILE_HEADER) {
    const header = decodeFileHeader(readAt(fd, end, FILE_HEADER));
    if (!header || (last > 0 && header.number > 0 && header.number !== last + 1))
      throw new ForeignRecords('The file of requests holds what no agent wrote.');
    if (size - end < FILE_HEADER + header.length) break;
    end += FILE_HEADER + header.length;
    if (header.number > 0) last = header.number;
  }
  return { last, end };
}

function writeWhole(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}
