import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(64 * 1024);

/** A folder on a file system of its own, which can be filled without harm to others. Requires root and Linux. */
export class SmallDisk {
  /** @param {string} path of the folder @param {number} mebibytes its size */
  constructor(path, mebibytes) {
    this.path = path;
    this.filler = join(path, '.filler');
    mkdirSync(path, { recursive: true });
    /** The reason why it is an ordinary folder, which must not be filled; null if it is a file system. @type {string | null} */
    this.refusal = null;
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'chaos', path], { stdio: 'pipe' });
    } catch (error) {
      this.refusal = /** @type {Error} */ (error).message.split('\n').slice(-2).join(' ').trim();
    }
  }

  fill() {
    if (this.refusal !== null) return;
    const file = openSync(this.filler, 'w');
    try {
      for (;;) writeSync(file, BLOCK);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  empty() {
    rmSync(this.filler, { force: true });
  }

  close() {
    if (this.refusal === null) execFileSync('umount', ['--lazy', this.path]);
  }
}
