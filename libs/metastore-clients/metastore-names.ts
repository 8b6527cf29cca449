import { MetastoreError } from './metastore-client';

/** Neither Unity Catalog nor Glue allows longer names. */
const MAX_NAME_LENGTH = 255;

/** Returns the name of a catalog, schema or table; throws `missing` if no object can have it, before anything is sent. */
export function usableName(name: string): string {
  if (name !== '' && name.length <= MAX_NAME_LENGTH && name.isWellFormed()) return name;
  throw new MetastoreError('missing', 'The name is empty, too long or malformed, so no object can have it.');
}
