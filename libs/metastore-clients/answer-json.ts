import { structureOf } from '../json/strict-json';
import { LONG_JSON } from '../json/parse-json';
import { MetastoreError } from './metastore-client';

/**
 * Refuses JSON that would take many times its size in memory, as megabytes of brackets do. Whether it is JSON is not
 * checked. Throws {@link MetastoreError}.
 */
export function assertModestJson(json: Buffer): void {
  if (!('broken' in structureOf(json, LONG_JSON))) return;
  throw new MetastoreError('too-large', 'The metastore answers with too many or too deeply nested values.');
}
