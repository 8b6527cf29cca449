import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { decodeRecords, encodeRecords, type NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { firstRow, prepared, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import type { EndedOwners, Retention } from '../../../../platform/background/workflows/retention';
import type { RunFrameLog } from './entities/run-frame-log.entity';
import type { RunFrames } from './entities/run-frames.entity';
import type { RunRequestQueue } from './entities/run-request-queue.entity';
import type { RunRequest } from './entities/run-request.entity';
import type { FramedRun } from './frame-consumer';

/** Counted for each batch in addition to its records. */
const BATCH_OVERHEAD_BYTES = 512;
const MAX_BATCHES_PER_READ = 64;
const MAX_REQUESTS_PER_READ = 1_000;
const MAX_BATCHES_PER_DROP = 10_000;

/** Requests and frames are kept for an hour after their run ended, so that readers can still fetch its last frames. */
export const ENDED_CHANNELS: Retention = {
  name: 'ended-channels',
  retentionDays: 1 / 24,
  intervalMs: 60_000,
  // One run can have many megabytes.
  batch: 2,
  rows: [endedOwnersOf('run_request_queues', 'run_requests'), endedOwnersOf('run_frame_logs', 'run_frames')],
};

/** The frame log of a run; its row is locked, so nobody else appends frames. */
export type LockedFrameLog = Pick<RunFrameLog, 'run_id' | 'last' | 'dropped' | 'kept_bytes'>;

/** The last acknowledged request of a run, and the bytes of the requests after it. */
type Unacknowledged = Pick<RunRequestQueue, 'acknowledged' | 'waiting_bytes'>;

/** A run whose row is locked while its frames are stored. */
export type LockedRun = FramedRun & { job_type: string; has_ended: boolean };

/** Stores the requests to runs and the frames from them. */
@Injectable()
export class RunChannelsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the number of the request and what is queued with it. Locks the queue of the run until `tx` ends. */
  async enqueueRequest(
    tx: Tx,
    { run_id, tenant_id }: Pick<FramedRun, 'run_id' | 'tenant_id'>,
    payload: Buffer,
  ): Promise<{ number: number; waiting: number; waiting_bytes: number }> {
    const added = await firstRow<{ number: number; waiting: number; waiting_bytes: number }>(
      tx,
      prepared(
        `WITH queue AS (
           INSERT INTO run_request_queues AS q (run_id, tenant_id, last, waiting_bytes)
           VALUES ($1, $2, 1, octet_length($3::bytea))
           ON CONFLICT (run_id) DO UPDATE
             SET last = q.last + 1, waiting_bytes = q.waiting_bytes + octet_length($3::bytea)
           RETURNING last, acknowledged, waiting_bytes),
         request AS (
           INSERT INTO run_requests (run_id, number, payload) SELECT $1, last, $3 FROM queue)
         SELECT last AS number, last - acknowledged AS waiting, waiting_bytes FROM queue`,
      ),
      [run_id, tenant_id, payload],
    );
    if (!added) throw new Error('The request to a run was not inserted');
    return added;
  }

  /** Returns requests after a number, oldest first: about `maxBytes` of them, but at least one. */
  async requests(
    runId: number,
    after: number,
    maxBytes: number,
  ): Promise<{ requests: NumberedPayload[]; queue: Unacknowledged | null }> {
    const found = await rows<Pick<RunRequest, 'number' | 'payload'> & Unacknowledged>(
      this.dataSource.manager,
      prepared(
        `SELECT r.number, r.payload, q.acknowledged, q.waiting_bytes FROM (
           SELECT number, sum(octet_length(payload)) OVER (ORDER BY number) - octet_length(payload) AS before
           FROM (SELECT number, payload FROM run_requests WHERE run_id = $1 AND number > $2
                 ORDER BY number LIMIT ${MAX_REQUESTS_PER_READ}) oldest) page
         JOIN run_requests r ON r.run_id = $1 AND r.number = page.number
         JOIN run_request_queues q ON q.run_id = r.run_id
         WHERE page.before < $3 ORDER BY r.number`,
      ),
      [runId, after, maxBytes],
    );
    return { requests: found, queue: found[0] ?? null };
  }

  /** Returns null for a run without requests. */
  unacknowledged(runId: number): Promise<Unacknowledged | null> {
    return firstRow(
      this.dataSource.manager,
      prepared('SELECT acknowledged, waiting_bytes FROM run_request_queues WHERE run_id = $1'),
      [runId],
    );
  }

  /** Deletes the requests up to a number, which the node has stored. */
  async acknowledge(tx: Tx, runId: number, number: number): Promise<void> {
    await tx.query(
      prepared(
        `WITH queue AS (SELECT run_id FROM run_request_queues WHERE run_id = $1 FOR NO KEY UPDATE),
         kept AS (
           DELETE FROM run_requests r USING queue WHERE r.run_id = queue.run_id AND r.number <= $2
           RETURNING octet_length(r.payload) AS bytes)
         UPDATE run_request_queues q
         SET acknowledged = greatest(q.acknowledged, least($2, q.last)),
           waiting_bytes = q.waiting_bytes - (SELECT coalesce(sum(bytes), 0) FROM kept)
         FROM queue WHERE q.run_id = queue.run_id`,
      ),
      [runId, number],
    );
  }

  /** Locks the row of the run until `tx` ends. */
  async lockRun(tx: Tx, runId: number): Promise<LockedRun | null> {
    return firstRow<LockedRun>(
      tx,
      prepared(
        `SELECT run_id, tenant_id, workspace_id, job_conf_id, cluster_id, job_conf_snapshot->>'job_type' AS job_type,
           ended_at IS NOT NULL AS has_ended
         FROM runs WHERE run_id = $1 FOR NO KEY UPDATE`,
      ),
      [runId],
    );
  }

  /** Locks the frame log of the run until `tx` ends, and creates it for the first frames. */
  async lockFrameLog(tx: Tx, { run_id, tenant_id }: FramedRun): Promise<LockedFrameLog> {
    const columns = 'run_id, last, dropped, kept_bytes';
    const sql = prepared(`SELECT ${columns} FROM run_frame_logs WHERE run_id = $1 FOR NO KEY UPDATE`);
    const found = await firstRow<LockedFrameLog>(tx, sql, [run_id]);
    if (found) return found;
    await tx.query(`INSERT INTO run_frame_logs (run_id, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
      run_id,
      tenant_id,
    ]);
    const created = await firstRow<LockedFrameLog>(tx, sql, [run_id]);
    if (!created) throw new Error('The frame log of a run was not inserted');
    return created;
  }

  /** Appends frames as one batch; their numbers must follow those of the log. */
  async appendFrames(tx: Tx, log: LockedFrameLog, frames: readonly NumberedPayload[]): Promise<LockedFrameLog> {
    const records = encodeRecords(frames);
    const last = log.last + frames.length;
    const kept_bytes = log.kept_bytes + records.length + BATCH_OVERHEAD_BYTES;
    await tx.query(
      prepared(
        `WITH piece AS (
           INSERT INTO run_frames (run_id, first, last, bytes, records) VALUES ($1, $2, $3, $4, $5))
         UPDATE run_frame_logs SET last = $3, kept_bytes = $6 WHERE run_id = $1`,
      ),
      [log.run_id, log.last + 1, last, records.length, records, kept_bytes],
    );
    return { ...log, last, kept_bytes };
  }

  /** Drops the oldest batches until `targetBytes` are kept, but at most {@link MAX_BATCHES_PER_DROP}. */
  async dropFrames(tx: Tx, { run_id, kept_bytes }: LockedFrameLog, targetBytes: number): Promise<void> {
    await tx.query(
      `WITH old AS (
         SELECT last, sum(bytes + ${BATCH_OVERHEAD_BYTES}) OVER (ORDER BY last) - bytes - ${BATCH_OVERHEAD_BYTES} AS before
         FROM (SELECT last, bytes FROM run_frames WHERE run_id = $1 ORDER BY last LIMIT ${MAX_BATCHES_PER_DROP}) oldest),
       gone AS (
         DELETE FROM run_frames f USING old WHERE f.run_id = $1 AND f.last = old.last AND old.before < $2
         RETURNING f.last, f.bytes + ${BATCH_OVERHEAD_BYTES} AS bytes)
       UPDATE run_frame_logs SET
         dropped = greatest(dropped, (SELECT coalesce(max(last), 0) FROM gone)),
         kept_bytes = kept_bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)
       WHERE run_id = $1`,
      [run_id, kept_bytes - targetBytes],
    );
  }

  /** Returns frames after a number, oldest first: about `maxBytes` of them, but at least one batch. */
  async frames(
    runId: number,
    after: number,
    maxBytes: number,
  ): Promise<{ frames: NumberedPayload[]; log: Pick<RunFrameLog, 'last' | 'dropped'> }> {
    const found = await rows<Pick<RunFrameLog, 'last' | 'dropped'> & { records: Buffer | null }>(
      this.dataSource.manager,
      prepared(
        `SELECT l.last, l.dropped, f.records FROM run_frame_logs l
         LEFT JOIN LATERAL (
           SELECT last, sum(bytes) OVER (ORDER BY last) - bytes AS before
           FROM (SELECT last, bytes FROM run_frames WHERE run_id = l.run_id AND last > $2 ORDER BY last LIMIT ${MAX_BATCHES_PER_READ}) oldest
         ) page ON page.before < $3
         LEFT JOIN run_frames f ON f.run_id = l.run_id AND f.last = page.last
         WHERE l.run_id = $1 ORDER BY page.last`,
      ),
      [runId, after, maxBytes],
    );
    const [first] = found;
    if (!first) return { frames: [], log: { last: 0, dropped: 0 } };
    const frames = found.flatMap(({ records }) => (records === null ? [] : decodeRecords(records)));
    return { frames: frames.filter(({ number }) => number > after), log: first };
  }

  /** Returns the kept frames of an inclusive range, or none if their batches exceed `maxBytes`. */
  async framesBetween(
    runId: number,
    { first, last }: { first: number; last: number },
    maxBytes: number,
  ): Promise<NumberedPayload[]> {
    const found = await rows<Pick<RunFrames, 'records'>>(
      this.dataSource.manager,
      prepared(
        `WITH pieces AS (
           SELECT last, sum(bytes) OVER () AS whole FROM run_frames WHERE run_id = $1 AND last >= $2 AND first <= $3)
         SELECT f.records FROM pieces p JOIN run_frames f ON f.run_id = $1 AND f.last = p.last
         WHERE p.whole <= $4 ORDER BY f.last`,
      ),
      [runId, first, last, maxBytes],
    );
    const frames = found.flatMap(({ records }) => decodeRecords(records));
    return frames.filter(({ number }) => number >= first && number <= last);
  }

  async endedRuns(runIds: readonly number[]): Promise<number[]> {
    const found = await rows<Pick<FramedRun, 'run_id'>>(
      this.dataSource.manager,
      prepared('SELECT run_id FROM runs WHERE run_id = ANY($1) AND ended_at IS NOT NULL'),
      [runIds],
    );
    return found.map(({ run_id }) => run_id);
  }

  /** Returns the number of the last frame by run id, without runs that have sent none. */
  async lastFrames(runIds: readonly number[]): Promise<Map<number, number>> {
    const found = await rows<Pick<RunFrameLog, 'run_id' | 'last'>>(
      this.dataSource.manager,
      'SELECT run_id, last FROM run_frame_logs WHERE run_id = ANY($1)',
      [runIds],
    );
    return new Map(found.map(({ run_id, last }) => [run_id, last]));
  }
}

/** Deletes one direction of the channels of ended runs: the payloads and the rows that count them. */
function endedOwnersOf(counted: string, kept: string): EndedOwners {
  return {
    ended: `SELECT c.run_id AS id FROM ${counted} c JOIN runs r ON r.run_id = c.run_id
            WHERE r.ended_at < platform_now() - $1 * interval '1 day' ORDER BY c.run_id FOR UPDATE OF c SKIP LOCKED`,
    statements: [kept, counted].map((table) => `DELETE FROM ${table} WHERE run_id = ANY($1)`),
  };
}
