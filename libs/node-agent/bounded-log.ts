import { closeSync, constants, existsSync, fstatSync, ftruncateSync, lstatSync } from 'node:fs';
import { openPlain, readAt, readOnce, readTail, writeAtomic } from './files';
import type { MaskableLog } from './masked-log';
import { MASK_REACH, type SecretMask } from './secret-mask';

/** How far a file may grow beyond its limit before it is cut again; bytes. */
const SLACK = 1024 * 1024;
/** Of what was cut off, the last of this is kept; bytes. */
const TAIL = 64 * 1024;
/** With what decides which of these bytes are masked. */
const TAIL_READ = TAIL + MASK_REACH;
/** How often the end is read until nothing is written meanwhile. */
const TRIES = 100;

/**
 * The output that a process writes to a file for as long as it likes: the first `limit` bytes and the last 64 KiB are
 * kept. The process, which appends, notices nothing when the file is cut.
 */
export class BoundedLog implements MaskableLog {
  private readonly tailPath: string;

  /** @param limit bytes; read each time, since the control plane may change it */
  constructor(
    private readonly path: string,
    private readonly limit: () => number,
  ) {
    this.tailPath = `${path}.tail`;
  }

  /** Whether the output was longer than the limit. */
  get isCut(): boolean {
    return this.size > this.limit() || existsSync(this.tailPath);
  }

  /** Bytes from the start that are kept whatever follows. */
  get kept(): number {
    return Math.min(this.size, this.limit());
  }

  /** Bytes of the output so far, of one that was cut only those that are kept. */
  get length(): number {
    return this.size;
  }

  /** The end of what has been written since the output had a length, at most `count` bytes. */
  since(length: number, count: number): string {
    const bytes = this.isCut ? this.lastBytes(null) : readTail(this.path, Math.max(0, this.size - length));
    return bytes.subarray(-count).toString('utf8');
  }

  read(position: number, length: number): Buffer {
    return readOnce(openPlain(this.path), position, length);
  }

  /** To be called repeatedly: cuts off what exceeds the limit by much. */
  keepBounded(): void {
    const limit = this.limit();
    if (this.size <= limit + SLACK) return;
    const fd = openPlain(this.path, constants.O_RDWR);
    if (fd === null) return;
    try {
      // In case this process dies before the second time.
      writeAtomic(this.tailPath, lastOf(fd));
      const tail = lastOf(fd);
      ftruncateSync(fd, limit);
      writeAtomic(this.tailPath, tail);
    } finally {
      closeSync(fd);
    }
  }

  /** The end of the output, at most 64 KiB. */
  tail(mask: SecretMask | null = null): string {
    return this.lastBytes(mask).toString('utf8');
  }

  /**
   * What follows the kept start once the process has ended: a note that something is missing, and the end. Empty if
   * nothing is missing.
   */
  ending(mask: SecretMask | null = null): Buffer {
    if (!this.isCut) return Buffer.alloc(0);
    const note = `\n[The output is cut here: it is longer than ${this.limit()} bytes. What follows is its end.]\n`;
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
    const saved = readTail(this.tailPath, TAIL_READ);
    const beyond = this.size - this.limit();
    const fresh = readTail(this.path, saved.length > 0 ? Math.min(beyond, TAIL_READ) : TAIL_READ);
    const bytes = Buffer.concat([saved, fresh]).subarray(-TAIL_READ);
    mask?.mask(bytes, 'text', true);
    return bytes.subarray(-TAIL);
  }
}

/** The end of a file that still grows: what is written between this and a cut is lost, and should be little. */
function lastOf(fd: number): Buffer {
  for (let tries = 1; ; tries += 1) {
    const { size } = fstatSync(fd);
    const tail = readAt(fd, size - TAIL_READ, TAIL_READ);
    if (fstatSync(fd).size === size || tries === TRIES) return tail;
  }
}
