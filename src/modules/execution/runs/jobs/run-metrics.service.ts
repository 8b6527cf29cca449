import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { EventLogReader } from '../../../../../libs/spark/event-log';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';
import { LogsService } from '../../../infrastructure/storage';
import type { JobMetrics } from './dto/job-metrics.dto';
import { JOB } from './run-kinds';
import { isFinished } from './run-state';
import { RunsRepository } from './runs.repository';

/** A log of 100 MiB takes a part of a second of this process, and the same again of the log store. */
const READING = {
  code: 'JOB.METRICS_BUSY',
  maxConcurrent: 4,
  maxQueued: 64,
  maxQueuedPerParty: 16,
  queueTimeoutMs: 10_000,
};
/** Logs that somebody has asked about lately are read on from where they were read to. */
const READERS = { max: 64, ttl: 10 * 60_000 };

/** What Spark did in a run, by its event log. */
@Injectable()
export class RunMetricsService {
  private readonly readers = new LRUCache<number, EventLogReader>(READERS);
  /** Those that are reading now: a log is read by one at a time. */
  private readonly reading = new Map<number, Promise<EventLogReader>>();
  private readonly bulkhead = new FairBulkhead(READING);

  constructor(
    private readonly runs: RunsRepository,
    private readonly logs: LogsService,
  ) {}

  async metrics(scope: WorkspaceScope, jobId: number): Promise<JobMetrics> {
    const run = await this.runs.get({ ...scope, kind: JOB }, { id: jobId });
    // Its log is whole once its end is known.
    const isOver = isFinished(run.status);
    const reader = await this.upToDate(scope.tenantId, run.run_id);
    return { job_id: run.run_id, job_application_id: run.application_id, ...reader.metrics(isOver) };
  }

  /** A reader that has read what the log held after this was called. */
  private async upToDate(party: string, runId: number): Promise<EventLogReader> {
    // It may have opened the log before.
    await this.reading.get(runId)?.catch(() => undefined);
    const underWay = this.reading.get(runId);
    if (underWay) return underWay;
    const read = this.bulkhead.run(party, () => this.readOn(runId)).finally(() => this.reading.delete(runId));
    this.reading.set(runId, read);
    return read;
  }

  private async readOn(runId: number): Promise<EventLogReader> {
    const known = this.readers.get(runId);
    const slice = await this.logs.open({ kind: 'run', id: runId, stream: 'events' }, { offset: known?.offset ?? 0 });
    // A log that is shorter was removed with all logs of its age.
    const isSame = known && slice.nextOffset - (slice.sizeBytes ?? 0) === known.offset;
    const reader = isSame ? known : new EventLogReader();
    // Should it break off, whoever asks next begins anew.
    this.readers.delete(runId);
    try {
      for await (const chunk of slice.stream) reader.add(chunk as Buffer);
    } catch (error) {
      throw slice.asError(error);
    }
    this.readers.set(runId, reader);
    return reader;
  }
}
