/**
 * The deadline of each signal, held for as long as the signal is. Node holds what `AbortSignal.any` follows weakly, and from
 * 24.18 on looks at it only when the signal is read or listened to: a deadline that passed and was collected before that
 * would be lost.
 */
const deadlines = new WeakMap<AbortSignal, AbortController>();

/**
 * A signal that aborts with a `TimeoutError` after this many milliseconds, or earlier with the reason of the first of
 * `signals`. On Node 20 `AbortSignal.any` over `AbortSignal.timeout` never fires once the latter is garbage collected,
 * since nothing holds it; the timer holds this one until it fires.
 */
export function withDeadline(ms: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const deadline = new AbortController();
  const abort = () => deadline.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(abort, ms).unref();
  const signal = AbortSignal.any([deadline.signal, ...signals]);
  deadlines.set(signal, deadline);
  return signal;
}
