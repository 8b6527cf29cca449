import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceleratorProperties, gpuDiscoveryScript, gpuPercent, gpusOfWorker, heapWithin } from './accelerator';

describe('turbo', () => {
  const offHeap = (memory_mb: number, heapMb: number, isLocal = true) =>
    Object.fromEntries(acceleratorProperties({ kind: 'turbo', memory_mb }, { heapMb, isLocal }))[
      'spark.memory.offHeap.size'
    ];

  it("leaves a third of a process's memory for use outside its heap", () => {
    const heap = heapWithin(3072, 'turbo');
    expect([heap, offHeap(3072, heap)]).toEqual([2048, '1024m']);
    expect([heapWithin(3072, null), heapWithin(3072, 'cuda')]).toEqual([3072, 3072]);
  });

  it('uses at most the memory that a large heap leaves, and at least the minimum', () => {
    expect(offHeap(3072, 2560)).toBe('512m');
    expect(offHeap(3072, 3072)).toBe('256m');
    expect(offHeap(3072, 512)).toBe('256m');
    expect(offHeap(8192, 2048)).toBe('1024m');
  });

  it("uses half of an executor's heap, whatever the driver has", () => {
    expect(offHeap(512, 4096, false)).toBe('2048m');
  });
});

describe('CUDA', () => {
  const properties = (isLocal: boolean) =>
    Object.fromEntries(acceleratorProperties({ kind: 'cuda', gpu_percent: 45 }, { heapMb: 1024, isLocal }));

  it("gives drivers in local mode a share of each GPU's memory", () => {
    expect(properties(true)).toEqual({
      'spark.plugins': 'com.nvidia.spark.SQLPlugin',
      'spark.rapids.memory.gpu.allocFraction': '0.45',
      'spark.rapids.memory.gpu.maxAllocFraction': '0.45',
      'spark.rapids.memory.gpu.minAllocFraction': '0',
    });
    expect([1, 2, 5, 500].map(gpuPercent)).toEqual([90, 45, 18, 1]);
  });

  it('gives each executor of a cluster a GPU', () => {
    expect(properties(false)).toEqual({
      'spark.plugins': 'com.nvidia.spark.SQLPlugin',
      'spark.executor.resource.gpu.amount': '1',
      'spark.task.resource.gpu.amount': '0.001',
    });
  });
});

describe('the script that finds GPUs', () => {
  let dir: string;

  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'gpus-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  /** Returns the script's output if `nvidia-smi` is the given shell script. */
  const found = (nvidiaSmi: string, worker: number, workers: number): unknown => {
    writeFileSync(join(dir, 'nvidia-smi'), `#!/bin/sh\n${nvidiaSmi}\n`);
    chmodSync(join(dir, 'nvidia-smi'), 0o755);
    const file = join(dir, 'find.sh');
    writeFileSync(file, gpuDiscoveryScript(worker, workers), { mode: 0o700 });
    const output = execFileSync(file, { env: { PATH: `${dir}:/usr/bin:/bin` }, stdio: ['ignore', 'pipe', 'ignore'] });
    return JSON.parse(output.toString());
  };
  const three = `[ "$*" = '--query-gpu=index --format=csv,noheader' ] && printf '0\\n1\\n2\\n'`;

  it('prints all GPUs for a single worker, and different GPUs for each of several', () => {
    expect(found(three, 1, 1)).toEqual({ name: 'gpu', addresses: ['0', '1', '2'] });
    expect(found(three, 1, 2)).toEqual({ name: 'gpu', addresses: ['0', '2'] });
    expect(found(three, 2, 2)).toEqual({ name: 'gpu', addresses: ['1'] });
    expect([gpusOfWorker(3, 1, 2), gpusOfWorker(3, 2, 2), gpusOfWorker(0, 1, 1)]).toEqual([2, 1, 0]);
  });

  it("fails if the GPUs' driver fails or shows no GPU", () => {
    expect(() => found('echo "no devices were found"; exit 9', 1, 1)).toThrow('Command failed');
    expect(() => found('exit 0', 1, 1)).toThrow('Command failed');
    expect(() => found(`echo 0`, 2, 2)).toThrow('Command failed');
  });
});
