/**
 * A signal that aborts with a `TimeoutError` after so many milliseconds, or with the reason of the first of `signals` before.
 * `AbortSignal.any` over `AbortSignal.timeout` never fires on Node 20 once the garbage collector has taken the latter, which
 * nothing holds; the timer holds this one.
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
