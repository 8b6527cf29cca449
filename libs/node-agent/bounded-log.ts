import { closeSync, constants, existsSync, fstatSync, ftruncateSync, lstatSync } from 'node:fs';
import { openPlain, readAt, readOnce, readTail, writeAtomic } from './files';
import type { MaskableLog } from './masked-log';
import { MASK_REACH, type SecretMask } from './secret-mask';

/** Maximum excess of a file over its limit before it is cut; bytes. */
const SLACK_BYTES = 1024 * 1024;
/** Length of the end that is kept of an output that was cut; bytes. */
const TAIL_BYTES = 64 * 1024;
/** Includes the bytes that decide which of the tail's bytes are masked. */
const TAIL_READ_BYTES = TAIL_BYTES + MASK_REACH;
/** Maximum attempts to read the end while the process is not writing. */
const MAX_TRIES = 100;

/**
 * The output that a process writes to a file without limit. Only the first `limit` bytes and the last 64 KiB are kept. The process
 * appends, so it does not notice when the file is cut.
 */
export class BoundedLog implements MaskableLog {
  private readonly tailPath: string;

  /** @param limit returns the maximum size, bytes; called each time, because the control plane may change it */
  constructor(
    private readonly path: string,
    private readonly limit: () => number,
  ) {
    this.tailPath = `${path}.tail`;
  }

  /** True if the output was longer than the limit. */
  get isCut(): boolean {
    return this.size > this.limit() || existsSync(this.tailPath);
  }

  /** Number of bytes from the start that are kept whatever follows. */
  get kept(): number {
    return Math.min(this.size, this.limit());
  }

  /** Length of the file; bytes. An output that was cut was longer. */
  get length(): number {
    return this.size;
  }

  /** Returns the end of the output written since the file had this length, at most `count` bytes. */
  since(length: number, count: number): string {
    const bytes = this.isCut ? this.lastBytes(null) : readTail(this.path, Math.max(0, this.size - length));
    return bytes.subarray(-count).toString('utf8');
  }

  read(position: number, length: number): Buffer {
    return readOnce(openPlain(this.path), position, length);
  }

  /** Cuts the file if it exceeds the limit by more than {@link SLACK_BYTES}. To be called repeatedly. */
  truncate(): void {
    const limit = this.limit();
    if (this.size <= limit + SLACK_BYTES) return;
    const fd = openPlain(this.path, constants.O_RDWR);
    if (fd === null) return;
    try {
      // Written twice, in case this process dies in between.
      writeAtomic(this.tailPath, lastOf(fd));
      const tail = lastOf(fd);
      ftruncateSync(fd, limit);
      writeAtomic(this.tailPath, tail);
    } finally {
      closeSync(fd);
    }
  }

  /** Returns the end of the output, at most 64 KiB. */
  tail(mask: SecretMask | null = null): string {
    return this.lastBytes(mask).toString('utf8');
  }

  /** Returns what follows the kept start once the process has ended: a note and the end. Empty if nothing was cut. */
  ending(mask: SecretMask | null = null): Buffer {
    if (!this.isCut) return Buffer.alloc(0);
    const note = `\n[The output is cut here: it is longer than ${this.limit()} bytes. Its end follows.]\n`;
    return Buffer.concat([Buffer.from(note), this.lastBytes(mask)]);
  }

  private get size(): number {
    try {
      return lstatSync(this.path).size;
    } catch {
      return 0;
    }
  }

  private lastBytes(mask: SecretMask | null): Buffer {
    const saved = readTail(this.tailPath, TAIL_READ_BYTES);
    const beyond = this.size - this.limit();
    const fresh = readTail(this.path, saved.length > 0 ? Math.min(beyond, TAIL_READ_BYTES) : TAIL_READ_BYTES);
    const bytes = Buffer.concat([saved, fresh]).subarray(-TAIL_READ_BYTES);
    mask?.mask(bytes, 'text', true);
    return bytes.subarray(-TAIL_BYTES);
  }
}

/** Returns the end of a file that still grows. Bytes written between this and the cut are lost, so they should be few. */
function lastOf(fd: number): Buffer {
  for (let tries = 1; ; tries += 1) {
    const { size } = fstatSync(fd);
    const tail = readAt(fd, size - TAIL_READ_BYTES, TAIL_READ_BYTES);
    if (fstatSync(fd).size === size || tries === MAX_TRIES) return tail;
  }
}
