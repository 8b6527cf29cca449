import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { Pump } from '../../kernel/process/pump';
import { type JobDefinition, knownJobs } from '../queues/job-catalogue';
import { Queues } from '../queues/queues';
import { PgListener } from '../../kernel/notifications/pg-listener';
import { markSent } from '../workflows/workflow.repository';
import { lockUnsent, markMessagesSent, type UnsentMessage, unsentUnknownJobs } from './outbox.repository';

const BATCH = 100;
/** A message with a lower id that commits meanwhile waits for the next look. */
const LOOK_AT_OTHERS_MS = 60_000;

/**
 * Moves committed outbox rows into BullMQ. The row id is the BullMQ job id, so a crash between adding and marking
 * adds the same job again, which BullMQ ignores while it knows the id and the fenced handlers ignore afterwards.
 */
@Injectable()
export class OutboxRelay {
  private readonly pump = new Pump(() => this.relaySome(), {
    intervalMs: this.config.worker.relayPollMs,
    failed: (error) => this.logger.error({ err: error }, 'The outbox could not be relayed'),
  });
  private lookedAt = -Infinity;
  /** Up to this id, all that was unsent at the last look is of other releases. */
  private passedOver = 0;
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly queues: Queues,
    private readonly listener: PgListener,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.unsubscribe = this.listener.on('outbox', () => this.pump.wake());
    this.pump.wake();
  }

  /** What had been committed before is sent, as far as it fits into one batch. */
  async stop(): Promise<void> {
    this.unsubscribe();
    await this.pump.stop();
  }

  /** True if there may be more. */
  private async relaySome(): Promise<boolean> {
    const jobs = knownJobs();
    const names = [...jobs.keys()];
    await this.passOverOthers(names);
    return (await this.relayBatch(jobs, names)) === BATCH;
  }

  /** Messages of jobs that only another release knows are left to its workers, and are read once a minute. */
  private async passOverOthers(names: readonly string[]): Promise<void> {
    if (Date.now() - this.lookedAt < LOOK_AT_OTHERS_MS) return;
    const { messages, job, last } = await unsentUnknownJobs(this.dataSource.manager, names);
    this.lookedAt = Date.now();
    this.passedOver = last ?? 0;
    if (messages > 0)
      this.logger.warn({ messages, job, last }, 'The outbox has messages of jobs that this release does not know');
  }

  private async relayBatch(jobs: ReadonlyMap<string, JobDefinition>, names: readonly string[]): Promise<number> {
    return this.dataSource.transaction(async (tx) => {
      const batch = await lockUnsent(tx, names, this.passedOver, BATCH);
      for (const row of batch) await this.send(row, jobs.get(row.job_name)!);
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

  private async send(row: UnsentMessage, definition: JobDefinition): Promise<void> {
    await this.queues.add(row.job_name, definition, row.payload, {
      jobId: `outbox-${row.outbox_message_id}`,
      delayMs: row.delay_ms,
      correlationId: row.correlation_id,
    });
  }
}
