import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { createHash } from 'node:crypto';

/** Environment variable that every process of a node carries, with the node's directory as its value. */
export const NODE_MARK = 'SPARK_NODE_DIR';

/** A process named so that another one with a reused pid is not taken for it. */
export interface ProcessId {
  pid: number;
  /** Start time in clock ticks since boot, from `/proc/<pid>/stat`. */
  startTime: string;
}

interface ProcessStat {
  state: string;
  session: number;
  startTime: string;
}

function statOf(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold spaces and parentheses itself; what follows the last one may not.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? 'X', session: Number(fields[3]), startTime: fields[19] ?? '' };
  } catch {
    return null;
  }
}

const ended = (stat: ProcessStat | null): boolean => stat === null || stat.state === 'Z' || stat.state === 'X';

/** Names a live process; null when there is none with this pid. */
export function identify(pid: number): ProcessId | null {
  const stat = statOf(pid);
  return stat === null || ended(stat) ? null : { pid, startTime: stat.startTime };
}

/** Whether the very process that was identified still runs. A zombie does not. */
export function isAlive(id: ProcessId): boolean {
  const stat = statOf(id.pid);
  return stat !== null && !ended(stat) && stat.startTime === id.startTime;
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Sends a signal; a process that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Kills every process of a node's session: also those that moved to a process group of their own, as Spark's Python
 * workers do. True once none is left; call again until it is, since one may just have forked. When the leader is gone
 * its number may stand for another session by now, so then only processes with the node's mark are killed.
 */
export function killSession(leader: ProcessId, nodeDir: string): boolean {
  const first = statOf(leader.pid);
  // The kernel gives a number to a new process only when no session of that number is left.
  if (first !== null && first.startTime !== leader.startTime) return true;
  const pids = allPids().filter((pid) => {
    const stat = statOf(pid);
    if (stat === null || ended(stat) || stat.session !== leader.pid) return false;
    return first !== null || nodeDirOf(pid) === nodeDir;
  });
  for (const pid of pids) signal(pid, 'SIGKILL');
  return pids.length === 0;
}

function nodeDirOf(pid: number): string | null {
  try {
    const prefix = `${NODE_MARK}=`;
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return entries.find((line) => line.startsWith(prefix))?.slice(prefix.length) ?? null;
  } catch {
    return null;
  }
}

/** Session of a process; null when it is gone. */
export function sessionOf(pid: number): number | null {
  return statOf(pid)?.session ?? null;
}

/** Working directory of a process; null when it is gone. */
export function workingDir(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** A process that carries a node's mark. */
export interface MarkedProcess {
  pid: number;
  nodeDir: string;
  argv: string[];
}

/** Live processes that carry the mark of a node whose directory `wanted` accepts. */
export function markedProcesses(wanted: (nodeDir: string) => boolean): MarkedProcess[] {
  return allPids().flatMap((pid) => {
    const nodeDir = nodeDirOf(pid);
    if (nodeDir === null || !wanted(nodeDir) || ended(statOf(pid))) return [];
    try {
      return [{ pid, nodeDir, argv: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') }];
    } catch {
      return [];
    }
  });
}

/**
 * Takes the lock of that name among all processes of the machine; null when another holds it. It is an abstract
 * socket, which the kernel releases with its process, so that kill -9 leaves no stale lock.
 */
export async function tryLock(name: string): Promise<(() => Promise<void>) | null> {
  const server = createServer((socket) => socket.destroy());
  const path = `\0spark-node-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
  const held = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(path, () => resolve(true));
  });
  if (!held) return null;
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}
