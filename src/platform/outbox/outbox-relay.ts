import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { LOGGER, type Logger } from '../logging/logger';
import { returning, rows } from '../persistence/sql';
import { isJobName } from '../queues/job-catalogue';
import { Queues } from '../queues/queues';
import { PgListener } from '../wakeups/pg-listener';
import { appendWorkflowState } from '../workflows/workflow-intents';

const BATCH = 100;

interface OutboxRow {
  outbox_message_id: number;
  job_name: string;
  payload: Record<string, unknown>;
  correlation_id: string;
  delay_ms: number;
}

/**
 * Moves committed outbox rows into BullMQ. The row id is the BullMQ job id, so a crash between adding and marking
 * adds the same job again, which BullMQ ignores while it knows the id and the fenced handlers ignore afterwards.
 */
@Injectable()
export class OutboxRelay {
  private running = false;
  private again = false;
  private stopped = false;
  private timer: NodeJS.Timeout | null = null;
  private unsubscribe: (() => void) | null = null;
  private current: Promise<void> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly queues: Queues,
    private readonly listener: PgListener,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.unsubscribe = this.listener.on('outbox', () => this.wake());
    this.timer = setInterval(() => this.wake(), this.config.worker.relayPollMs);
    this.wake();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.unsubscribe?.();
    if (this.timer) clearInterval(this.timer);
    await this.current;
  }

  private wake(): void {
    if (this.stopped) return;
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    this.current = this.drain()
      .catch((error: unknown) => this.logger.error({ err: error }, 'The outbox could not be relayed'))
      .finally(() => {
        this.running = false;
        if (this.again) {
          this.again = false;
          this.wake();
        }
      });
  }

  private async drain(): Promise<void> {
    while (!this.stopped && (await this.relayBatch()) === BATCH);
  }

  private async relayBatch(): Promise<number> {
    return this.dataSource.transaction(async (tx) => {
      const batch = await rows<OutboxRow>(
        tx,
        `SELECT outbox_message_id, job_name, payload, correlation_id, delay_ms FROM outbox_messages
         WHERE sent_at IS NULL ORDER BY outbox_message_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`,
      );
      for (const row of batch) await this.send(row);
      if (batch.length > 0) {
        const ids = batch.map((row) => row.outbox_message_id);
        await tx.query('UPDATE outbox_messages SET sent_at = platform_now() WHERE outbox_message_id = ANY($1)', [ids]);
        const sent = await returning<{ workflow_job_instance_id: number }>(
          tx,
          `UPDATE workflow_job_instances SET state = 'SENT' WHERE state = 'INIT' AND workflow_job_instance_id = ANY($1)
           RETURNING workflow_job_instance_id`,
          [batch.map((row) => row.payload['workflow_job_instance_id']).filter((id) => typeof id === 'number')],
        );
        for (const instance of sent) await appendWorkflowState(tx, instance.workflow_job_instance_id, 'SENT');
      }
      return batch.length;
    });
  }

  private async send(row: OutboxRow): Promise<void> {
    if (!isJobName(row.job_name)) {
      this.logger.error(
        { job: row.job_name, outbox_message_id: row.outbox_message_id },
        'The outbox names an unknown job',
      );
      return;
    }
    await this.queues.add(row.job_name, row.payload, {
      jobId: `outbox-${row.outbox_message_id}`,
      delayMs: row.delay_ms,
      correlationId: row.correlation_id,
    });
  }
}
