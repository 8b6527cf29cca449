import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { type JobDefinition, knownJobs } from '../queues/job-catalogue';
import { Queues } from '../queues/queues';
import { PgListener } from '../../kernel/wakeups/pg-listener';
import { markSent } from '../workflows/workflow.repository';
import { lockUnsent, markMessagesSent, type UnsentMessage, unsentOfOthers } from './outbox.repository';

const BATCH = 100;
/** A message with a lower id that commits meanwhile waits for the next look. */
const LOOK_AT_OTHERS_MS = 60_000;

/**
 * Moves committed outbox rows into BullMQ. The row id is the BullMQ job id, so a crash between adding and marking
 * adds the same job again, which BullMQ ignores while it knows the id and the fenced handlers ignore afterwards.
 */
@Injectable()
export class OutboxRelay {
  private running = false;
  private again = false;
  private stopped = false;
  private lookedAt = -Infinity;
  /** Up to this id, all that was unsent at the last look is of other releases. */
  private passedOver = 0;
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
    const jobs = knownJobs();
    const names = [...jobs.keys()];
    await this.passOverOthers(names);
    // What had been committed before the relay is told to stop is sent, as far as it fits into one batch.
    while ((await this.relayBatch(jobs, names)) === BATCH && !this.stopped);
  }

  /** Messages of jobs that only another release knows are left to its workers, and are read once a minute. */
  private async passOverOthers(names: readonly string[]): Promise<void> {
    if (Date.now() - this.lookedAt < LOOK_AT_OTHERS_MS) return;
    const { messages, job, last } = await unsentOfOthers(this.dataSource.manager, names);
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
