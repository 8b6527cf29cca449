import { JsonError, LONG_JSON, parseUntrusted } from '../json/parse-json';
import { structureOf } from '../json/strict-json';
import { MetastoreError } from './metastore-client';

/**
 * Refuses JSON that would take many times its size in memory, as megabytes of brackets do. Whether it is JSON is not
 * checked. Throws {@link MetastoreError}.
 */
export function assertModestJson(json: Buffer): void {
  if ('broken' in structureOf(json, LONG_JSON)) throw tooLarge();
}

/** Parses an answer. Throws {@link MetastoreError} for what `assertModestJson` refuses, and {@link JsonError} for other text. */
export function parseAnswer(json: Buffer): unknown {
  try {
    return parseUntrusted(json, LONG_JSON);
  } catch (error) {
    throw error instanceof JsonError && error.fault !== 'syntax' ? tooLarge(error) : error;
  }
}

function tooLarge(cause?: JsonError): MetastoreError {
  const message = 'The metastore answers with too many or too deeply nested values.';
  return new MetastoreError('too-large', message, { cause });
}
