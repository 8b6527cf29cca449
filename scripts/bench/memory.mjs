import { readFileSync } from 'node:fs';

const SAMPLE_EVERY_MS = 100;

/**
 * By how many MiB the resident memory of a process grows at most while the work is done.
 * @param {number} pid
 * @param {() => Promise<void>} work
 * @returns {Promise<number>}
 */
export async function memoryGrowth(pid, work) {
  const before = residentMebibytes(pid);
  return (await peakMemory(pid, work)) - before;
}

/**
 * How many MiB the resident memory of a process has at most while the work is done.
 * @param {number} pid
 * @param {() => Promise<void>} work
 * @returns {Promise<number>}
 */
export async function peakMemory(pid, work) {
  let highest = residentMebibytes(pid);
  const timer = setInterval(() => (highest = Math.max(highest, residentMebibytes(pid))), SAMPLE_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return highest;
}

/** @param {number} pid */
function residentMebibytes(pid) {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kibibytes === undefined) throw new Error(`Process ${pid} does not report its memory.`);
  return Number(kibibytes) / 1024;
}
