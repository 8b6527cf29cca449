import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { cpus, freemem, hostname, totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { HostResources } from '../host-resources';

/** Total time of all processors since the machine started, milliseconds. */
interface ProcessorTime {
  total: number;
  idle: number;
}

/** Measures this machine. The processor use is that since the previous measurement, or since the meter was created. */
export class HostMeter {
  private before = processorTime();

  /** @param dir a path on the measured file system, which need not exist yet */
  constructor(private readonly dir: string) {}

  async measure(): Promise<HostResources> {
    const { blocks, bfree, bsize } = await fileSystemOf(this.dir);
    const now = processorTime();
    const elapsed = now.total - this.before.total;
    const idle = now.idle - this.before.idle;
    this.before = now;
    const memoryBytes = totalmem();
    return {
      name: hostname(),
      cores: cpus().length,
      cpuUsage: elapsed > 0 ? Math.min(1, Math.max(0, 1 - idle / elapsed)) : 0,
      memoryBytes,
      // On Linux, freemem() is the available memory, which includes the kernel's caches.
      memoryUsedBytes: memoryBytes - freemem(),
      diskBytes: blocks * bsize,
      diskUsedBytes: (blocks - bfree) * bsize,
    };
  }
}

function processorTime(): ProcessorTime {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return { total: sum(times.flatMap((time) => Object.values(time))), idle: sum(times.map(({ idle }) => idle)) };
}

async function fileSystemOf(dir: string): Promise<StatsFs> {
  try {
    return await statfs(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(dir) === dir) throw error;
    return fileSystemOf(dirname(dir));
  }
}
