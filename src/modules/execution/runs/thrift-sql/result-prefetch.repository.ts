import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, prepared, returning, type Tx } from '../../../../platform/kernel/persistence/sql';
import type { PrefetchedResult } from './entities/prefetched-result.entity';

/** Bounds the rows of one run, because a job can send any number of prefetched answers. */
const MAX_PER_RUN = 1_000;

/** A prefetched answer: the key of its fetch, and the range of its frames. */
export interface PrefetchedAnswer {
  call_id: string;
  key: string;
  first: number;
  last: number;
}

/** Stores the prefetched answers of SQL servers. */
@Injectable()
export class ResultPrefetchRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds answers up to the maximum of the run, and drops the rest. */
  async add(tx: Tx, runId: number, answers: readonly PrefetchedAnswer[]): Promise<void> {
    await tx.query(
      prepared(
        `INSERT INTO thrift_answers_ahead (run_id, call_id, key, first, last)
         SELECT $1, a.call_id, a.key, a.first, a.last
         FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS a (call_id, key, first, last, place)
         WHERE a.place <= ${MAX_PER_RUN} - (SELECT count(*) FROM thrift_answers_ahead WHERE run_id = $1)
         ON CONFLICT (run_id, call_id) DO NOTHING`,
      ),
      [
        runId,
        answers.map(({ call_id }) => call_id),
        answers.map(({ key }) => key),
        answers.map(({ first }) => first),
        answers.map(({ last }) => last),
      ],
    );
  }

  /** Marks calls whose answers must not be returned. */
  async refuse(tx: Tx, runId: number, callIds: readonly string[]): Promise<void> {
    await tx.query(
      prepared(
        `INSERT INTO thrift_answers_ahead (run_id, call_id)
         SELECT $1, c.call_id FROM unnest($2::text[]) WITH ORDINALITY AS c (call_id, place)
         WHERE c.place <= ${MAX_PER_RUN} - (SELECT count(*) FROM thrift_answers_ahead WHERE run_id = $1)
         ON CONFLICT (run_id, call_id) DO NOTHING`,
      ),
      [runId, callIds],
    );
  }

  /** Returns the oldest unclaimed answer with the key. */
  async oldest(runId: number, key: string): Promise<PrefetchedAnswer | null> {
    return firstRow<PrefetchedAnswer>(
      this.dataSource.manager,
      prepared(
        `SELECT call_id, key, first, last FROM thrift_answers_ahead WHERE run_id = $1 AND key = $2 AND NOT claimed
         ORDER BY first LIMIT 1`,
      ),
      [runId, key],
    );
  }

  /**
   * Claims an answer; returns null if another request has claimed it. `left` counts the unclaimed answers with the same key,
   * `unacknowledged` the claims that the run does not know yet.
   */
  async claim(
    runId: number,
    { call_id, key }: PrefetchedAnswer,
  ): Promise<{ left: number; unacknowledged: number } | null> {
    const [counted] = await returning<{ left: number; unacknowledged: number }>(
      this.dataSource.manager,
      prepared(
        `UPDATE thrift_answers_ahead SET claimed = true WHERE run_id = $1 AND call_id = $2 AND NOT claimed
         RETURNING
           (SELECT count(*) FILTER (WHERE NOT claimed) FROM thrift_answers_ahead WHERE run_id = $1 AND key = $3)::int - 1 AS left,
           (SELECT count(*) FILTER (WHERE claimed) FROM thrift_answers_ahead WHERE run_id = $1 AND key = $3)::int + 1 AS unacknowledged`,
      ),
      [runId, call_id, key],
    );
    return counted ?? null;
  }

  /** Deletes the claimed answers and returns their ids. */
  async deleteClaimed(tx: Tx, runId: number): Promise<string[]> {
    return idsOf(
      await returning(
        tx,
        prepared('DELETE FROM thrift_answers_ahead WHERE run_id = $1 AND claimed RETURNING call_id'),
        [runId],
      ),
    );
  }

  /** Deletes unclaimed answers and returns the ids of those that existed. */
  async remove(tx: Tx, runId: number, callIds: readonly string[]): Promise<Set<string>> {
    return new Set(
      idsOf(
        await returning(
          tx,
          prepared(
            `DELETE FROM thrift_answers_ahead WHERE run_id = $1 AND call_id = ANY($2) AND key IS NOT NULL AND NOT claimed
             RETURNING call_id`,
          ),
          [runId, callIds],
        ),
      ),
    );
  }

  /** Returns true if the answer to a call must not be returned, and removes the mark. */
  async takeRefusal(runId: number, callId: string): Promise<boolean> {
    const marks = await returning<Pick<PrefetchedResult, 'call_id'>>(
      this.dataSource.manager,
      prepared('DELETE FROM thrift_answers_ahead WHERE run_id = $1 AND call_id = $2 AND key IS NULL RETURNING call_id'),
      [runId, callId],
    );
    return marks.length > 0;
  }
}

function idsOf(answers: readonly Pick<PrefetchedResult, 'call_id'>[]): string[] {
  return answers.map(({ call_id }) => call_id);
}
