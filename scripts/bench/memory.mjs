import { readFileSync } from 'node:fs';

const SAMPLE_EVERY_MS = 100;

/**
 * Measures the maximum growth, in MiB, of the resident memory of a process during the work.
 * @param {number} pid
 * @param {() => Promise<void>} work
 * @returns {Promise<number>}
 */
export async function memoryGrowth(pid, work) {
  const before = residentMebibytes(pid);
  return (await peakMemory(pid, work)) - before;
}

/**
 * Measures the maximum, in MiB, of the resident memory of a process during the work.
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
export function residentMebibytes(pid) {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kibibytes === undefined) throw new Error(`Process ${pid} does not report its memory.`);
  return Number(kibibytes) / 1024;
}
