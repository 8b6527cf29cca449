import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, prepared, returning, type Tx } from '../../../../platform/kernel/persistence/sql';
import type { ThriftAnswerAhead } from './entities/thrift-answer-ahead.entity';

/** Most rows of one run, which a job could add without end. */
const MAX_PER_RUN = 1_000;

/** Where an answer is that has come ahead, and what it answers. */
export interface NewAnswer {
  call_id: string;
  key: string;
  first: number;
  last: number;
}

/** Answers that have come ahead of being asked for. */
@Injectable()
export class ResultPrefetchRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds answers to those of a run, as many as there is room for. */
  async add(tx: Tx, runId: number, answers: readonly NewAnswer[]): Promise<void> {
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

  /** Marks calls whose answers must not be given. */
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

  /** The oldest answer with a key that nobody has got. */
  async oldest(runId: number, key: string): Promise<NewAnswer | null> {
    return firstRow<NewAnswer>(
      this.dataSource.manager,
      prepared(
        `SELECT call_id, key, first, last FROM thrift_answers_ahead WHERE run_id = $1 AND key = $2 AND NOT claimed
         ORDER BY first LIMIT 1`,
      ),
      [runId, key],
    );
  }

  /** Takes an answer, unless somebody has got it; how many are left with its key, and how many of them the run takes for unclaimed. */
  async claim(runId: number, { call_id, key }: NewAnswer): Promise<{ left: number; unsettled: number } | null> {
    const [counted] = await returning<{ left: number; unsettled: number }>(
      this.dataSource.manager,
      prepared(
        `UPDATE thrift_answers_ahead SET claimed = true WHERE run_id = $1 AND call_id = $2 AND NOT claimed
         RETURNING
           (SELECT count(*) FILTER (WHERE NOT claimed) FROM thrift_answers_ahead WHERE run_id = $1 AND key = $3)::int - 1 AS left,
           (SELECT count(*) FILTER (WHERE claimed) FROM thrift_answers_ahead WHERE run_id = $1 AND key = $3)::int + 1 AS unsettled`,
      ),
      [runId, call_id, key],
    );
    return counted ?? null;
  }

  /** Forgets the answers that were claimed; their ids. */
  async settle(tx: Tx, runId: number): Promise<string[]> {
    return idsOf(
      await returning(
        tx,
        prepared('DELETE FROM thrift_answers_ahead WHERE run_id = $1 AND claimed RETURNING call_id'),
        [runId],
      ),
    );
  }

  /** Removes answers that nobody has got; the ids of those that were there. */
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

  /** Whether the answer to a call must not be given; the mark is removed. */
  async isRefused(runId: number, callId: string): Promise<boolean> {
    const marks = await returning<Pick<ThriftAnswerAhead, 'call_id'>>(
      this.dataSource.manager,
      prepared('DELETE FROM thrift_answers_ahead WHERE run_id = $1 AND call_id = $2 AND key IS NULL RETURNING call_id'),
      [runId, callId],
    );
    return marks.length > 0;
  }
}

function idsOf(answers: readonly Pick<ThriftAnswerAhead, 'call_id'>[]): string[] {
  return answers.map(({ call_id }) => call_id);
}
