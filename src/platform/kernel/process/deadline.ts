/**
 * Keeps the deadline of each signal alive as long as the signal itself. Node references the signals that `AbortSignal.any`
 * follows only weakly, and from 24.18 on checks them only when the combined signal is read or listened to, so a deadline that
 * had passed and was garbage collected before that would be lost.
 */
const deadlines = new WeakMap<AbortSignal, AbortController>();

/**
 * Returns a signal that aborts with a `TimeoutError` after `ms` milliseconds, or earlier with the reason of the first of
 * `signals`. On Node 20, `AbortSignal.any` over `AbortSignal.timeout` never fires once the latter is garbage collected,
 * because nothing references it. Here, the timer references the controller until it fires.
 */
export function withDeadline(ms: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const deadline = new AbortController();
  const abort = () => deadline.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(abort, ms).unref();
  const signal = AbortSignal.any([deadline.signal, ...signals]);
  deadlines.set(signal, deadline);
  return signal;
}
