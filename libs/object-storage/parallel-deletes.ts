/** Number of parallel requests to a provider that deletes one object per request. */
const PARALLEL = 16;

/** Calls `remove` for each key. Throws the first failure once all calls have ended. */
export async function deleteInParallel(
  keys: readonly string[],
  remove: (key: string) => Promise<unknown>,
): Promise<void> {
  const waiting = [...keys];
  const worker = async () => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) await remove(key);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(PARALLEL, keys.length) }, worker));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
