import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from '../migration-steps';

const HISTORIES = ['run_states', 'cluster_states', 'node_states'];

/** Entries of histories name their transaction, so that streams of events find those that were committed since. */
export class Events1795539000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of HISTORIES) {
      await runner.query(`ALTER TABLE "${table}" ADD IF NOT EXISTS "xact_id" bigint`);
      // Only new entries get a value, so that no row is rewritten.
      await runner.query(`ALTER TABLE "${table}" ALTER "xact_id" SET DEFAULT ((pg_current_xact_id())::text)::bigint`);
      await createIndex(runner, { name: `ix_${table}_xact`, definition: `ON "${table}"  ("xact_id") ` });
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of HISTORIES) {
      await runner.query(`DROP INDEX "public"."ix_${table}_xact"`);
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "xact_id"`);
    }
  }
}
