import type { AcceleratorKind, RunAccelerator } from '../contracts/agent-protocol';

/** Comet works off the heap on a columnar copy of the data. Heap and off-heap memory are as 2 to 1. */
const HEAP_PER_OFF_HEAP = 2;
/** Below this Comet cannot hold the batches of a few tasks. */
const MIN_OFF_HEAP_MB = 256;
/** Share of a GPU's memory that drivers may use. The rest is for the device's driver and other users of the GPU. */
const GPU_SHARE = 0.9;

/** The settings of a run that its acceleration depends on. */
export interface AcceleratedRun {
  /** True if tasks run in the driver's own process. */
  isLocal: boolean;
  /** Heap of the process that tasks run in, MiB. */
  heapMb: number;
}

/** Returns the heap, in MiB, of a process that may use `memoryMb` in all. */
export function heapWithin(memoryMb: number, accelerator: AcceleratorKind | null): number {
  if (accelerator !== 'turbo') return memoryMb;
  return Math.floor((memoryMb * HEAP_PER_OFF_HEAP) / (HEAP_PER_OFF_HEAP + 1));
}

/** Returns the percentage of a GPU's memory that each driver may use. By default, every driver would take the whole first GPU. */
export function gpuPercent(drivers: number): number {
  return Math.max(1, Math.floor((GPU_SHARE * 100) / drivers));
}

/** Returns the Spark properties that accelerate a run. Users cannot set them (`owned-properties.ts`). */
export function acceleratorProperties(accelerator: RunAccelerator, run: AcceleratedRun): [string, string][] {
  return accelerator.kind === 'turbo'
    ? turboProperties(accelerator.memory_mb, run)
    : cudaProperties(accelerator.gpu_percent, run);
}

/**
 * DataFusion Comet. Spark's off-heap memory bounds what it uses besides the heap: in local mode that is the memory which the run's
 * share of the node has left, otherwise half of an executor's heap, which workers reserve.
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

/** RAPIDS. In local mode drivers share the GPUs of their node; otherwise the worker assigns each executor a GPU. */
function cudaProperties(percent: number, { isLocal }: AcceleratedRun): [string, string][] {
  const share = (percent / 100).toFixed(2);
  const memory: [string, string][] = [
    ['spark.rapids.memory.gpu.allocFraction', share],
    ['spark.rapids.memory.gpu.maxAllocFraction', share],
    ['spark.rapids.memory.gpu.minAllocFraction', '0'],
  ];
  const resources: [string, string][] = [
    ['spark.executor.resource.gpu.amount', '1'],
    // Cores limit the number of tasks that run at once, and RAPIDS decides which of them use the GPU.
    ['spark.task.resource.gpu.amount', '0.001'],
  ];
  return [['spark.plugins', 'com.nvidia.spark.SQLPlugin'], ...(isLocal ? memory : resources)];
}

/** Returns the number of a node's GPUs that belong to the worker. The workers are counted from 1 and share the GPUs. */
export function gpusOfWorker(gpus: number, worker: number, workers: number): number {
  return Array.from({ length: gpus }, (_, at) => at % workers).filter((rest) => rest === worker - 1).length;
}

/**
 * Returns a script that prints the GPUs of a worker in the form that Spark reads. Workers of one node have different GPUs. The script
 * fails if `nvidia-smi` fails.
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
