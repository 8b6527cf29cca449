import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A process that outlives its starter is identified by its pid and an identity, since pids are reused.
 * @typedef {{pid: number, identity: string}} ProcessRef
 *
 * @typedef {object} CommandResult
 * @property {number | null} code exit code, null after a signal
 * @property {string} output the last 64 KiB
 */

/** @type {string | undefined} */
let bootId;

/**
 * Returns what distinguishes this process from every other one that ever has the same pid.
 * @param {number} pid
 * @returns {string | null} null if no such process runs; a zombie does not run
 */
export function processIdentity(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform === 'linux') {
    try {
      bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The command name may hold spaces and brackets, so fields are counted from its closing bracket.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? null : `${bootId}:${fields[19]}`;
    } catch {
      return null;
    }
  }
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? null : line.slice(line.indexOf(' ')).trim();
  } catch {
    return null;
  }
}

/**
 * @param {number} pid
 * @returns {ProcessRef | null}
 */
export function processRef(pid) {
  const identity = processIdentity(pid);
  return identity === null ? null : { pid, identity };
}

/**
 * @param {Partial<ProcessRef> | null | undefined} ref
 * @returns {ref is ProcessRef}
 */
export function isRunning(ref) {
  return Boolean(ref?.pid && ref.identity && processIdentity(ref.pid) === ref.identity);
}

/**
 * @param {number} pid
 * @returns {string} the command line, empty if it cannot be read
 */
export function commandLine(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/**
 * Ends a process and returns when it is gone: sends each signal in turn with its deadline, and finally SIGKILL.
 * @param {ProcessRef | null | undefined} ref
 * @param {[NodeJS.Signals, number][]} [signals] signal and milliseconds to wait for its effect
 * @returns {Promise<boolean>} true if the process is gone
 */
export async function endProcess(ref, signals = [['SIGTERM', 10_000]]) {
  for (const [signal, graceMs] of [...signals, /** @type {const} */ (['SIGKILL', 5_000])]) {
    if (!isRunning(ref)) return true;
    try {
      process.kill(ref.pid, signal);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH') return true;
      throw error;
    }
    const deadline = Date.now() + graceMs;
    while (isRunning(ref) && Date.now() < deadline) await delay(25);
  }
  return !isRunning(ref);
}

/**
 * Ends a whole process group. The group keeps its number as long as a member lives, so the leader may be gone already.
 * @param {number} groupId
 * @param {number} graceMs milliseconds between SIGTERM and SIGKILL
 */
export async function endGroup(groupId, graceMs) {
  /** @param {NodeJS.Signals | 0} signal */
  const signalGroup = (signal) => {
    try {
      process.kill(-groupId, signal);
      return true;
    } catch {
      return false;
    }
  };
  const deadline = Date.now() + graceMs;
  if (!signalGroup('SIGTERM')) return;
  while (signalGroup(0) && Date.now() < deadline) await delay(25);
  signalGroup('SIGKILL');
}

/**
 * Runs a command to its end in a process group of its own, so that a Ctrl-C at the terminal reaches only this process, and an
 * abort ends everything that the command started.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, logFile?: string, onLine?: (line: string) => void, signal?: AbortSignal}} [options]
 * @returns {Promise<CommandResult>}
 */
export async function runCommand(command, args, { cwd, env, logFile, onLine, signal } = {}) {
  signal?.throwIfAborted();
  if (logFile) {
    mkdirSync(dirname(logFile), { recursive: true });
    appendFileSync(logFile, `\n[${new Date().toISOString()}] ${command} ${args.join(' ')}\n`);
  }
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-65_536);
      if (logFile) appendQuietly(logFile, chunk);
      const lines = (rest + chunk).split(/\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    });
  }
  const { pid } = child;
  const abort = () => void (pid && endGroup(pid, 5_000));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const [code] = await once(child, 'close');
    signal?.throwIfAborted();
    return { code, output };
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/**
 * Appends to the log and ignores a full disk, whose error must not hide the command's own output.
 * @param {string} file
 * @param {string} text
 */
function appendQuietly(file, text) {
  try {
    appendFileSync(file, text);
  } catch {
    // The output is kept in memory too.
  }
}

/**
 * @param {string} file
 * @param {number} lines
 * @param {number} [from] byte offset to read from
 * @returns {string} the last lines of a file, empty if there is no file
 */
export function tailOf(file, lines, from = 0) {
  try {
    return readFileSync(file).subarray(from).toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}
