import { MAX_DESCRIBED, type TableInfo } from './metastore-client';
import { sortedByName } from './paged-list';

/** Requests under way at once, for a metastore that describes one table a request. */
const PARALLEL = 8;

/** What `describe` tells of each name, sorted, without duplicates and without those that it answers null for. */
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
  // The first failure is the answer: what is still under way ends with the call.
  await Promise.all(Array.from({ length: Math.min(PARALLEL, waiting.length) }, worker));
  return sortedByName(found.values());
}
