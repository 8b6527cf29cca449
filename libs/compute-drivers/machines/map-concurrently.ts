import { setImmediate } from 'node:timers/promises';

/** How many calls are under way at once: providers limit those of an account. */
const MAX_CONCURRENT_CALLS = 8;

/** Makes a call for each item, in order and a few at a time; begins no further one once a call has failed. */
export async function mapConcurrently<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const open = items.entries();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (const [index, item] of open) {
      if (hasFailed) return;
      results[index] = await call(item);
      if (index % MAX_CONCURRENT_CALLS === 0) await setImmediate();
    }
  };
  const noted = () =>
    lane().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    });
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_CALLS, items.length) }, noted));
  return results;
}
