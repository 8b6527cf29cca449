import type { AcceleratorKind, NodeRole } from '../../../../../libs/contracts/agent-protocol';
import { heapWithin } from '../../../../../libs/spark/accelerator';
import { parseConfEntry } from './spark-conf';

const DRIVER_MEMORY = 'spark.driver.memory';
/** Minimum memory of a Spark driver; with less, it does not start or cannot do useful work; MiB. */
export const MIN_DRIVER_MB = 512;
/** Memory for the system and the agent of a node; on a small machine, a quarter of its memory if that is less; MiB. */
const RESERVED_MB = 1024;

/** Returns the driver memory of each parallel job that does not set its own; MiB. */
export function driverMemoryMb(machineMb: number, parallelJobs: number): number {
  return Math.floor((machineMb - Math.min(RESERVED_MB, machineMb / 4)) / parallelJobs);
}

/** Returns the heap of a driver that does not set its own, and the memory that it may use in all; MiB. */
export function defaultDriverHeap(
  node: { role: NodeRole; memory_mb: number },
  { maxParallelJobs, accelerator }: { maxParallelJobs: number; accelerator: AcceleratorKind | null },
): { heapMb: number; shareMb: number } {
  // Earlier releases allowed clusters more parallel jobs than their nodes have memory for.
  const shareMb = Math.max(MIN_DRIVER_MB, driverMemoryMb(node.memory_mb, maxParallelJobs));
  return { heapMb: node.role === 'single' ? heapWithin(shareMb, accelerator) : shareMb, shareMb };
}

/** Returns the memory of drivers that the last of these properties sets, trimmed as Spark does for numbers; null if none does. */
export function configuredDriverMemory(conf: readonly string[]): string | null {
  const last = conf.map(parseConfEntry).findLast((entry) => entry?.key === DRIVER_MEMORY);
  return last?.value.trim() ?? null;
}
