import { close, open, read } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { isNodeProcess, type NodeOwner, statFields } from './processes';

/** The resources of a node in use at one moment, and its processor use since the last measurement. */
export interface NodeUse {
  /** Processors in use, in thousandths; null for the first measurement. */
  millicores: number | null;
  memoryMb: number;
  diskMb: number;
  /** Used and free space together. */
  diskTotalMb: number;
}

/** Memory in use, and processor time since an arbitrary start. */
interface MachineUse {
  /** Clock ticks. */
  ticks: number;
  memoryBytes: number;
}

interface Machine {
  use(): Promise<MachineUse>;
}

const MB = 2 ** 20;

/** Measures the resources that a node uses. It reads files of `/proc` one after the other and does not block the agent. */
export class NodeMeter {
  private readonly machine: Machine;
  private before: { ticks: number; at: number } | null = null;

  constructor(
    private readonly owner: NodeOwner,
    sharesMachine: boolean,
  ) {
    this.machine = sharesMachine ? new NodeProcesses(owner) : new WholeMachine();
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
      // Excludes the blocks that the file system reserves for root.
      diskTotalMb: ((used + disk.bavail) * disk.bsize) / MB,
    };
  }
}

/** A machine that the node does not share. */
class WholeMachine implements Machine {
  async use(): Promise<MachineUse> {
    const [stat, memory] = await Promise.all([readFile('/proc/stat', 'latin1'), readFile('/proc/meminfo', 'latin1')]);
    return { ticks: busyTicks(stat), memoryBytes: memoryInUse(memory) };
  }
}

/** Returns the ticks in which the processors worked for this machine, from `/proc/stat`. */
export function busyTicks(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/ +/)
    .slice(1)
    .map(Number);
  return user + nice + system + irq + softirq;
}

/** Returns the bytes that programs cannot get, from `/proc/meminfo`: the kernel can free its caches. */
export function memoryInUse(meminfo: string): number {
  const bytesOf = (name: string): number => {
    const kilobytes = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(meminfo)?.[1];
    if (kilobytes === undefined) throw new Error(`The kernel does not report ${name}.`);
    return Number(kilobytes) * 1024;
  };
  return bytesOf('MemTotal') - bytesOf('MemAvailable');
}

/** One observation of a process of the node. */
interface ObservedProcess {
  pid: number;
  parent: number;
  /** Ticks of the process, and of its ended children that it has waited for. */
  ticks: number;
}

/** On a busy machine only the processes with the lowest ids are read: a job must not keep the agent busy. */
const MAX_PROCESSES = 4096;

/** A process found foreign this often is not checked again. */
const MAX_FOREIGN_CHECKS = 2;

/**
 * A machine that several nodes share: the node's use is the use of its processes. Memory that processes share counts for each of them.
 */
class NodeProcesses implements Machine {
  /** Keyed by pid and start time, so that a reused pid is not mistaken for the old process. */
  private seen = new Map<string, ObservedProcess>();
  /** Number of times that each process was found foreign. Once is not enough: during exec a process has no environment. */
  private foreign = new Map<string, number>();
  private total = 0;
  private isFirst = true;

  constructor(private readonly owner: NodeOwner) {}

  async use(): Promise<MachineUse> {
    const { pageBytes } = await kernelConstants();
    const seen = new Map<string, ObservedProcess>();
    const foreign = new Map<string, number>();
    let memoryBytes = 0;
    for (const pid of await firstPids()) {
      const text = await procText(`/proc/${pid}/stat`);
      if (text === null) continue;
      const { key, parent, ticks, pages } = processUse(pid, text);
      const foreignChecks = this.foreign.get(key) ?? 0;
      if (foreignChecks >= MAX_FOREIGN_CHECKS || (!this.seen.has(key) && !isNodeProcess(pid, this.owner))) {
        foreign.set(key, foreignChecks + 1);
        continue;
      }
      seen.set(key, { pid, parent, ticks });
      memoryBytes += pages * pageBytes;
    }
    // The ticks of processes that ran before the first measurement do not count.
    if (!this.isFirst) this.total += ticksBetween(this.seen, seen);
    this.isFirst = false;
    Object.assign(this, { seen, foreign });
    return { ticks: this.total, memoryBytes };
  }
}

/** Parses one line of `/proc/<pid>/stat`. */
export function processUse(pid: number, stat: string): ObservedProcess & { key: string; pages: number } {
  const fields = statFields(stat);
  const [user, system, usersOfChildren, systemOfChildren] = fields.slice(11, 15).map(Number);
  const ticks = (user ?? 0) + (system ?? 0) + (usersOfChildren ?? 0) + (systemOfChildren ?? 0);
  return { key: `${pid} ${fields[19]}`, pid, parent: Number(fields[1]), ticks, pages: Number(fields[21]) };
}

/**
 * Returns the ticks that processes used between two observations. The ticks of an ended process are included in those of the parent that
 * waited for it, so the ticks already counted are subtracted. If no process of the node waited, its last ticks are lost.
 */
export function ticksBetween(
  before: ReadonlyMap<string, ObservedProcess>,
  after: ReadonlyMap<string, ObservedProcess>,
): number {
  let ticks = 0;
  for (const [key, process] of after) ticks += process.ticks - (before.get(key)?.ticks ?? 0);
  const living = new Set([...after].filter(([key]) => before.has(key)).map(([, { pid }]) => pid));
  const byPid = new Map([...before.values()].map((process) => [process.pid, process]));
  for (const [key, process] of before) {
    if (after.has(key)) continue;
    let heir: ObservedProcess | undefined = process;
    while (heir && !living.has(heir.pid)) heir = byPid.get(heir.parent);
    if (heir) ticks -= process.ticks;
  }
  return Math.max(0, ticks);
}

/** Returns the ids of the processes of the machine, at most {@link MAX_PROCESSES}. */
export async function firstPids(): Promise<number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return names.slice(0, MAX_PROCESSES).map(Number);
}

/** Returns the beginning of a file of `/proc`; null if the process is gone. Takes half the time of `readFile`. */
export function procText(path: string, maxBytes = 1024): Promise<string | null> {
  return new Promise((resolve) => {
    open(path, 'r', (error, fd) => {
      if (error) return resolve(null);
      const buffer = Buffer.allocUnsafe(maxBytes);
      read(fd, buffer, 0, buffer.length, 0, (failed, length) => {
        close(fd, () => resolve(failed ? null : buffer.toString('latin1', 0, length)));
      });
    });
  });
}

/** Keys of the auxiliary vector: pairs of words that the kernel passes to each process. */
const AT_PAGESZ = 6n;
const AT_CLKTCK = 17n;

interface KernelConstants {
  pageBytes: number;
  /** Ticks per second. */
  clockTicks: number;
}

let constants: Promise<KernelConstants> | null = null;

function kernelConstants(): Promise<KernelConstants> {
  constants ??= readFile('/proc/self/auxv').then(kernelConstantsIn);
  return constants;
}

/** Parses the auxiliary vector of a 64-bit process. */
export function kernelConstantsIn(auxv: Buffer): KernelConstants {
  const words = new Map<bigint, number>();
  for (let at = 0; at + 16 <= auxv.length; at += 16)
    words.set(auxv.readBigUInt64LE(at), Number(auxv.readBigUInt64LE(at + 8)));
  return { pageBytes: words.get(AT_PAGESZ) ?? 4096, clockTicks: words.get(AT_CLKTCK) ?? 100 };
}
