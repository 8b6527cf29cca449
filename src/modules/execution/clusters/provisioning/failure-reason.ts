import type { WorkflowFailure } from '../../../../platform/background/workflows/workflow-definition';

/** How long removing what a failed operation created may take; then it is named and left; milliseconds. */
export const COMPENSATION_MS = 10 * 60_000;

/**
 * Why an operation failed, as in the history of its cluster: the step with its cause, and anything else worth knowing.
 */
export function failureReason({ step, message }: WorkflowFailure, ...more: (string | null)[]): string {
  const told = more.filter((text) => text !== null);
  const reason = `Step ${step} failed: ${message}`;
  return told.length === 0 ? reason : [reason, ...told].map(asSentence).join(' ');
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
