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

/** Reading a log of 100 MiB takes a fraction of a second of CPU in this process, and as much in the log store. */
const READING = {
  code: 'JOB.METRICS_BUSY',
  maxConcurrent: 4,
  maxQueued: 64,
  maxQueuedPerParty: 16,
  queueTimeoutMs: 10_000,
};
/** Readers of recently requested logs are kept, so that the next request reads only what was appended. */
const READER_CACHE = { max: 64, ttl: 10 * 60_000 };

/** Metrics of the Spark application of a run, read from its event log. */
@Injectable()
export class RunMetricsService {
  private readonly readers = new LRUCache<number, EventLogReader>(READER_CACHE);
  /** Reads in progress, by run. A log has one reader at a time. */
  private readonly reading = new Map<number, Promise<EventLogReader>>();
  private readonly bulkhead = new FairBulkhead(READING);

  constructor(
    private readonly runs: RunsRepository,
    private readonly logs: LogsService,
  ) {}

  async metrics(scope: WorkspaceScope, jobId: number): Promise<JobMetrics> {
    const run = await this.runs.get({ ...scope, kind: JOB }, { id: jobId });
    // The log of a finished run is complete.
    const isOver = isFinished(run.status);
    const reader = await this.upToDate(scope.tenantId, run.run_id);
    return { job_id: run.run_id, job_application_id: run.application_id, ...reader.metrics(isOver) };
  }

  /** Returns a reader that has read at least everything the log held when this was called. */
  private async upToDate(tenantId: string, runId: number): Promise<EventLogReader> {
    // A read in progress may have opened the log before this call, so it can miss the end.
    await this.reading.get(runId)?.catch(() => undefined);
    const current = this.reading.get(runId);
    if (current) return current;
    const read = this.bulkhead
      .run(tenantId, () => this.continueReading(runId))
      .finally(() => this.reading.delete(runId));
    this.reading.set(runId, read);
    return read;
  }

  private async continueReading(runId: number): Promise<EventLogReader> {
    const known = this.readers.get(runId);
    const slice = await this.logs.open({ kind: 'run', id: runId, stream: 'events' }, { offset: known?.offset ?? 0 });
    // A shorter log was removed by retention, so reading starts over.
    const isSame = known && slice.nextOffset - (slice.sizeBytes ?? 0) === known.offset;
    const reader = isSame ? known : new EventLogReader();
    // If reading fails, the next request starts over.
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
