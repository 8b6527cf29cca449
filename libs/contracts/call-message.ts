import { readUntrusted, SHORT_JSON } from '../json/parse-json';

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
  | { op: 'cancel'; id: string }
  /** Somebody has got each of these answers, which had come ahead of being asked for. */
  | { op: 'claimed'; ids: string[] };

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
      /** With the last part: all parts together are compressed, in zlib's format. */
      deflated?: true;
      /** With the last part of an answer that nobody has asked for yet. */
      ahead?: Ahead;
      /** With the last part: the answer that had come ahead with this id, which nobody may get any more. */
      instead_of?: string;
    }
  /** Nobody may get these answers, which had come ahead. */
  | { op: 'void'; ids: string[] };

/** What an answer that has come ahead answers. */
export interface Ahead {
  /** SHA-256 of who may ask, a zero byte, and the message but for its sequence number; hexadecimal. */
  key: string;
  /** How many payloads it has, which follow each other. */
  parts: number;
}

/** Longest answer that comes ahead; payloads. */
export const MAX_PARTS_AHEAD = 16;
/** Most ids that one payload names. */
const MAX_IDS = 20;
/** Longest header; bytes. */
const MAX_HEADER_BYTES = 1024;
const LINE_BREAK = 0x0a;
const ID = /^[\w-]{1,64}$/;
const KEY = /^[\da-f]{64}$/;

export function encodeCall(header: CallHeader, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}

/** Reads what a run said; null for what is no such payload, since a job can write whatever it likes. */
export function decodeAnswer(payload: Buffer): { header: AnswerHeader; body: Buffer } | null {
  const end = payload.subarray(0, MAX_HEADER_BYTES).indexOf(LINE_BREAK);
  if (end < 0) return null;
  const header = answerHeader(payload.toString('utf8', 0, end));
  return header && { header, body: payload.subarray(end + 1) };
}

function answerHeader(text: string): AnswerHeader | null {
  const given = Object(readUntrusted(text, SHORT_JSON)) as Record<string, unknown>;
  if (given['op'] === 'ready') return { op: 'ready' };
  if (given['op'] === 'void') {
    const { ids } = given;
    return Array.isArray(ids) && ids.length <= MAX_IDS && ids.every(isId) ? { op: 'void', ids } : null;
  }
  return given['op'] === 'answer' ? partHeader(given) : null;
}

function partHeader(given: Record<string, unknown>): AnswerHeader | null {
  const { id, instead_of: insteadOf } = given;
  const outcome = CALL_OUTCOMES.find((known) => known === given['outcome']);
  if (!isId(id) || outcome === undefined) return null;
  if (given['more'] === true) return { op: 'answer', id, outcome, more: true };
  const ahead = outcome === 'ok' ? aheadOf(given['ahead']) : null;
  return {
    op: 'answer',
    id,
    outcome,
    more: false,
    ...(given['deflated'] === true && { deflated: true }),
    ...(ahead && { ahead }),
    ...(isId(insteadOf) && { instead_of: insteadOf }),
  };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function aheadOf(given: unknown): Ahead | null {
  if (typeof given !== 'object' || given === null) return null;
  const { key, parts } = given as Record<string, unknown>;
  if (typeof key !== 'string' || !KEY.test(key)) return null;
  if (typeof parts !== 'number' || !Number.isInteger(parts) || parts < 1 || parts > MAX_PARTS_AHEAD) return null;
  return { key, parts };
}
