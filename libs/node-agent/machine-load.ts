import { readFileSync } from 'node:fs';

/** Returns the percentage of the last ten seconds in which something waited for the resource; 0 on kernels that do not tell. */
export function pressureOf(resource: 'cpu' | 'memory'): number {
  const text = kernelFile(`/proc/pressure/${resource}`);
  return Number(/^some avg10=([\d.]+)/m.exec(text)?.[1] ?? 0);
}

/** Returns the memory that programs can still get, MiB; infinite on machines that do not tell. */
export function availableMemoryMb(): number {
  const kilobytes = /^MemAvailable: +(\d+) kB$/m.exec(kernelFile('/proc/meminfo'))?.[1];
  return kilobytes === undefined ? Infinity : Number(kilobytes) / 1024;
}

function kernelFile(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
