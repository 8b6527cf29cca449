import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from '../migration-steps';

/** Intervals of the ledger are listed by tenant and by cluster, and found by a moment within them. */
export class LedgerIntervals1795543000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndex(runner, {
      name: 'ix_ledger_entries_tenant_began',
      definition: `ON "ledger_entries"  ("tenant_id", "began_at", "node_state_id") `,
    });
    await createIndex(runner, {
      name: 'ix_ledger_entries_cluster_began',
      definition: `ON "ledger_entries"  ("cluster_id", "began_at", "node_state_id") `,
    });
    // A stay counts nothing if it ended before it began, and is no range then.
    await createIndex(runner, {
      name: 'ix_ledger_entries_time',
      definition: `ON "ledger_entries" USING gist (tstzrange("began_at", "ended_at")) WHERE began_at < ended_at`,
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const index of ['time', 'cluster_began', 'tenant_began'])
      await runner.query(`DROP INDEX "public"."ix_ledger_entries_${index}"`);
  }
}
