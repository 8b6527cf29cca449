import { JsonError, LONG_JSON, parseUntrusted } from '../json/parse-json';
import { structureOf } from '../json/strict-json';
import { MetastoreError } from './metastore-client';

/**
 * Throws {@link MetastoreError} for JSON that would take many times its size in memory, such as megabytes of brackets. Does
 * not check whether the text is JSON.
 */
export function assertModestJson(json: Buffer): void {
  if ('broken' in structureOf(json, LONG_JSON)) throw tooLarge();
}

/** Parses a response. Throws {@link MetastoreError} like {@link assertModestJson}, and {@link JsonError} for other text. */
export function parseResponse(json: Buffer): unknown {
  try {
    return parseUntrusted(json, LONG_JSON);
  } catch (error) {
    throw error instanceof JsonError && error.fault !== 'syntax' ? tooLarge(error) : error;
  }
}

function tooLarge(cause?: JsonError): MetastoreError {
  const message = 'The response of the metastore has too many values, or values nested too deep.';
  return new MetastoreError('too-large', message, { cause });
}
