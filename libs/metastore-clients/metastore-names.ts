import { MetastoreError } from './metastore-client';

/** Characters; neither Unity Catalog nor Glue has longer names. */
const MAX_NAME_LENGTH = 255;

/** The name of a catalog, schema or table as it can be sent; throws {@link MetastoreError} `missing` for what is none. */
export function usableName(name: string): string {
  if (name !== '' && name.length <= MAX_NAME_LENGTH && name.isWellFormed()) return name;
  throw new MetastoreError('missing', 'A name is empty, too long or malformed: there is none like it.');
}
