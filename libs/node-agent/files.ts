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

/** Maximum size of a journal, or of the specification of a run with its files and mounts; bytes. */
const MAX_TEXT_LENGTH = 64 * 1024 * 1024;
/** Maximum number of names that are read from one folder. */
const MAX_NAMES = 100_000;
/** Flags that neither follow a link nor wait for a pipe that a process put in the place of a file. */
const REGULAR_FILE_FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Writes a file that only its owner can read. A reader sees the old content or the new, never a part. */
export function writeAtomic(path: string, content: string | Buffer): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** Writes a value as JSON, atomically. */
export function writeJson(path: string, value: object): void {
  writeAtomic(path, `${JSON.stringify(value)}\n`);
}

/** Opens a regular file; returns null if the name is missing or not a regular file. The caller closes it. */
export function openPlain(path: string, flags: number = constants.O_RDONLY): number | null {
  let fd: number;
  try {
    fd = openSync(path, flags | REGULAR_FILE_FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO') return null;
    throw error;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** Returns the content of a text file of at most `maxBytes`; null if it is missing, not a regular file or longer. */
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

/** Parses a file that the agent itself wrote; null if it does not exist. */
export function readJson<T>(path: string): T | null {
  const text = readText(path);
  return text === null ? null : parseTrusted<T>(text);
}

/** Returns the last `count` bytes of a file; no bytes if the file does not exist. */
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

/** Signature of the record at a zip file's end, which a comment of at most 65,535 bytes can follow. */
const ZIP_END = Buffer.from('PK\x05\x06', 'latin1');
const ZIP_TAIL = 22 + 65_535;

/** Returns true if the end of a file is that of a zip file, such as a jar. */
export function isZip(path: string): boolean {
  return readTail(path, ZIP_TAIL).includes(ZIP_END);
}

/** Returns at most `length` bytes of a file from `position` on. */
export function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
}

/** Reads like {@link readAt} and closes the file. Returns no bytes for null. */
export function readOnce(fd: number | null, position: number, length: number): Buffer {
  if (fd === null) return Buffer.alloc(0);
  try {
    return readAt(fd, position, length);
  } finally {
    closeSync(fd);
  }
}

/** Returns up to `count` names of a folder, in no order, because a process may have put millions there. */
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
 * Removes files and folders with everything in them, however deep or many. It uses a separate process because that may take minutes, and
 * first opens folders that a job has closed to its own user. Rejects if something is left.
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

/** Removes the files of a user in folders where every user may write. Files that cannot be removed stay. */
export async function removeFilesOf(uid: number, folders: readonly string[]): Promise<void> {
  const left = folders.flatMap((folder) =>
    firstNames(folder, MAX_NAMES)
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
