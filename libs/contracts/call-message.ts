/**
 * How a caller and the process of a run talk over the run's channel (ADR 0037): each payload is a header, one line of JSON, and
 * behind its line break the bytes of a body.
 */

/** What a run is asked: to answer a call, or to take no more trouble over one. */
export type CallHeader =
  | {
      op: 'call';
      id: string;
      timeout_ms: number;
      /** Name of the caller; of runs that tell their callers apart. */
      user?: string;
    }
  | { op: 'cancel'; id: string };

/** How a call was answered. */
export const CALL_OUTCOMES = ['ok', 'error', 'full', 'timeout', 'unanswerable'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** What a run says: that it can be called, or the answer to a call. */
export type AnswerHeader =
  | { op: 'ready' }
  | {
      op: 'answer';
      id: string;
      outcome: CallOutcome;
      /** Whether the body goes on in the next payload with this id. */
      more: boolean;
    };

/** Longest header; bytes. */
const LONGEST_HEADER = 1024;
const LINE_BREAK = 0x0a;
const ID = /^[\w-]{1,64}$/;

export function encodeCall(header: CallHeader, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}

/** Reads what a run said; null for what is no such payload, since a job can write whatever it likes. */
export function decodeAnswer(payload: Buffer): { header: AnswerHeader; body: Buffer } | null {
  const end = payload.subarray(0, LONGEST_HEADER).indexOf(LINE_BREAK);
  if (end < 0) return null;
  const header = answerHeader(payload.toString('utf8', 0, end));
  return header && { header, body: payload.subarray(end + 1) };
}

function answerHeader(text: string): AnswerHeader | null {
  let given: Record<string, unknown> | null;
  try {
    given = JSON.parse(text) as typeof given;
  } catch {
    return null;
  }
  if (typeof given !== 'object' || given === null) return null;
  if (given['op'] === 'ready') return { op: 'ready' };
  const { op, id } = given;
  const outcome = CALL_OUTCOMES.find((known) => known === given['outcome']);
  if (op !== 'answer' || typeof id !== 'string' || !ID.test(id) || outcome === undefined) return null;
  return { op: 'answer', id, outcome, more: given['more'] === true };
}
