import { invokeFunction } from './generated/operations.ts';
import type { Place } from './place.ts';
import type { Run } from './runs.ts';
import type { WaitOptions } from './waiting.ts';

/** The platform ends a call after an hour at most; this leaves time for the answer. */
const CALL_MS = 3_660_000;
const STOP_MS = 600_000;

/** A Python function that a run serves: `await double({ x: 21 })` calls it with this JSON. */
export interface ServedFunction {
  (body?: unknown, options?: WaitOptions): Promise<unknown>;
  readonly run: Run;
  /** Stops the run that serves the function, which frees its slot on the cluster. */
  stop(options?: WaitOptions): Promise<void>;
}

export function servedFunction(place: Place, run: Run): ServedFunction {
  // A call whose answer is lost is not repeated, since it may have been executed.
  const call = async (body: unknown = {}, { timeoutMs = CALL_MS, signal }: WaitOptions = {}): Promise<unknown> => {
    const path = { workspace_id: await place.id(), job_id: run.id };
    return place.context.transport.call(invokeFunction, { path, body, repeatable: false, timeoutMs, signal });
  };
  const stop = async (options: WaitOptions = {}): Promise<void> => {
    await run.kill();
    await run.wait({ ...options, timeoutMs: options.timeoutMs ?? STOP_MS });
  };
  return Object.assign(call, { run, stop });
}
