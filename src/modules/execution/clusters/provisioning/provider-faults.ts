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

/** What a provider that does not say how long is given to recover from too many calls, milliseconds. */
const THROTTLED_MS = 5_000;
const MIN_WAIT_MS = 1_000;
/** More than any provider asks for in earnest. A wait that the operation has no time for ends with its deadline. */
const MAX_WAIT_MS = 5 * 60_000;

/** What follows a fault: the same step later, the same step as after any error, or the end of the operation. */
export type AfterFault = { kind: 'wait'; ms: number } | { kind: 'repeat' } | { kind: 'end' };

/**
 * Decides what follows a fault. A provider without capacity ends an operation like the faults that only people can remedy,
 * unless the machine can be made elsewhere (`node-places.ts`).
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
  return { kind: 'wait', ms: Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, ms)) };
}

type NodeName = Pick<ClusterNode, 'node_id' | 'node_number'>;

/** What went wrong with some nodes, or with each in its own way: the words for one are not told as those for another. */
class NodeFaults extends Error {
  readonly parts: PartProblems;

  constructor(
    /** Of these faults, the one that decides what follows. */
    readonly worst: Error,
    faults: ReadonlyMap<NodeName, Error>,
  ) {
    const [first] = [...faults].filter(([, error]) => error === worst).map(([node]) => node);
    super(first ? ofNode(first, worst.message) : worst.message, { cause: worst });
    this.parts = Object.fromEntries([...faults].map(([{ node_id }, error]) => [node_id, error.message]));
  }

  get retryable(): boolean {
    return isRetryable(this.worst);
  }
}

/** The words for one node, where others are told of them. */
export function ofNode({ node_number }: Pick<ClusterNode, 'node_number'>, words: string): string {
  return `Node ${node_number}: ${words}`;
}

/** The fault of a provider that decides what follows an error; null for an error of another kind. */
export function providerFault(error: unknown): ComputeDriverError | null {
  const worst = error instanceof NodeFaults ? error.worst : error;
  return worst instanceof ComputeDriverError ? worst : null;
}

/** Runs a step that calls a provider; its faults have the consequences of {@link afterFault}. */
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

/** Waits for every call, so that none goes on behind its step; throws the error that decides most. */
export async function settled<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(calls);
  const errors = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as Error);
  const [worst] = errors.sort((one, other) => weight(other) - weight(one));
  if (worst) throw worst;
  return results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
}

/** The same for a call about each node. What is wrong with all of them in the same words is told once, without a node. */
export async function settledByNode<N extends NodeName, T>(
  nodes: readonly N[],
  call: (node: N) => Promise<T>,
): Promise<T[]> {
  const faults = new Map<NodeName, Error>();
  try {
    return await settled(
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
    const words = new Set([...faults.values()].map(({ message }) => message));
    if (!(worst instanceof Error) || (faults.size === nodes.length && words.size === 1)) throw worst;
    throw new NodeFaults(worst, faults);
  }
}

/** An end before a repetition, a repetition before a wait, the longer wait before the shorter. */
function weight(error: Error): number {
  const next = error instanceof ComputeDriverError ? afterFault(error) : null;
  if (next?.kind === 'end' || error instanceof PermanentError) return Infinity;
  return next?.kind === 'wait' ? next.ms : MAX_WAIT_MS + 1;
}
