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
  let highest = before;
  const timer = setInterval(() => (highest = Math.max(highest, residentMebibytes(pid))), SAMPLE_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return highest - before;
}

/** @param {number} pid */
function residentMebibytes(pid) {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kibibytes === undefined) throw new Error(`Process ${pid} does not report its memory.`);
  return Number(kibibytes) / 1024;
}
