import { ComputeDriverError } from '../../../../libs/compute-drivers/compute-driver';
import { PermanentError, Step, type StepOutcome } from '../../../platform/workflows/workflow-definition';

/** What a provider that does not say how long is given to recover from too many calls, milliseconds. */
const THROTTLED_MS = 5_000;
const SHORTEST_WAIT_MS = 1_000;
/** Whatever a provider says: the deadline of the operation is to be noticed. */
const LONGEST_WAIT_MS = 60_000;

/** What follows a fault: the same step later, the same step as after any error, or the end of the operation. */
export type AfterFault = { kind: 'wait'; ms: number } | { kind: 'repeat' } | { kind: 'end' };

/**
 * Decides what follows a fault. A place without capacity ends an operation like the faults that only people can remedy: a
 * node is planned for one place.
 */
export function afterFault({ kind, retryAfterMs }: Pick<ComputeDriverError, 'kind' | 'retryAfterMs'>): AfterFault {
  switch (kind) {
    case 'throttled':
      return wait(retryAfterMs ?? THROTTLED_MS);
    case 'transient':
      // A provider that says when is not asked before: the tries of a step may be over by then.
      return retryAfterMs === null ? { kind: 'repeat' } : wait(retryAfterMs);
    case 'capacity':
    case 'quota':
    case 'denied':
    case 'invalid':
      return { kind: 'end' };
  }
}

function wait(ms: number): AfterFault {
  return { kind: 'wait', ms: Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, ms)) };
}

/** Runs a step that calls a provider; its faults have the consequences of {@link afterFault}. */
export async function heedingFaults(step: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ComputeDriverError)) throw error;
    const next = afterFault(error);
    if (next.kind === 'wait') return Step.wait(next.ms, error.message);
    if (next.kind === 'end') throw new PermanentError(error.message, { cause: error });
    throw error;
  }
}

/** Waits for every call, so that none goes on behind its step; throws the error that decides most. */
export async function settled<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(calls);
  const errors = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as Error);
  const [worst] = errors.sort((one, other) => weight(other) - weight(one));
  if (worst) throw worst;
  return results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
}

/** An end before a repetition, a repetition before a wait, the longer wait before the shorter. */
function weight(error: Error): number {
  const next = error instanceof ComputeDriverError ? afterFault(error) : null;
  if (next?.kind === 'end' || error instanceof PermanentError) return Infinity;
  return next?.kind === 'wait' ? next.ms : LONGEST_WAIT_MS + 1;
}
