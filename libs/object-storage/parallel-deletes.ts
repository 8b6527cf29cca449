/** Deletions under way at once, where a provider deletes one object a request. */
const PARALLEL = 16;

/** Calls `remove` for each key; the first failure is thrown once no call is under way. */
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
