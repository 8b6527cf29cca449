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
import { inTransaction } from '../../kernel/persistence/sql';

const BATCH_SIZE = 100;
/** A message of a known job that commits after a check, with a lower id than skipped ones, waits for the next check. */
const UNKNOWN_JOBS_CHECK_INTERVAL_MS = 60_000;

/**
 * Moves committed outbox rows into BullMQ. The row id is the BullMQ job id. After a crash between adding and marking, the
 * same job is added again: BullMQ ignores it while it knows the id, and the fenced handlers ignore it afterwards.
 */
@Injectable()
export class OutboxRelay {
  private readonly pump = new Pump(() => this.relay(), {
    intervalMs: this.config.worker.relayPollMs,
    failed: (error) =>
      this.logger.error({ err: error }, 'The outbox could not be relayed to Redis; the next attempt follows'),
  });
  private checkedAt = -Infinity;
  /** Up to this id, all messages that were unsent at the last check have jobs of other releases. */
  private skippedUpTo = 0;
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

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.unsubscribe();
    await this.pump.stop();
  }

  /** Returns true if there may be more messages. */
  private async relay(): Promise<boolean> {
    const jobs = knownJobs();
    const names = [...jobs.keys()];
    await this.skipUnknownJobs(names);
    return (await this.relayBatch(jobs, names)) === BATCH_SIZE;
  }

  /** Leaves messages of jobs that only another release knows to its workers, and reads them only once a minute. */
  private async skipUnknownJobs(names: readonly string[]): Promise<void> {
    if (Date.now() - this.checkedAt < UNKNOWN_JOBS_CHECK_INTERVAL_MS) return;
    const { messages, job, last } = await unsentUnknownJobs(this.dataSource.manager, names);
    this.checkedAt = Date.now();
    this.skippedUpTo = last ?? 0;
    if (messages > 0)
      this.logger.warn(
        { messages, job, last },
        'The outbox has messages of jobs that this release does not know; they wait for workers of the release that sent them',
      );
  }

  private async relayBatch(jobs: ReadonlyMap<string, JobDefinition>, names: readonly string[]): Promise<number> {
    return inTransaction(this.dataSource, async (tx) => {
      const batch = await lockUnsent(tx, names, this.skippedUpTo, BATCH_SIZE);
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
