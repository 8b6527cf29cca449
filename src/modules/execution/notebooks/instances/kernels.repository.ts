import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  finds,
  firstRow,
  jsonb,
  Params,
  prepared,
  returning,
  rows,
  type Tx,
} from '../../../../platform/kernel/persistence/sql';
import type { Retention } from '../../../../platform/background/workflows/retention';
import type { Run } from '../../runs';
import type { KernelClientPosition } from './entities/kernel-client.entity';
import type { KernelRequest } from './entities/kernel-request.entity';
import type { Kernel } from './entities/kernel.entity';
import type { StoredKernelState } from './kernel-state';

/** Number of answered requests that are remembered for each instance. */
const MAX_ANSWERED_REQUESTS = 10_000;
/** Number of sessions whose positions are remembered for each instance. */
const MAX_SESSIONS = 1_000;
/** A socket counts as open for this time after its position was last saved. */
const OPEN_TIMEOUT_SECONDS = 15;

/** SQL: the open sockets of the kernel `k`. */
const OPEN = `FROM kernel_clients s WHERE s.run_id = k.run_id
  AND s.seen_at > platform_now() - interval '${OPEN_TIMEOUT_SECONDS} seconds'`;
const CONNECTIONS = `(SELECT count(*) ${OPEN})`;

/** SQL condition: the kernel `k` has had neither work nor a client for the time, an SQL interval. */
export const isQuiet = (time: string) => `k.state <> 'busy' AND k.last_activity < platform_now() - ${time}
  AND NOT EXISTS (SELECT 1 ${OPEN})`;

const idleSince = (params: Params, minutes: number) =>
  `SELECT r.run_id FROM runs r JOIN kernels k ON k.run_id = r.run_id
   WHERE r.kind = 'notebook' AND r.ended_at IS NULL AND r.status = 'RUNNING' AND NOT k.is_cleared
     AND ${isQuiet(`${params.add(minutes)} * interval '1 minute'`)}`;

/** Requests and positions are kept for an hour after their instance ended, so that clients can still fetch replies. */
export const ENDED_KERNELS: Retention = {
  name: 'ended-kernels',
  retentionDays: 1 / 24,
  intervalMs: 60_000,
  batch: 2,
  rows: [
    {
      ended: `SELECT k.run_id AS id FROM kernels k JOIN runs r ON r.run_id = k.run_id
              WHERE NOT k.is_cleared AND r.ended_at < platform_now() - $1 * interval '1 day'
              ORDER BY k.last_activity FOR UPDATE OF k SKIP LOCKED`,
      statements: [
        'DELETE FROM kernel_requests WHERE run_id = ANY($1)',
        'DELETE FROM kernel_clients WHERE run_id = ANY($1)',
        'UPDATE kernels SET is_cleared = TRUE WHERE run_id = ANY($1)',
      ],
    },
  ],
};

/** A kernel with its number of open sockets. */
export interface KernelRow extends Kernel {
  connections: number;
}

/** The changes of a kernel in a batch of frames. */
export interface KernelUpdate {
  /** Null if the frames contain no state. */
  state: { generation: number; state: StoredKernelState; reason: string | null } | null;
  replies: { msgId: string; reply: Record<string, unknown> | null }[];
}

/** The position of a session in the frames of an instance. */
export type Position = Pick<KernelClientPosition, 'run_id' | 'session_id' | 'delivered'>;

/** Stores kernels, the requests to them, and the positions of their clients. */
@Injectable()
export class KernelsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param revisionId revision of the notebook at the start of the instance */
  async add(tx: Tx, { run_id, tenant_id }: Run, revisionId: number | null): Promise<void> {
    await tx.query(
      'INSERT INTO kernels (run_id, tenant_id, kernel_id, notebook_revision_id) VALUES ($1, $2, gen_random_uuid(), $3)',
      [run_id, tenant_id, revisionId],
    );
  }

  async of(runIds: readonly number[]): Promise<Map<number, KernelRow>> {
    const found = await rows<KernelRow>(
      this.dataSource.manager,
      prepared(`SELECT k.*, ${CONNECTIONS} AS connections FROM kernels k WHERE k.run_id = ANY($1)`),
      [runIds],
    );
    return new Map(found.map((row) => [row.run_id, row]));
  }

  /** Locks the kernel and the status of its instance until `tx` ends. */
  async lock(tx: Tx, runId: number): Promise<(Kernel & Pick<Run, 'status'>) | null> {
    // The run is locked first, in the same order as when its frames are stored.
    const run = await firstRow<Pick<Run, 'status'>>(
      tx,
      prepared('SELECT status FROM runs WHERE run_id = $1 FOR SHARE'),
      [runId],
    );
    const kernel = await firstRow<Kernel>(tx, prepared('SELECT * FROM kernels WHERE run_id = $1 FOR NO KEY UPDATE'), [
      runId,
    ]);
    return run && kernel && { ...kernel, status: run.status };
  }

  async nextGeneration(tx: Tx, runId: number): Promise<number> {
    const [row] = await returning<Pick<Kernel, 'generation'>>(
      tx,
      `UPDATE kernels SET generation = generation + 1, state = 'restarting', reason = NULL, last_activity = platform_now()
       WHERE run_id = $1 RETURNING generation`,
      [runId],
    );
    if (!row) throw new Error(`The instance ${runId} has no kernel`);
    return row.generation;
  }

  /** Records a request to the locked kernel. Returns the recorded state if the kernel was sent the request before. */
  async recordRequest(
    tx: Tx,
    { run_id, generation }: Pick<Kernel, 'run_id' | 'generation'>,
    msgId: string,
  ): Promise<Pick<KernelRequest, 'answered_at' | 'reply'> | null> {
    const known = await firstRow<Pick<KernelRequest, 'answered_at' | 'reply' | 'generation'>>(
      tx,
      prepared('SELECT answered_at, reply, generation FROM kernel_requests WHERE run_id = $1 AND msg_id = $2'),
      [run_id, msgId],
    );
    // A kernel that was started since has not received it.
    if (known && known.generation >= generation) return known;
    await tx.query(
      prepared(
        `WITH kernel AS (
           UPDATE kernels SET requests = requests + 1, last_activity = platform_now() WHERE run_id = $1
           RETURNING requests),
         forgotten AS (
           DELETE FROM kernel_requests WHERE run_id = $1 AND answered_at IS NOT NULL
             AND sequence <= (SELECT requests FROM kernel) - ${MAX_ANSWERED_REQUESTS})
         INSERT INTO kernel_requests (run_id, msg_id, sequence, generation) SELECT $1, $2, requests, $3 FROM kernel
         ON CONFLICT (run_id, msg_id) DO UPDATE SET sequence = excluded.sequence, generation = excluded.generation,
           asked_at = platform_now(), answered_at = NULL, reply = NULL`,
      ),
      [run_id, msgId, generation],
    );
    return null;
  }

  async waiting(tx: Tx, runId: number, limit: number): Promise<number> {
    const row = await firstRow<{ waiting: number }>(
      tx,
      prepared(
        `SELECT count(*) AS waiting
         FROM (SELECT 1 FROM kernel_requests WHERE run_id = $1 AND answered_at IS NULL LIMIT $2) open`,
      ),
      [runId, limit],
    );
    return row?.waiting ?? 0;
  }

  /** Returns the ids of up to `limit` unanswered requests, oldest first. */
  async unanswered(runId: number, limit: number): Promise<string[]> {
    const found = await rows<Pick<KernelRequest, 'msg_id'>>(
      this.dataSource.manager,
      `SELECT msg_id FROM kernel_requests WHERE run_id = $1 AND answered_at IS NULL ORDER BY sequence LIMIT $2`,
      [runId, limit],
    );
    return found.map(({ msg_id }) => msg_id);
  }

  async knownRequests(tx: Tx, runId: number, msgIds: readonly string[]): Promise<Set<string>> {
    if (msgIds.length === 0) return new Set();
    const found = await rows<Pick<KernelRequest, 'msg_id'>>(
      tx,
      prepared('SELECT msg_id FROM kernel_requests WHERE run_id = $1 AND msg_id = ANY($2)'),
      [runId, msgIds],
    );
    return new Set(found.map(({ msg_id }) => msg_id));
  }

  /** Applies an update. The state of an earlier generation is ignored. */
  async applyUpdate(tx: Tx, runId: number, { state, replies }: KernelUpdate): Promise<void> {
    await tx.query(
      prepared(
        `WITH replied AS (
           UPDATE kernel_requests q SET answered_at = platform_now(), reply = a.reply
           FROM jsonb_to_recordset($5) AS a (msg_id text, reply jsonb)
           WHERE q.run_id = $1 AND q.msg_id = a.msg_id AND q.answered_at IS NULL)
         UPDATE kernels SET last_activity = platform_now(),
           generation = greatest(generation, $2),
           state = CASE WHEN $2 >= generation THEN $3 ELSE state END,
           reason = CASE WHEN $2 >= generation THEN $4 ELSE reason END
         WHERE run_id = $1`,
      ),
      [
        runId,
        state?.generation ?? 0,
        state?.state ?? '',
        state?.reason ?? null,
        jsonb(replies.map(({ msgId, reply }) => ({ msg_id: msgId, reply }))),
      ],
    );
  }

  /** Returns the position at which the session resumes. A new session starts after the last frame. */
  async openSession(tx: Tx, runId: number, sessionId: string): Promise<number> {
    await tx.query(
      `DELETE FROM kernel_clients WHERE (run_id, session_id) IN (
         SELECT run_id, session_id FROM kernel_clients WHERE run_id = $1 ORDER BY began_at DESC OFFSET ${MAX_SESSIONS} - 1)`,
      [runId],
    );
    const [row] = await returning<Pick<KernelClientPosition, 'delivered'>>(
      tx,
      `INSERT INTO kernel_clients AS c (run_id, session_id, delivered, seen_at)
       VALUES ($1, $2, coalesce((SELECT last FROM run_frame_logs WHERE run_id = $1), 0), platform_now())
       ON CONFLICT (run_id, session_id) DO UPDATE SET seen_at = platform_now() RETURNING c.delivered`,
      [runId, sessionId],
    );
    return row?.delivered ?? 0;
  }

  /** Saves the positions of clients, and whether their sockets are open. */
  async savePositions(positions: readonly Position[], isOpen: boolean): Promise<void> {
    if (positions.length === 0) return;
    await this.dataSource.manager.query(
      prepared(
        `UPDATE kernel_clients c SET delivered = greatest(c.delivered, p.delivered),
           seen_at = CASE WHEN $4 THEN platform_now() END
         FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS p (run_id, session_id, delivered)
         WHERE c.run_id = p.run_id AND c.session_id = p.session_id`,
      ),
      [
        positions.map(({ run_id }) => run_id),
        positions.map(({ session_id }) => session_id),
        positions.map(({ delivered }) => delivered),
        isOpen,
      ],
    );
  }

  async endedRuns(runIds: readonly number[]): Promise<Set<number>> {
    const found = await rows<Pick<Run, 'run_id'>>(
      this.dataSource.manager,
      prepared('SELECT run_id FROM runs WHERE run_id = ANY($1) AND ended_at IS NOT NULL'),
      [runIds],
    );
    return new Set(found.map(({ run_id }) => run_id));
  }

  /** Returns up to `limit` running instances that have had neither work nor a client for `minutes`. */
  async idle(minutes: number, limit: number): Promise<Pick<Run, 'run_id'>[]> {
    const params = new Params();
    const sql = `${idleSince(params, minutes)} LIMIT ${params.add(limit)}`;
    return rows(this.dataSource.manager, sql, params.values);
  }

  /** Returns a condition that is true if {@link idle} would return an instance. */
  hasIdle(params: Params, minutes: number): string {
    return finds(idleSince(params, minutes));
  }

  async isIdle(tx: Tx, runId: number, minutes: number): Promise<boolean> {
    const found = await rows(
      tx,
      `SELECT 1 FROM kernels k WHERE k.run_id = $1 AND ${isQuiet(`$2 * interval '1 minute'`)}`,
      [runId, minutes],
    );
    return found.length > 0;
  }
}
