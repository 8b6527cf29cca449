import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  opendirSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { parseTrusted } from '../json/parse-json';

/** A journal, or the description of a run with its files and mounts, is shorter; bytes. */
const MAX_TEXT_LENGTH = 64 * 1024 * 1024;
/** Names in one folder that are looked at. */
const LOOKED_AT = 100_000;
/** If somebody has put a link or a pipe in a file's place, it is neither followed nor waited for. */
const PLAINLY = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Writes a file readable by its owner alone, so that a reader sees the old content or the new, never a part. */
export function writeAtomic(path: string, content: string | Buffer): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** Writes a value as JSON, atomically. */
export function writeJson(path: string, value: object): void {
  writeAtomic(path, `${JSON.stringify(value)}\n`);
}

/** Opens a plain file; null when there is none of that name. The caller closes it. */
export function openPlain(path: string, flags: number = constants.O_RDONLY): number | null {
  let fd: number;
  try {
    fd = openSync(path, flags | PLAINLY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO') return null;
    throw error;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** Content of a text file of at most `maxBytes`; null when there is no plain file of that name, or a longer one. */
export function readText(path: string, maxBytes = MAX_TEXT_LENGTH): string | null {
  const fd = openPlain(path);
  if (fd === null) return null;
  try {
    const { size } = fstatSync(fd);
    return size > maxBytes ? null : readAt(fd, 0, size).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** A file of the agent's own making as `T`; null when it does not exist. */
export function readJson<T>(path: string): T | null {
  const text = readText(path);
  return text === null ? null : parseTrusted<T>(text);
}

/** The last `count` bytes of a file; none of a file that does not exist. */
export function readTail(path: string, count: number): Buffer {
  const fd = openPlain(path);
  if (fd === null) return Buffer.alloc(0);
  try {
    const { size } = fstatSync(fd);
    const length = Math.max(0, Math.min(size, count));
    return readAt(fd, size - length, length);
  } finally {
    closeSync(fd);
  }
}

/** The record at a zip file's end, behind which is a comment of at most 65,535 bytes. */
const ZIP_END = Buffer.from('PK\x05\x06', 'latin1');
const ZIP_TAIL = 22 + 65_535;

/** Whether a file is a zip file, as jars are, as far as its end tells. */
export function isZip(path: string): boolean {
  return readTail(path, ZIP_TAIL).includes(ZIP_END);
}

/** What a file holds from `position` on, at most `length` bytes. */
export function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
}

/** The same of a file that was opened for this, and is closed; nothing of null. */
export function readOnce(fd: number | null, position: number, length: number): Buffer {
  if (fd === null) return Buffer.alloc(0);
  try {
    return readAt(fd, position, length);
  } finally {
    closeSync(fd);
  }
}

/** The first names of a folder, in no order: somebody may have put millions there. */
export function firstNames(folder: string, count: number): string[] {
  const names: string[] = [];
  const entries = opendirSync(folder);
  try {
    for (let entry = entries.readSync(); entry && names.length < count; entry = entries.readSync())
      names.push(entry.name);
  } finally {
    entries.closeSync();
  }
  return names;
}

/**
 * Removes files and folders with everything in them, however deep or many, with a separate process, since that may take
 * minutes. What a job has closed to its own user is opened first. Rejects when something is left.
 */
export function removeTrees(paths: readonly string[]): Promise<void> {
  const script = 'rm -rf -- "$@" 2>/dev/null || { chmod -R u+rwX -- "$@"; rm -rf -- "$@"; }';
  return new Promise((resolve, reject) => {
    execFile(
      '/bin/sh',
      ['-c', script, 'remove', ...paths],
      { env: { PATH: '/usr/bin:/bin' }, maxBuffer: 2 ** 16 },
      (error, _out, stderr) => (error ? reject(new Error(stderr.trim().split('\n')[0] || error.message)) : resolve()),
    );
  });
}

/** Removes what a user has left in folders where everybody may. What cannot be removed stays. */
export async function removeLeftBy(uid: number, folders: readonly string[]): Promise<void> {
  const left = folders.flatMap((folder) =>
    firstNames(folder, LOOKED_AT)
      .map((name) => `${folder}/${name}`)
      .filter((path) => ownerOf(path) === uid),
  );
  if (left.length > 0) await removeTrees(left).catch(() => undefined);
}

function ownerOf(path: string): number | null {
  try {
    return lstatSync(path).uid;
  } catch {
    return null;
  }
}
