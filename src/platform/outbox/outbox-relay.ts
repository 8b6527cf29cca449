import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { LOGGER, type Logger } from '../logging/logger';
import { knownJobs } from '../queues/job-catalogue';
import { Queues } from '../queues/queues';
import { PgListener } from '../wakeups/pg-listener';
import { markSent } from '../workflows/workflow.repository';
import { lockUnsent, markMessagesSent, type UnsentMessage } from './outbox.repository';

const BATCH = 100;

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
      const batch = await lockUnsent(tx, BATCH);
      for (const row of batch) await this.send(row);
      if (batch.length > 0) {
        await markMessagesSent(
          tx,
          batch.map((row) => row.outbox_message_id),
        );
        await markSent(
          tx,
          batch.map((row) => row.payload['workflow_job_instance_id']).filter((id) => typeof id === 'number'),
        );
      }
      return batch.length;
    });
  }

  private async send(row: UnsentMessage): Promise<void> {
    const definition = knownJobs().get(row.job_name);
    if (!definition) {
      this.logger.error(
        { job: row.job_name, outbox_message_id: row.outbox_message_id },
        'The outbox names an unknown job',
      );
      return;
    }
    await this.queues.add(row.job_name, definition, row.payload, {
      jobId: `outbox-${row.outbox_message_id}`,
      delayMs: row.delay_ms,
      correlationId: row.correlation_id,
    });
  }
}
