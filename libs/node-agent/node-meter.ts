import { close, open, read } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { isOf, type NodeOwner } from './processes';

/** What is in use of a node at one moment; the processors since the last measurement. */
export interface NodeUse {
  /** How many of them, in thousandths; null at first. */
  millicores: number | null;
  memoryMb: number;
  diskMb: number;
  /** Used and free together. */
  diskTotalMb: number;
}

/** Memory in use, and processor time since an unknown beginning. */
interface MachineUse {
  /** Clock ticks. */
  ticks: number;
  memoryBytes: number;
}

interface Machine {
  use(): Promise<MachineUse>;
}

const MB = 2 ** 20;

/** Measures what a node uses, by files of `/proc` that are read one after the other and hold up nothing else. */
export class NodeMeter {
  private readonly machine: Machine;
  private before: { ticks: number; at: number } | null = null;

  constructor(
    private readonly owner: NodeOwner,
    sharesMachine: boolean,
  ) {
    this.machine = sharesMachine ? new ProcessesOfNode(owner) : new WholeMachine();
  }

  async measure(): Promise<NodeUse> {
    const [disk, { clockTicks }] = await Promise.all([statfs(this.owner.nodeDir), kernelConstants()]);
    const { ticks, memoryBytes } = await this.machine.use();
    const at = performance.now();
    const { before } = this;
    this.before = { ticks, at };
    const used = disk.blocks - disk.bfree;
    return {
      millicores: before === null ? null : ((ticks - before.ticks) / clockTicks / (at - before.at)) * 1e6,
      memoryMb: memoryBytes / MB,
      diskMb: (used * disk.bsize) / MB,
      // Without what the file system keeps for root.
      diskTotalMb: ((used + disk.bavail) * disk.bsize) / MB,
    };
  }
}

/** A machine that the node has for itself. */
class WholeMachine implements Machine {
  async use(): Promise<MachineUse> {
    const [stat, memory] = await Promise.all([readFile('/proc/stat', 'latin1'), readFile('/proc/meminfo', 'latin1')]);
    return { ticks: busyTicks(stat), memoryBytes: memoryInUse(memory) };
  }
}

/** Ticks in which the processors worked for this machine, of `/proc/stat`. */
export function busyTicks(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/ +/)
    .slice(1)
    .map(Number);
  return user + nice + system + irq + softirq;
}

/** Bytes that programs cannot get, of `/proc/meminfo`: the kernel's caches can be given up. */
export function memoryInUse(meminfo: string): number {
  const of = (name: string): number => {
    const kilobytes = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(meminfo)?.[1];
    if (kilobytes === undefined) throw new Error(`The kernel does not tell ${name}.`);
    return Number(kilobytes) * 1024;
  };
  return of('MemTotal') - of('MemAvailable');
}

/** What is known of a process of the node. */
interface Seen {
  pid: number;
  parent: number;
  /** Its own, and those of its children that ended and that it has waited for. */
  ticks: number;
}

/** Of a busy machine's processes those with the lowest numbers are looked at: a job must not keep the agent busy. */
const MAX_PROCESSES = 4096;

/** How often a process is asked whose it is. */
const SURELY_FOREIGN = 2;

/**
 * A machine that several nodes share: what this node uses is what its processes use. Memory that they share counts for each
 * of them.
 */
class ProcessesOfNode implements Machine {
  /** By number and start, so that another process with a reused number is not mistaken for it. */
  private seen = new Map<string, Seen>();
  /** How often those of others were found to be that: one that just starts another program says nothing of itself. */
  private foreign = new Map<string, number>();
  private total = 0;
  private isFirst = true;

  constructor(private readonly owner: NodeOwner) {}

  async use(): Promise<MachineUse> {
    const { pageBytes } = await kernelConstants();
    const seen = new Map<string, Seen>();
    const foreign = new Map<string, number>();
    let memoryBytes = 0;
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, MAX_PROCESSES);
    for (const pid of pids.map(Number)) {
      const text = await procText(`/proc/${pid}/stat`);
      if (text === null) continue;
      const { key, parent, ticks, pages } = processUse(pid, text);
      const foundForeign = this.foreign.get(key) ?? 0;
      if (foundForeign >= SURELY_FOREIGN || (!this.seen.has(key) && !isOf(pid, this.owner))) {
        foreign.set(key, foundForeign + 1);
        continue;
      }
      seen.set(key, { pid, parent, ticks });
      memoryBytes += pages * pageBytes;
    }
    // Those that ran before the first measurement have used theirs before.
    if (!this.isFirst) this.total += ticksBetween(this.seen, seen);
    this.isFirst = false;
    Object.assign(this, { seen, foreign });
    return { ticks: this.total, memoryBytes };
  }
}

/** One line of `/proc/<pid>/stat`. */
export function processUse(pid: number, stat: string): Seen & { key: string; pages: number } {
  // The name in parentheses may hold spaces and parentheses itself; what follows the last one may not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, usersOfChildren, systemOfChildren] = fields.slice(11, 15).map(Number);
  const ticks = (user ?? 0) + (system ?? 0) + (usersOfChildren ?? 0) + (systemOfChildren ?? 0);
  return { key: `${pid} ${fields[19]}`, pid, parent: Number(fields[1]), ticks, pages: Number(fields[21]) };
}

/**
 * Ticks that processes used between two looks at them. Those of one that has ended are among those of the parent that waited
 * for it, so what was counted of it before is taken off; where nobody of the node waited, its last ones are lost.
 */
export function ticksBetween(before: ReadonlyMap<string, Seen>, after: ReadonlyMap<string, Seen>): number {
  let ticks = 0;
  for (const [key, process] of after) ticks += process.ticks - (before.get(key)?.ticks ?? 0);
  const living = new Set([...after].filter(([key]) => before.has(key)).map(([, { pid }]) => pid));
  const byPid = new Map([...before.values()].map((process) => [process.pid, process]));
  for (const [key, process] of before) {
    if (after.has(key)) continue;
    let heir: Seen | undefined = process;
    while (heir && !living.has(heir.pid)) heir = byPid.get(heir.parent);
    if (heir) ticks -= process.ticks;
  }
  return Math.max(0, ticks);
}

/** Content of a small file of `/proc`; null when the process is gone. It takes half the time of `readFile`. */
function procText(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    open(path, 'r', (error, fd) => {
      if (error) return resolve(null);
      const buffer = Buffer.allocUnsafe(1024);
      read(fd, buffer, 0, buffer.length, 0, (failed, length) => {
        close(fd, () => resolve(failed ? null : buffer.toString('latin1', 0, length)));
      });
    });
  });
}

/** Of the auxiliary vector, pairs of words that the kernel hands to each process. */
const AT_PAGESZ = 6n;
const AT_CLKTCK = 17n;

interface KernelConstants {
  pageBytes: number;
  /** Per second. */
  clockTicks: number;
}

let constants: Promise<KernelConstants> | null = null;

function kernelConstants(): Promise<KernelConstants> {
  constants ??= readFile('/proc/self/auxv').then(kernelConstantsIn);
  return constants;
}

/** As the auxiliary vector of a 64-bit process says. */
export function kernelConstantsIn(auxv: Buffer): KernelConstants {
  const words = new Map<bigint, number>();
  for (let at = 0; at + 16 <= auxv.length; at += 16)
    words.set(auxv.readBigUInt64LE(at), Number(auxv.readBigUInt64LE(at + 8)));
  return { pageBytes: words.get(AT_PAGESZ) ?? 4096, clockTicks: words.get(AT_CLKTCK) ?? 100 };
}
