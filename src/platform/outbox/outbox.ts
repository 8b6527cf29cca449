import { correlationId } from '../context/request-context';
import type { Tx } from '../persistence/sql';
import type { JobName, PayloadOf } from '../queues/job-catalogue';
import { notify } from '../wakeups/pg-listener';

/**
 * Asks for a job when the transaction commits; the relay is woken by the commit itself.
 * @param correlation id of the intent when it is not the current request's or job's.
 */
export async function enqueue<N extends JobName>(
  tx: Tx,
  jobName: N,
  payload: PayloadOf<N>,
  delayMs = 0,
  correlation = correlationId(),
): Promise<void> {
  await tx.query('INSERT INTO outbox_messages (job_name, payload, correlation_id, delay_ms) VALUES ($1, $2, $3, $4)', [
    jobName,
    JSON.stringify(payload),
    correlation,
    delayMs,
  ]);
  await notify(tx, 'outbox');
}
