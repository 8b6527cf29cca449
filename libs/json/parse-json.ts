import { type BrokenBound, JSON_BOUNDS, type JsonBounds, structureOf } from './strict-json';

/** Limits of an untrusted text. A text that exceeds one of them is not parsed. */
export interface UntrustedBounds extends JsonBounds {
  bytes: number;
}

/** For short texts: a provider's error, the answer to a single question, a hint, a setting. */
export const SHORT_JSON: UntrustedBounds = { ...JSON_BOUNDS, bytes: 64 * 1024 };

/** For lists of thousands of records with dozens of values each. The reader of the bytes limits their number further. */
export const LONG_JSON: UntrustedBounds = { ...JSON_BOUNDS, bytes: 64 * 1024 * 1024, values: 1_000_000 };

/** Says why a text was not parsed: its `fault` is the bound that it exceeds, or `syntax` if it is not JSON. */
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
 * Parses text from a client, a job, a provider or another server. A parser makes an object of every few bytes, on the event
 * loop that serves everybody, so this checks the structure first.
 * @throws {JsonError}
 */
export function parseUntrusted(json: string | Uint8Array, { bytes, ...bounds }: UntrustedBounds): unknown {
  // A text has at least as many bytes as characters, so one that is too long need not be copied first.
  if (json.length > bytes) throw tooLong(bytes);
  const text = typeof json === 'string' ? Buffer.from(json) : Buffer.from(json.buffer, json.byteOffset, json.length);
  if (text.length > bytes) throw tooLong(bytes);
  const structure = structureOf(text, bounds);
  if ('broken' in structure) {
    const { broken } = structure;
    throw new JsonError(broken, `The JSON has more than ${bounds[broken]} ${broken}.`);
  }
  return parsed(typeof json === 'string' ? json : text.toString('utf8'));
}

/** Like {@link parseUntrusted}, but returns undefined for a text that cannot be parsed. */
export function readUntrusted(json: string | Uint8Array, bounds: UntrustedBounds): unknown {
  try {
    return parseUntrusted(json, bounds);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/**
 * Parses text that only the platform or its operator can have written.
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
