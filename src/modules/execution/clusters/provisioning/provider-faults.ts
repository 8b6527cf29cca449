import { ComputeDriverError } from '../../../../../libs/compute-drivers/compute-driver';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import {
  isRetryable,
  type PartProblems,
  PermanentError,
  problemOf,
  Step,
  type StepOutcome,
} from '../../../../platform/background/workflows/workflow-definition';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/** Pause after throttling if the provider names none, milliseconds. */
const THROTTLED_MS = 5_000;
const MIN_WAIT_MS = 1_000;
/** Upper limit of a pause; no provider needs more. If the operation has less time left, its deadline ends the wait. */
const MAX_WAIT_MS = 5 * 60_000;

/** The consequence of a fault: a pause before the step runs again, the usual retry, or the end of the operation. */
export type AfterFault = { kind: 'wait'; ms: number } | { kind: 'repeat' } | { kind: 'end' };

/**
 * Returns the consequence of a fault. Missing capacity ends an operation like faults that only people can fix, unless
 * the machine can be created in another place (`node-places.ts`).
 */
export function afterFault({ kind, retryAfterMs }: Pick<ComputeDriverError, 'kind' | 'retryAfterMs'>): AfterFault {
  switch (kind) {
    case 'throttled':
      return wait(retryAfterMs ?? THROTTLED_MS);
    case 'transient':
      // A provider that names a pause is not called before: the retries of the step could be used up by then.
      return retryAfterMs === null ? { kind: 'repeat' } : wait(retryAfterMs);
    case 'capacity':
    case 'quota':
    case 'denied':
    case 'invalid':
      return { kind: 'end' };
  }
}

function wait(ms: number): AfterFault {
  return { kind: 'wait', ms: Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, ms)) };
}

type NodeName = Pick<ClusterNode, 'node_id' | 'node_number'>;

/** The faults of some nodes, or different faults of all nodes. Each node keeps its own message. */
class NodeFaults extends Error {
  readonly parts: PartProblems;

  constructor(
    /** The fault that decides the consequence. */
    readonly worst: Error,
    faults: ReadonlyMap<NodeName, Error>,
  ) {
    const [first] = [...faults].filter(([, error]) => error === worst).map(([node]) => node);
    super(first ? nodeMessage(first, worst.message) : worst.message, { cause: worst });
    this.parts = Object.fromEntries([...faults].map(([{ node_id }, error]) => [node_id, error.message]));
  }

  get retryable(): boolean {
    return isRetryable(this.worst);
  }
}

/** Prefixes a message with its node, for texts about several nodes. */
export function nodeMessage({ node_number }: Pick<ClusterNode, 'node_number'>, text: string): string {
  return `Node ${node_number}: ${text}`;
}

/** Returns the provider's fault that decides the consequence of an error; null for an error of another kind. */
export function providerFault(error: unknown): ComputeDriverError | null {
  const worst = error instanceof NodeFaults ? error.worst : error;
  return worst instanceof ComputeDriverError ? worst : null;
}

/** Runs a step that calls a provider, and applies {@link afterFault} to its faults. */
export async function handlingFaults(step: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await step();
  } catch (error) {
    const fault = providerFault(error);
    if (fault === null) throw error;
    const next = afterFault(fault);
    const problem = problemOf(error);
    if (next.kind === 'wait') return Step.wait(next.ms, problem);
    if (next.kind === 'end') throw new PermanentError(problem.message, { cause: error, parts: problem.parts });
    throw error;
  }
}

/** Waits for every call, so that none continues after its step. Throws the most severe error. */
export async function allOrWorst<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(calls);
  const errors = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as Error);
  const [worst] = errors.sort((one, other) => severity(other) - severity(one));
  if (worst) throw worst;
  return results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
}

/** Does the same with one call per node. If all nodes fail with the same message, it is thrown once, without a node. */
export async function callEachNode<N extends NodeName, T>(
  nodes: readonly N[],
  call: (node: N) => Promise<T>,
): Promise<T[]> {
  const faults = new Map<NodeName, Error>();
  try {
    return await allOrWorst(
      nodes.map(async (node) => {
        try {
          return await call(node);
        } catch (error) {
          faults.set(node, error instanceof Error ? error : new Error(messageOf(error)));
          throw error;
        }
      }),
    );
  } catch (worst) {
    const texts = new Set([...faults.values()].map(({ message }) => message));
    if (!(worst instanceof Error) || (faults.size === nodes.length && texts.size === 1)) throw worst;
    throw new NodeFaults(worst, faults);
  }
}

/** Orders faults: an end before a retry, a retry before a pause, a longer pause before a shorter one. */
function severity(error: Error): number {
  const next = error instanceof ComputeDriverError ? afterFault(error) : null;
  if (next?.kind === 'end' || error instanceof PermanentError) return Infinity;
  return next?.kind === 'wait' ? next.ms : MAX_WAIT_MS + 1;
}
