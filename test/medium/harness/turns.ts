import { soon, type TestAnswer, type TestApi } from './test-api';

/**
 * Sends requests that wait for the same row, in this order: each one sees the effects of those before it.
 * @param lock statement that locks the row, and its parameter
 */
export async function inTurns(
  api: TestApi,
  [lock, id]: [string, unknown],
  requests: readonly (() => Promise<TestAnswer>)[],
): Promise<TestAnswer[]> {
  const runner = api.database.createQueryRunner();
  const sent: Promise<TestAnswer>[] = [];
  try {
    await runner.startTransaction();
    await runner.query(lock, [id]);
    for (const request of requests) {
      sent.push(request());
      await soon(async () => {
        const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        expect(await api.database.query(sql)).toHaveLength(sent.length);
      });
    }
    await runner.commitTransaction();
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
  return Promise.all(sent);
}
