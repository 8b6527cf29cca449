import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { pause } from './waiting';

/** Environment variable of a node's processes, with the node's directory as its value. */
export const NODE_MARK = 'SPARK_NODE_DIR';

/** Identifies the processes of a node: by its mark and, if its sandboxes have their own users, by those. */
export interface NodeOwner {
  nodeDir: string;
  uids: { first: number; count: number } | null;
}

/** Identifies a process so that another one with a reused pid is not mistaken for it. */
export interface ProcessId {
  pid: number;
  /** Start time in clock ticks since boot, from `/proc/<pid>/stat`. */
  startTime: string;
}

export interface ProcessStat {
  state: string;
  parent: number;
  session: number;
  startTime: string;
}

function statOf(pid: number): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}

/** Parses one line of `/proc/<pid>/stat`. */
export function parseStat(text: string): ProcessStat {
  const fields = statFields(text);
  return {
    state: fields[0] ?? 'X',
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: fields[19] ?? '',
  };
}

/** Returns the fields of a line of `/proc/<pid>/stat` that follow the name of the process; the first is its state. */
export function statFields(text: string): string[] {
  // The name in parentheses may contain spaces and parentheses; the fields after the last one cannot.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

const ended = (stat: ProcessStat | null): boolean => stat === null || stat.state === 'Z' || stat.state === 'X';

/** Identifies a live process; returns null if none has this pid. */
export function identify(pid: number): ProcessId | null {
  const stat = statOf(pid);
  return stat === null || ended(stat) ? null : { pid, startTime: stat.startTime };
}

/** Returns true if the identified process itself still runs. A zombie does not. */
export function isAlive(id: ProcessId): boolean {
  const stat = statOf(id.pid);
  return stat !== null && !ended(stat) && stat.startTime === id.startTime;
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/**
 * Sends a signal. A process that has ended is not an error.
 * @throws RangeError for a pid that is not a single process: for `kill`, 0 and negative numbers are process groups, including the
 *   caller's own, and an empty file parsed as a number is 0
 */
export function signal(pid: number, name: NodeJS.Signals): void {
  if (!Number.isSafeInteger(pid) || pid < 1)
    throw new RangeError(`${name} cannot be sent: ${pid} is not a process ID.`);
  send(pid, name);
}

/**
 * Sends a signal to every process of the group that a process leads.
 * @throws RangeError for a number that cannot lead a group of ours: -1 would be every process
 */
export function signalGroup(leader: number, name: NodeJS.Signals): void {
  if (!Number.isSafeInteger(leader) || leader < 2)
    throw new RangeError(`${name} cannot be sent: ${leader} leads no process group.`);
  send(-leader, name);
}

function send(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Kills every process of a node's session, including those that moved to a process group of their own, as Spark's Python workers do.
 * Returns true once none is left; call it again until then, because a process may just have forked. Once the leader has ended, its pid
 * may denote another session, so then only processes of the node are killed.
 */
export function killSession(leader: ProcessId, owner: NodeOwner): boolean {
  const first = statOf(leader.pid);
  // The kernel reuses a pid only when no session has that number.
  if (first !== null && first.startTime !== leader.startTime) return true;
  const pids = allPids().filter((pid) => {
    const stat = statOf(pid);
    if (stat === null || ended(stat) || stat.session !== leader.pid) return false;
    return first !== null || isNodeProcess(pid, owner);
  });
  for (const pid of pids) signal(pid, 'SIGKILL');
  return pids.length === 0;
}

/** Kills every process of a node's session, and returns when none is left, or after five seconds. */
export async function killAll(leader: ProcessId, owner: NodeOwner): Promise<void> {
  for (let tries = 0; !killSession(leader, owner) && tries < 500; tries++) await pause(10);
}

/** Kills all processes of a user at once, however fast they multiply. Only root can. */
export function killUser(uid: number): Promise<void> {
  const kill = ['--clear-groups', '--', 'kill', '-KILL', '-1'];
  return new Promise((resolve) => {
    // The command kills itself, too, so it never succeeds.
    execFile('setpriv', [`--reuid=${uid}`, `--regid=${uid}`, ...kill], { timeout: 10_000 }, () => resolve());
  });
}

/** Returns true if a user has any process. */
export function hasProcesses(uid: number): boolean {
  return allPids().some((pid) => uidOf(pid) === uid && !ended(statOf(pid)));
}

/** Returns true if a live process belongs to the node. */
export function isNodeProcess(pid: number, { nodeDir, uids }: NodeOwner): boolean {
  const uid = uids === null ? null : uidOf(pid);
  if (uids !== null && uid !== null && uid >= uids.first && uid < uids.first + uids.count) return true;
  return nodeDirOf(pid) === nodeDir;
}

/** Returns the effective user of a process; null if it has ended. */
function uidOf(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return null;
  }
}

/** A process can make itself unreadable, as the bridges of runs do. Then the mark of its session leader counts. */
function nodeDirOf(pid: number): string | null {
  try {
    return markOf(pid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return null;
  }
  const leader = statOf(pid)?.session ?? 0;
  try {
    return leader > 0 && leader !== pid ? markOf(leader) : null;
  } catch {
    return null;
  }
}

function markOf(pid: number): string | null {
  const prefix = `${NODE_MARK}=`;
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  return entries.find((line) => line.startsWith(prefix))?.slice(prefix.length) ?? null;
}

/** A live process. */
export interface LiveProcess {
  pid: number;
  parent: number;
  session: number;
  argv: string[];
}

/** Returns the live processes of a node. */
export function nodeProcesses(owner: NodeOwner): LiveProcess[] {
  return live((pid) => isNodeProcess(pid, owner));
}

/** Returns the live processes of sessions. If a leader has ended, they may belong to another node. */
export function sessionProcesses(sessions: ReadonlySet<number>): LiveProcess[] {
  return live((_pid, { session }) => sessions.has(session));
}

function live(wanted: (pid: number, stat: ProcessStat) => boolean): LiveProcess[] {
  return allPids().flatMap((pid) => {
    const stat = statOf(pid);
    if (stat === null || ended(stat) || !wanted(pid, stat)) return [];
    const argv = argvOf(pid);
    return argv === null ? [] : [{ pid, parent: stat.parent, session: stat.session, argv }];
  });
}

function argvOf(pid: number): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
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

/** Returns the live processes with the mark of a node whose directory `wanted` accepts. */
export function markedProcesses(wanted: (nodeDir: string) => boolean): MarkedProcess[] {
  return allPids().flatMap((pid) => {
    const nodeDir = nodeDirOf(pid);
    if (nodeDir === null || !wanted(nodeDir) || ended(statOf(pid))) return [];
    const argv = argvOf(pid);
    return argv === null ? [] : [{ pid, nodeDir, argv }];
  });
}

/** Returns true if a process has our user and is not in a sandbox, whose processes may claim anything about themselves. */
export function isOwnProcess(pid: number): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === process.getuid?.() && pidNamespaceOf(pid) === pidNamespaceOf('self');
  } catch {
    return false;
  }
}

function pidNamespaceOf(pid: number | 'self'): string {
  return readlinkSync(`/proc/${pid}/ns/pid`);
}

/**
 * Acquires the lock of a file among all processes of the machine; returns null if another process holds it. It is a kernel lock, held by
 * a child process that ends with this one, so kill -9 leaves no stale lock. A socket name would not do, because any process on the
 * machine could take it.
 * @param onLost called if the lock is lost before it is released, because somebody killed the process that holds it
 */
export async function tryLock(file: string, onLost?: () => void): Promise<(() => Promise<void>) | null> {
  const holder = spawn('flock', ['--nonblock', '--no-fork', file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // A Ctrl-C at the terminal must not end it.
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  const ended = new Promise<void>((resolve) => holder.once('close', () => resolve()));
  const held = await new Promise<boolean>((resolve, reject) => {
    holder.once('error', reject);
    holder.stdout.once('data', () => resolve(true));
    holder.once('close', () => resolve(false));
  });
  if (!held) return null;
  if (onLost) holder.once('close', onLost);
  holder.unref();
  for (const pipe of [holder.stdin, holder.stdout]) (pipe as unknown as Socket).unref();
  return async () => {
    if (onLost) holder.off('close', onLost);
    holder.ref();
    holder.stdin.end();
    await ended;
  };
}
