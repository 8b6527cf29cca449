/**
 * Does two things at the same time. If one fails, it aborts the other, and throws its failure when both have ended.
 * @template A, B
 * @param {AbortSignal} signal
 * @param {(signal: AbortSignal) => Promise<A>} first
 * @param {(signal: AbortSignal) => Promise<B>} second
 * @returns {Promise<[A, B]>}
 */
export async function together(signal, first, second) {
  const failing = new AbortController();
  const both = AbortSignal.any([signal, failing.signal]);
  const fail = (/** @type {unknown} */ error) => {
    failing.abort(error);
    throw error;
  };
  const results = /** @type {const} */ ([first(both).catch(fail), second(both).catch(fail)]);
  await Promise.allSettled(results);
  failing.signal.throwIfAborted();
  return Promise.all(results);
}
