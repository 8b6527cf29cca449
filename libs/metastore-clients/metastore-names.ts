import { MetastoreError } from './metastore-client';

/** Characters; neither Unity Catalog nor Glue has longer names. */
const LONGEST_NAME = 255;

/** The name of a catalog, schema or table as it can be sent; throws {@link MetastoreError} `missing` for what is none. */
export function usableName(name: string): string {
  if (name !== '' && name.length <= LONGEST_NAME && name.isWellFormed()) return name;
  throw new MetastoreError('missing', 'A name is empty, too long or malformed: there is none like it.');
}
