import type { WorkflowFailure } from '../../../platform/workflows/workflow-definition';

/** What a failed operation has made may be taken down for so long; then it is named and left; milliseconds. */
export const COMPENSATION_MS = 10 * 60_000;

/** Why an operation failed, as the history of its cluster says it: the step with its cause, and what else is to be known. */
export function failureReason({ step, message }: WorkflowFailure, ...more: (string | null)[]): string {
  const told = more.filter((text) => text !== null);
  const reason = `Step ${step} failed: ${message}`;
  return told.length === 0 ? reason : [reason, ...told].map(asSentence).join(' ');
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
