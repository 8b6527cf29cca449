import { closeSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a file readable by its owner alone, so that a reader sees the old content or the new, never a part. */
export function writeAtomic(path: string, content: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** Writes a value as JSON, atomically. */
export function writeJson(path: string, value: object): void {
  writeAtomic(path, `${JSON.stringify(value)}\n`);
}

/** Content of a text file; null when it does not exist. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A file of the agent's own making as `T`; null when it does not exist. */
export function readJson<T>(path: string): T | null {
  const text = readText(path);
  return text === null ? null : (JSON.parse(text) as T);
}

/** The last `bytes` of a file as text; empty for a file that does not exist. */
export function readTail(path: string, bytes: number): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const read = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, read);
  } finally {
    closeSync(fd);
  }
}
