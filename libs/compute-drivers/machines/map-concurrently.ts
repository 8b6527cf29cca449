import { setImmediate } from 'node:timers/promises';

/** Providers limit the calls of an account. */
const MAX_CONCURRENT_CALLS = 8;

/** Makes a call for each item, in order and a few at a time. Starts no further call once one has failed. */
export async function mapConcurrently<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const pending = items.entries();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of pending) {
      if (hasFailed) return;
      results[index] = await call(item);
      if (index % MAX_CONCURRENT_CALLS === 0) await setImmediate();
    }
  };
  const guardedWorker = () =>
    worker().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    });
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_CALLS, items.length) }, guardedWorker));
  return results;
}
