/**
 * A signal that aborts with a `TimeoutError` after this many milliseconds, or earlier with the reason of the first of
 * `signals`. On Node 20 `AbortSignal.any` over `AbortSignal.timeout` never fires once the latter is garbage collected,
 * since nothing holds it; the timer holds this one.
 * @param {number} ms
 * @param {...(AbortSignal | undefined)} signals
 * @returns {AbortSignal}
 */
export function withDeadline(ms, ...signals) {
  const deadline = new AbortController();
  const abort = () => deadline.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(abort, ms).unref();
  return AbortSignal.any([deadline.signal, ...signals.filter((signal) => signal !== undefined)]);
}
