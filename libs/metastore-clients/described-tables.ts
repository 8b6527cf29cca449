import { MAX_DESCRIBED, type TableInfo } from './metastore-client';
import { sortedByName } from './paged-list';

/** Number of parallel requests to a metastore that describes one table per request. */
const PARALLEL = 8;

/** Describes each table and returns the descriptions sorted by name, without duplicates and nulls. */
export async function describeEach(
  names: readonly string[],
  describe: (name: string) => Promise<TableInfo | null>,
): Promise<TableInfo[]> {
  const waiting = [...new Set(names)];
  if (waiting.length > MAX_DESCRIBED) throw new RangeError(`At most ${MAX_DESCRIBED} tables are described at once.`);
  const found = new Map<string, TableInfo>();
  const worker = async () => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const described = await describe(name);
      if (described) found.set(described.name, described);
    }
  };
  // The first failure rejects; requests that are still running end with the call.
  await Promise.all(Array.from({ length: Math.min(PARALLEL, waiting.length) }, worker));
  return sortedByName(found.values());
}
