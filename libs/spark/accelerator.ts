import type { AcceleratorKind, RunAccelerator } from '../contracts/agent-protocol';

/** Of an accelerator that works on a columnar copy of the data: heap and the memory besides are as 2 to 1. */
const HEAP_PER_OFF_HEAP = 2;
/** Below this Comet cannot hold the batches of a few tasks. */
const MIN_OFF_HEAP_MB = 256;
/** Of the memory of a GPU; the rest is for the driver of the device and what shares it. */
const GPU_SHARE = 0.9;

/** What a run needs to know of its own settings to be accelerated. */
export interface AcceleratedRun {
  /** Whether tasks run in the driver's own process. */
  isLocal: boolean;
  /** Heap of the process that tasks run in, MiB. */
  heapMb: number;
}

/** Heap of a process that has so much memory in all, MiB. */
export function heapWithin(memoryMb: number, accelerator: AcceleratorKind | null): number {
  if (accelerator !== 'turbo') return memoryMb;
  return Math.floor((memoryMb * HEAP_PER_OFF_HEAP) / (HEAP_PER_OFF_HEAP + 1));
}

/** The part of a GPU's memory that each of so many drivers may take, in percent: left to itself, each takes the first GPU. */
export function gpuPercent(drivers: number): number {
  return Math.max(1, Math.floor((GPU_SHARE * 100) / drivers));
}

/** Spark properties by which queries of a run are accelerated; they are the platform's (`owned-properties.ts`). */
export function acceleratorProperties(accelerator: RunAccelerator, run: AcceleratedRun): [string, string][] {
  return accelerator.kind === 'turbo'
    ? turboProperties(accelerator.memory_mb, run)
    : cudaProperties(accelerator.gpu_percent, run);
}

/**
 * DataFusion Comet. What it takes besides the heap is bounded by Spark's off-heap memory: in local mode by what the run's part of the
 * node has left, else by half of an executor's heap, for which workers keep room.
 */
function turboProperties(memoryMb: number, { isLocal, heapMb }: AcceleratedRun): [string, string][] {
  const half = Math.floor(heapMb / HEAP_PER_OFF_HEAP);
  const offHeap = Math.max(MIN_OFF_HEAP_MB, isLocal ? Math.min(half, memoryMb - heapMb) : half);
  return [
    ['spark.plugins', 'org.apache.spark.CometPlugin'],
    ['spark.shuffle.manager', 'org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager'],
    ['spark.memory.offHeap.enabled', 'true'],
    ['spark.memory.offHeap.size', `${offHeap}m`],
  ];
}

/** RAPIDS. Drivers in local mode share the GPUs of their node; else each executor is given one by its worker. */
function cudaProperties(percent: number, { isLocal }: AcceleratedRun): [string, string][] {
  const share = (percent / 100).toFixed(2);
  const memory: [string, string][] = [
    ['spark.rapids.memory.gpu.allocFraction', share],
    ['spark.rapids.memory.gpu.maxAllocFraction', share],
    ['spark.rapids.memory.gpu.minAllocFraction', '0'],
  ];
  const resources: [string, string][] = [
    ['spark.executor.resource.gpu.amount', '1'],
    // Cores bound how many tasks there are at once, and RAPIDS which of them use the GPU.
    ['spark.task.resource.gpu.amount', '0.001'],
  ];
  return [['spark.plugins', 'com.nvidia.spark.SQLPlugin'], ...(isLocal ? memory : resources)];
}

/** How many of a node's GPUs the worker has, of workers that are counted from 1 and share them. */
export function gpusOfWorker(gpus: number, worker: number, workers: number): number {
  return Array.from({ length: gpus }, (_, at) => at % workers).filter((rest) => rest === worker - 1).length;
}

/**
 * Script that tells a worker which GPUs it has, in the form that Spark reads; of workers of one node, each has others. It fails where
 * the driver of the GPUs does.
 */
export function gpuDiscoveryScript(worker: number, workers: number): string {
  return `#!/bin/sh
all=$(nvidia-smi --query-gpu=index --format=csv,noheader) || exit 1
own=
at=0
for index in $all; do
  [ $((at % ${workers})) -ne ${worker - 1} ] || own="$own\${own:+,}\\"$index\\""
  at=$((at + 1))
done
[ -n "$own" ] || { echo 'nvidia-smi shows no GPU for this worker.' >&2; exit 1; }
echo "{\\"name\\": \\"gpu\\", \\"addresses\\": [$own]}"
`;
}
