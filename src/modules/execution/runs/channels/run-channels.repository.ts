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

/** What the rows of a piece cost besides its records; bytes. */
const PIECE_COST = 512;
/** Most pieces that are read at once. */
const PIECES = 64;
/** Most requests that are read at once. */
const REQUESTS = 1_000;
/** Most pieces that one statement drops. */
const DROPPED_PIECES = 10_000;

/** Requests and frames of runs that ended an hour ago: until then readers may still fetch what a run said last. */
export const ENDED_CHANNELS: Retention = {
  name: 'ended-channels',
  retentionDays: 1 / 24,
  intervalMs: 60_000,
  // Much may be kept of one run.
  batch: 2,
  rows: [ofEnded('run_request_queues', 'run_requests'), ofEnded('run_frame_logs', 'run_frames')],
};

/** How far the frames of a run have come, while nobody adds any. */
export type LockedFrames = Pick<RunFrameLog, 'run_id' | 'last' | 'dropped' | 'kept_bytes'>;

/** How many requests of a run are not known to be with its node. */
type Unacknowledged = Pick<RunRequestQueue, 'acknowledged' | 'waiting_bytes'>;

/** A run as it is while frames of it are stored. */
export type RunOfFrames = FramedRun & { job_type: string; has_ended: boolean };

/** Requests and frames, bounded. */
@Injectable()
export class RunChannelsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds a request; its number, and what waits then. Until `tx` ends, no other request is added. */
  async addRequest(
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
    if (!added) throw new Error('The request of a run was not added');
    return added;
  }

  /** Requests behind a number, the oldest first, at most about so many bytes but one at least; and what waited before. */
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
                 ORDER BY number LIMIT ${REQUESTS}) oldest) page
         JOIN run_requests r ON r.run_id = $1 AND r.number = page.number
         JOIN run_request_queues q ON q.run_id = r.run_id
         WHERE page.before < $3 ORDER BY r.number`,
      ),
      [runId, after, maxBytes],
    );
    return { requests: found, queue: found[0] ?? null };
  }

  /** What is not known to be with the node; null for a run that was asked nothing. */
  unacknowledged(runId: number): Promise<Unacknowledged | null> {
    return firstRow(
      this.dataSource.manager,
      prepared('SELECT acknowledged, waiting_bytes FROM run_request_queues WHERE run_id = $1'),
      [runId],
    );
  }

  /** Forgets the requests up to a number, which the node has kept. */
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

  /** The run that frames are from, which until `tx` ends nobody else changes. */
  async lockRun(tx: Tx, runId: number): Promise<RunOfFrames | null> {
    return firstRow<RunOfFrames>(
      tx,
      prepared(
        `SELECT run_id, tenant_id, workspace_id, job_conf_id, cluster_id, job_conf_snapshot->>'job_type' AS job_type,
           ended_at IS NOT NULL AS has_ended
         FROM runs WHERE run_id = $1 FOR NO KEY UPDATE`,
      ),
      [runId],
    );
  }

  /** Until `tx` ends, nobody else adds frames of the run. */
  async lockFrames(tx: Tx, { run_id, tenant_id }: FramedRun): Promise<LockedFrames> {
    const columns = 'run_id, last, dropped, kept_bytes';
    const sql = prepared(`SELECT ${columns} FROM run_frame_logs WHERE run_id = $1 FOR NO KEY UPDATE`);
    const found = await firstRow<LockedFrames>(tx, sql, [run_id]);
    if (found) return found;
    await tx.query(`INSERT INTO run_frame_logs (run_id, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
      run_id,
      tenant_id,
    ]);
    const made = await firstRow<LockedFrames>(tx, sql, [run_id]);
    if (!made) throw new Error('There is no log for the frames of a run');
    return made;
  }

  /** Adds frames, which follow those of the log. */
  async addFrames(tx: Tx, log: LockedFrames, frames: readonly NumberedPayload[]): Promise<LockedFrames> {
    const records = encodeRecords(frames);
    const last = log.last + frames.length;
    const kept_bytes = log.kept_bytes + records.length + PIECE_COST;
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

  /** Drops the oldest pieces until no more than so many bytes are kept, or as many pieces as one statement may. */
  async dropFrames(tx: Tx, { run_id, kept_bytes }: LockedFrames, keptBytes: number): Promise<void> {
    await tx.query(
      `WITH old AS (
         SELECT last, sum(bytes + ${PIECE_COST}) OVER (ORDER BY last) - bytes - ${PIECE_COST} AS before
         FROM (SELECT last, bytes FROM run_frames WHERE run_id = $1 ORDER BY last LIMIT ${DROPPED_PIECES}) oldest),
       gone AS (
         DELETE FROM run_frames f USING old WHERE f.run_id = $1 AND f.last = old.last AND old.before < $2
         RETURNING f.last, f.bytes + ${PIECE_COST} AS bytes)
       UPDATE run_frame_logs SET
         dropped = greatest(dropped, (SELECT coalesce(max(last), 0) FROM gone)),
         kept_bytes = kept_bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)
       WHERE run_id = $1`,
      [run_id, kept_bytes - keptBytes],
    );
  }

  /** Frames behind a number, the oldest first, at most about so many bytes but one piece at least. */
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
           FROM (SELECT last, bytes FROM run_frames WHERE run_id = l.run_id AND last > $2 ORDER BY last LIMIT ${PIECES}) oldest
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

  /** Frames from one number to another, as far as they are kept; none when their pieces have more than so many bytes. */
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

  /** Which of the runs have ended. */
  async ended(runIds: readonly number[]): Promise<number[]> {
    const found = await rows<Pick<FramedRun, 'run_id'>>(
      this.dataSource.manager,
      prepared('SELECT run_id FROM runs WHERE run_id = ANY($1) AND ended_at IS NOT NULL'),
      [runIds],
    );
    return found.map(({ run_id }) => run_id);
  }

  /** How many frames the runs have said, of those that have said any. */
  async lastFrames(runIds: readonly number[]): Promise<Map<number, number>> {
    const found = await rows<Pick<RunFrameLog, 'run_id' | 'last'>>(
      this.dataSource.manager,
      'SELECT run_id, last FROM run_frame_logs WHERE run_id = ANY($1)',
      [runIds],
    );
    return new Map(found.map(({ run_id, last }) => [run_id, last]));
  }
}

/** Removes what is kept of one direction, and the rows that count it. */
function ofEnded(counted: string, kept: string): EndedOwners {
  return {
    ended: `SELECT c.run_id AS id FROM ${counted} c JOIN runs r ON r.run_id = c.run_id
            WHERE r.ended_at < platform_now() - $1 * interval '1 day' ORDER BY c.run_id FOR UPDATE OF c SKIP LOCKED`,
    statements: [kept, counted].map((table) => `DELETE FROM ${table} WHERE run_id = ANY($1)`),
  };
}
