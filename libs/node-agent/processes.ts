import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Environment variable that the processes of a node carry, with the node's directory as its value. */
export const NODE_MARK = 'SPARK_NODE_DIR';

/** How the processes of a node are recognized: by its mark and, if its sandboxes have their own users, by these. */
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

interface ProcessStat {
  state: string;
  parent: number;
  session: number;
  startTime: string;
}

function statOf(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold spaces and parentheses itself; what follows the last one may not.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      state: fields[0] ?? 'X',
      parent: Number(fields[1]),
      session: Number(fields[3]),
      startTime: fields[19] ?? '',
    };
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

/**
 * Sends a signal; a process that is gone is not an error.
 * @throws RangeError for a pid that names no single process: to `kill`, 0 and negative numbers are whole process groups, the
 *   caller's own among them, and an empty file read as a number is 0
 */
export function signal(pid: number, name: NodeJS.Signals): void {
  if (!Number.isSafeInteger(pid) || pid < 1)
    throw new RangeError(`${name} cannot be sent: ${pid} is not a process ID.`);
  send(pid, name);
}

/**
 * The same to every process of the group that a process leads.
 * @throws RangeError for what leads no group of ours: -1 would be every process
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
 * Kills every process of a node's session: also those that moved to a process group of their own, as Spark's Python
 * workers do. True once none is left; call again until it is, since one may just have forked. When the leader is gone
 * its number may stand for another session by now, so then only processes of the node are killed.
 */
export function killSession(leader: ProcessId, owner: NodeOwner): boolean {
  const first = statOf(leader.pid);
  // The kernel gives a number to a new process only when no session of that number is left.
  if (first !== null && first.startTime !== leader.startTime) return true;
  const pids = allPids().filter((pid) => {
    const stat = statOf(pid);
    if (stat === null || ended(stat) || stat.session !== leader.pid) return false;
    return first !== null || isOf(pid, owner);
  });
  for (const pid of pids) signal(pid, 'SIGKILL');
  return pids.length === 0;
}

/** Kills all processes of a user at once, however fast they multiply; only root can. */
export function killUser(uid: number): Promise<void> {
  const kill = ['--clear-groups', '--', 'kill', '-KILL', '-1'];
  return new Promise((resolve) => {
    // The command is one of them, so it never ends well.
    execFile('setpriv', [`--reuid=${uid}`, `--regid=${uid}`, ...kill], { timeout: 10_000 }, () => resolve());
  });
}

/** Whether a user has any process. */
export function hasProcesses(uid: number): boolean {
  return allPids().some((pid) => uidOf(pid) === uid && !ended(statOf(pid)));
}

/** Whether a live process is one of the node's. */
export function isOf(pid: number, { nodeDir, uids }: NodeOwner): boolean {
  const uid = uids === null ? null : uidOf(pid);
  if (uids !== null && uid !== null && uid >= uids.first && uid < uids.first + uids.count) return true;
  return nodeDirOf(pid) === nodeDir;
}

/** Effective user of a process; null when it is gone. */
function uidOf(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return null;
  }
}

/** A process may have made itself unreadable, as bridges of runs do; then the leader of its session says which node it is of. */
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

/** Live processes of a node. */
export function processesOf(owner: NodeOwner): LiveProcess[] {
  return live((pid) => isOf(pid, owner));
}

/** Live processes of sessions, which may be those of anybody where a leader is gone. */
export function processesIn(sessions: ReadonlySet<number>): LiveProcess[] {
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

/** Live processes that carry the mark of a node whose directory `wanted` accepts. */
export function markedProcesses(wanted: (nodeDir: string) => boolean): MarkedProcess[] {
  return allPids().flatMap((pid) => {
    const nodeDir = nodeDirOf(pid);
    if (nodeDir === null || !wanted(nodeDir) || ended(statOf(pid))) return [];
    const argv = argvOf(pid);
    return argv === null ? [] : [{ pid, nodeDir, argv }];
  });
}

/**
 * Whether a process is one of ours: of our user and not in a sandbox, whose processes may claim anything about
 * themselves.
 */
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
 * Takes the lock that a file stands for, among all processes of the machine; null when another holds it. It is a kernel
 * lock, held by a process that ends with this one, so kill -9 leaves no stale lock. It is not a socket name, which
 * anything on the machine could take.
 * @param onLost is called if the lock is lost before it is given back, because somebody killed the process that holds it
 */
export async function tryLock(file: string, onLost?: () => void): Promise<(() => Promise<void>) | null> {
  const holder = spawn('flock', ['--nonblock', '--no-fork', file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // A Ctrl-C at the terminal is not meant for it.
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
