/**
 * Keeps the deadline of each signal alive as long as the signal itself. Node references the signals that `AbortSignal.any`
 * follows only weakly, and from 24.18 on checks them only when the combined signal is read or listened to, so a deadline that
 * had passed and was garbage collected before that would be lost.
 * @type {WeakMap<AbortSignal, AbortController>}
 */
const deadlines = new WeakMap();

/**
 * Returns a signal that aborts with a `TimeoutError` after this many milliseconds, or earlier with the reason of the first of
 * `signals`. On Node 20 `AbortSignal.any` over `AbortSignal.timeout` never fires once the latter is garbage collected,
 * since nothing holds it; the timer holds this one until it fires.
 * @param {number} ms
 * @param {...(AbortSignal | undefined)} signals
 * @returns {AbortSignal}
 */
export function withDeadline(ms, ...signals) {
  const deadline = new AbortController();
  const abort = () => deadline.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(abort, ms).unref();
  const signal = AbortSignal.any([deadline.signal, ...signals.filter((other) => other !== undefined)]);
  deadlines.set(signal, deadline);
  return signal;
}
