/** Interval between two lines about the same work; milliseconds. */
const INTERVAL_MS = 5_000;

/**
 * Reports every five seconds how long the work has taken so far, because silence looks like a hang.
 * @template T
 * @param {string} title of the work
 * @param {import('./install.mjs').OnProgress} onProgress
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} the result of the work
 */
export async function reportingElapsedTime(title, onProgress, work) {
  const started = Date.now();
  const report = () => onProgress(`${title}: ${Math.round((Date.now() - started) / 1000)} s so far`, true);
  const timer = setInterval(report, INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
