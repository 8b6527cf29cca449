import type { WorkflowFailure } from '../../../../platform/background/workflows/workflow-definition';

/** Time to remove what a failed operation created, milliseconds. After that, the reason lists the leftovers. */
export const COMPENSATION_MS = 10 * 60_000;

/** Returns the reason of a failed operation for the history of its cluster: the step, its cause and more details. */
export function failureReason({ step, message }: WorkflowFailure, ...more: (string | null)[]): string {
  const details = more.filter((text) => text !== null);
  const reason = `Step ${step} failed: ${message}`;
  return details.length === 0 ? reason : [reason, ...details].map(asSentence).join(' ');
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
