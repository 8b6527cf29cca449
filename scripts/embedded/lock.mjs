import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, processRef } from './processes.mjs';

/** A living process holds the lock. */
export class LockHeldError extends Error {
  /** @param {string} file @param {{pid?: number}} holder */
  constructor(file, holder) {
    super(`${file} is held by process ${holder.pid}`);
    this.name = 'LockHeldError';
    this.pid = holder.pid;
  }
}

/**
 * Takes a lock file. A lock of a process that is gone is taken over, even if another process now has its pid.
 * @param {string} file
 * @returns {{release: () => void}}
 * @throws {LockHeldError}
 */
export function acquireLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  const own = JSON.stringify({ ...processRef(process.pid), token: randomUUID() });
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  writeFileSync(draft, own, { mode: 0o600 });
  try {
    for (;;) {
      try {
        // link, unlike write, creates the file completely or not at all.
        linkSync(draft, file);
        break;
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      }
      takeAway(file, `${draft}.stale`);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release: () => {
      if (read(file) === own) rmSync(file, { force: true });
    },
  };
}

/**
 * Like acquireLock, but waits for a living holder.
 * @param {string} file
 * @param {{signal?: AbortSignal, onWait?: (pid: number | undefined) => void}} [options]
 * @returns {Promise<{release: () => void}>}
 */
export async function waitForLock(file, { signal, onWait } = {}) {
  for (let waited = false; ; waited = true) {
    try {
      return acquireLock(file);
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      if (!waited) onWait?.(error.pid);
    }
    await delay(500, undefined, { signal });
  }
}

/** @param {string} file @returns {string | null} null if there is no file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
}

/** @param {string} text @returns {Partial<import('./processes.mjs').ProcessRef>} */
function holderOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * Moves a stale lock out of the way, or throws if it is not stale.
 * @param {string} file
 * @param {string} aside
 */
function takeAway(file, aside) {
  const text = read(file);
  if (text === null) return;
  if (isRunning(holderOf(text))) throw new LockHeldError(file, holderOf(text));
  try {
    renameSync(file, aside);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return;
    throw error;
  }
  const moved = read(aside);
  try {
    // Another process may have replaced the stale lock by its own between the read and the rename, so its lock is restored.
    if (moved !== text) linkSync(aside, file);
  } finally {
    rmSync(aside, { force: true });
  }
}
