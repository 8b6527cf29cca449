import { type BrokenBound, type JsonBounds, structureOf } from './strict-json';

/** What an untrusted text may cost: beyond any of it nothing is parsed. */
export interface UntrustedBounds extends JsonBounds {
  bytes: number;
}

/** Enough for what says little: errors of providers, answers to single questions, hints, settings. */
export const SHORT_JSON: UntrustedBounds = { bytes: 64 * 1024, values: 10_000, levels: 100 };

/** Of lists with thousands of records, whose bytes are bounded where they are read. A record has dozens of values. */
export const LONG_JSON: UntrustedBounds = { bytes: 64 * 1024 * 1024, values: 1_000_000, levels: 100 };

/** Why a text was not parsed: `syntax` for what is no JSON, else the bound that it breaks. */
export class JsonError extends Error {
  override readonly name = 'JsonError';

  constructor(
    readonly fault: 'syntax' | 'bytes' | BrokenBound,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Parses what somebody else wrote: a client, a job, a provider, a server, a file. A parser makes an object of every few
 * bytes, on the event loop that serves everybody, so the structure is checked first.
 * @throws {JsonError}
 */
export function parseUntrusted(json: string | Uint8Array, { bytes, ...bounds }: UntrustedBounds): unknown {
  // A text has no fewer bytes than characters: a long one is not even copied.
  if (json.length > bytes) throw tooLong(bytes);
  const given = typeof json === 'string' ? Buffer.from(json) : Buffer.from(json.buffer, json.byteOffset, json.length);
  if (given.length > bytes) throw tooLong(bytes);
  const structure = structureOf(given, bounds);
  if ('broken' in structure) {
    const { broken } = structure;
    throw new JsonError(broken, `The JSON has more than ${bounds[broken]} ${broken}.`);
  }
  return parsed(typeof json === 'string' ? json : given.toString('utf8'));
}

/** Like {@link parseUntrusted}, where a text that cannot be parsed says nothing: undefined for it. */
export function readUntrusted(json: string | Uint8Array, bounds: UntrustedBounds): unknown {
  try {
    return parseUntrusted(json, bounds);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/**
 * Parses what this program, or whoever operates it, has written, and nobody else could change.
 * @throws {JsonError}
 */
export function parseTrusted<T>(json: string): T {
  return parsed(json) as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonError('syntax', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function tooLong(bytes: number): JsonError {
  return new JsonError('bytes', `The JSON has more than ${bytes} bytes.`);
}
