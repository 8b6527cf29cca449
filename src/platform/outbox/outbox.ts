import { correlationId } from '../context/request-context';
import type { Tx } from '../persistence/sql';
import type { JobName, PayloadOf } from '../queues/job-catalogue';
import { notify } from '../wakeups/pg-listener';

/** Asks for a job when the transaction commits; the relay is woken by the commit itself. */
export async function enqueue<N extends JobName>(
  tx: Tx,
  jobName: N,
  payload: PayloadOf<N>,
  delayMs = 0,
): Promise<void> {
  await tx.query('INSERT INTO outbox_messages (job_name, payload, correlation_id, delay_ms) VALUES ($1, $2, $3, $4)', [
    jobName,
    JSON.stringify(payload),
    correlationId(),
    delayMs,
  ]);
  await notify(tx, 'outbox');
}
