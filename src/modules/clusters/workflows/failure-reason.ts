import type { WorkflowFailure } from '../../../platform/workflows/workflow-definition';

/** Why an operation failed, as the history of its cluster says it: the step with its cause, and what else is to be known. */
export function failureReason({ step, message }: WorkflowFailure, ...more: (string | null)[]): string {
  const told = more.filter((text) => text !== null);
  const reason = `Step ${step} failed: ${message}`;
  return told.length === 0 ? reason : [reason, ...told].map(asSentence).join(' ');
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
