import { readUntrusted, SHORT_JSON } from '../json/parse-json';

/**
 * The messages between a caller and the process of a run, on the run's channel (ADR 0037). Each payload is a header, which is one
 * line of JSON, and the bytes of a body after its line break.
 */

/** A request to a run. */
export type CallHeader =
  | {
      op: 'call';
      id: string;
      timeout_ms: number;
      /** Name of the caller, for runs that serve each user apart. */
      user?: string;
    }
  | { op: 'cancel'; id: string }
  /** Each of these prefetched answers has been delivered. */
  | { op: 'claimed'; ids: string[] };

/** The outcomes of a call. */
export const CALL_OUTCOMES = ['ok', 'error', 'full', 'timeout', 'unanswerable'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** A message from a run: it is ready for calls, or it answers one. */
export type AnswerHeader =
  | { op: 'ready' }
  | {
      op: 'answer';
      id: string;
      outcome: CallOutcome;
      /** True if the next payload with this id continues the body. */
      more: boolean;
      /** On the last part: the parts, concatenated, are compressed in zlib's format. */
      deflated?: true;
      /** On the last part of a prefetched answer, which nobody has requested yet. */
      ahead?: Prefetched;
      /** On the last part: id of the prefetched answer that this one replaces, which must no longer be delivered. */
      instead_of?: string;
      /** On the last part: the request would get the same answer again. */
      final?: true;
    }
  /** These prefetched answers must not be delivered. */
  | { op: 'void'; ids: string[] };

/** Identifies the request that a prefetched answer is for. */
export interface Prefetched {
  /** SHA-256, in hex, of the user, a zero byte, and the request without its sequence number. */
  key: string;
  /** Number of its payloads, which are consecutive. */
  parts: number;
}

/** Maximum number of payloads of a prefetched answer. */
export const MAX_PREFETCHED_PARTS = 16;
/** Maximum number of ids in one payload. */
const MAX_IDS = 20;
const MAX_HEADER_BYTES = 1024;
const LINE_BREAK = 0x0a;
const ID = /^[\w-]{1,64}$/;
const KEY = /^[\da-f]{64}$/;

export function encodeCall(header: CallHeader, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}

/** Decodes a message from a run. Returns null if it is malformed, because a job can write anything. */
export function decodeAnswer(payload: Buffer): { header: AnswerHeader; body: Buffer } | null {
  const end = payload.subarray(0, MAX_HEADER_BYTES).indexOf(LINE_BREAK);
  if (end < 0) return null;
  const header = answerHeader(payload.toString('utf8', 0, end));
  return header && { header, body: payload.subarray(end + 1) };
}

function answerHeader(text: string): AnswerHeader | null {
  const message = Object(readUntrusted(text, SHORT_JSON)) as Record<string, unknown>;
  if (message['op'] === 'ready') return { op: 'ready' };
  if (message['op'] === 'void') {
    const { ids } = message;
    return Array.isArray(ids) && ids.length <= MAX_IDS && ids.every(isId) ? { op: 'void', ids } : null;
  }
  return message['op'] === 'answer' ? partHeader(message) : null;
}

function partHeader(message: Record<string, unknown>): AnswerHeader | null {
  const { id, instead_of: insteadOf } = message;
  const outcome = CALL_OUTCOMES.find((known) => known === message['outcome']);
  if (!isId(id) || outcome === undefined) return null;
  if (message['more'] === true) return { op: 'answer', id, outcome, more: true };
  const ahead = outcome === 'ok' ? prefetchedOf(message['ahead']) : null;
  return {
    op: 'answer',
    id,
    outcome,
    more: false,
    ...(message['deflated'] === true && { deflated: true }),
    ...(ahead && { ahead }),
    ...(isId(insteadOf) && { instead_of: insteadOf }),
    ...(message['final'] === true && { final: true }),
  };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function prefetchedOf(value: unknown): Prefetched | null {
  if (typeof value !== 'object' || value === null) return null;
  const { key, parts } = value as Record<string, unknown>;
  if (typeof key !== 'string' || !KEY.test(key)) return null;
  if (typeof parts !== 'number' || !Number.isInteger(parts) || parts < 1 || parts > MAX_PREFETCHED_PARTS) return null;
  return { key, parts };
}
