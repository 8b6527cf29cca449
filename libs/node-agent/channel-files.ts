import { closeSync, constants, fstatSync, ftruncateSync, writeSync } from 'node:fs';
import {
  decodeFileHeader,
  encodeFileRecord,
  FILE_HEADER,
  MAX_PAYLOAD_BYTES,
  type NumberedPayload,
} from '../contracts/channel-records';
import { openPlain, readAt } from './files';

/** A longer file is truncated once the other side has read all of it. */
const TRUNCATE_ABOVE_BYTES = 8 * 1024 * 1024;
/** Maximum length of a file of requests. The agent never writes a longer one. */
const MAX_FILE_BYTES = TRUNCATE_ABOVE_BYTES + 5 * MAX_PAYLOAD_BYTES;
/** Maximum bytes per read, unless a record is longer. */
const READ_BYTES = 256 * 1024;
/** Bytes read before they are acknowledged to the other side. */
const ACKNOWLEDGE_EVERY_BYTES = 1024 * 1024;

/** The job wrote data that are not records. */
export class InvalidRecordsError extends Error {}

/**
 * Reads the records that the process of a run appends to a file. The process also truncates the file once all of it is acknowledged. The
 * file belongs to the job, so any other content ends the reading with {@link InvalidRecordsError}.
 */
export class RecordReader {
  /** Number of the last record of its own file that the other side has read. */
  acknowledged = 0;
  private position = 0;

  /** @param expected number of the next record; earlier ones are skipped */
  constructor(
    private readonly path: string,
    private expected: number,
  ) {}

  /** Returns the next complete records, up to about `maxBytes` bytes but at least one if there is one. */
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
    // The writer has truncated the file and starts again.
    if (size < this.position) this.position = 0;
    const records: NumberedPayload[] = [];
    let [chunk, at, restarted]: [Buffer, number, boolean] = [Buffer.alloc(0), 0, false];
    /** Returns the next bytes; fewer at the end of the file. */
    const bytes = (count: number): Buffer => {
      if (chunk.length - at < count) {
        chunk = readAt(fd, this.position, Math.min(Math.max(count, READ_BYTES), size - this.position));
        at = 0;
      }
      return chunk.subarray(at, at + count);
    };
    for (let length = 0; length < maxBytes;) {
      const head = bytes(FILE_HEADER);
      if (head.length < FILE_HEADER) break;
      const header = decodeFileHeader(head);
      if (header === null || header.number > this.expected) {
        // The file may have been truncated and grown beyond this position, so it is read once more from its start.
        if (restarted || this.position === 0) {
          throw new InvalidRecordsError('The job wrote something other than records to its channel.');
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
  /** Number of the last record in the file; 0 if it is unknown. */
  last: number;
  private size: number;
  private unacknowledgedBytes = 0;

  /** @throws InvalidRecordsError if the file holds data that no agent wrote */
  constructor(private readonly path: string) {
    const fd = this.open();
    try {
      const { last, end } = wholeRecords(fd);
      // An agent that died while writing left an incomplete record, which no process has read.
      ftruncateSync(fd, end);
      this.last = last;
      this.size = end;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * @param read number of the last processed record of the other file
   * @param acknowledged number of the last record of this file that the other side has read
   */
  append(records: readonly NumberedPayload[], read: number, acknowledged: number): void {
    const fd = this.open();
    try {
      if (this.size > TRUNCATE_ABOVE_BYTES && this.last > 0 && acknowledged >= this.last) {
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

  /** Acknowledges the processed records of the other file, once per {@link ACKNOWLEDGE_EVERY_BYTES}. */
  acknowledge(read: number, bytes: number, acknowledged: number): void {
    this.unacknowledgedBytes += bytes;
    if (this.unacknowledgedBytes < ACKNOWLEDGE_EVERY_BYTES) return;
    this.unacknowledgedBytes = 0;
    this.append([{ number: 0, payload: Buffer.alloc(0) }], read, acknowledged);
  }

  private open(): number {
    const fd = openPlain(this.path, constants.O_RDWR | constants.O_APPEND);
    if (fd === null) throw new InvalidRecordsError('The file of requests is missing.');
    return fd;
  }
}

/** Returns the number of the last complete record of a file, and where it ends. */
function wholeRecords(fd: number): { last: number; end: number } {
  const { size } = fstatSync(fd);
  if (size > MAX_FILE_BYTES)
    throw new InvalidRecordsError('The file of requests is longer than any that an agent writes.');
  let [last, end] = [0, 0];
  while (size - end >= FILE_HEADER) {
    const header = decodeFileHeader(readAt(fd, end, FILE_HEADER));
    if (!header || (last > 0 && header.number > 0 && header.number !== last + 1))
      throw new InvalidRecordsError('The file of requests holds data that no agent wrote.');
    if (size - end < FILE_HEADER + header.length) break;
    end += FILE_HEADER + header.length;
    if (header.number > 0) last = header.number;
  }
  return { last, end };
}

function writeWhole(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}
