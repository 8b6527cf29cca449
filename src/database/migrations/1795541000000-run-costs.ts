import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from '../migration-steps';

/** Shares of runs in the ledger are summed up by day. */
export class RunCosts1795541000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE IF NOT EXISTS "run_cost_days" ("run_id" bigint NOT NULL, "usage_date" date NOT NULL, "tenant_id" uuid NOT NULL, "workspace_id" bigint NOT NULL, "cluster_id" bigint NOT NULL, "user_id" bigint, "is_only_day" boolean NOT NULL, "share_ms" bigint NOT NULL, "ycu_ms" numeric NOT NULL, CONSTRAINT "pk_run_cost_days" PRIMARY KEY ("run_id", "usage_date"))`,
    );
    await runner.query(
      `CREATE INDEX IF NOT EXISTS "ix_run_cost_days_long" ON "run_cost_days"  ("tenant_id", "usage_date") WHERE NOT is_only_day`,
    );
    await runner.query(
      `CREATE INDEX IF NOT EXISTS "ix_run_cost_days_workspace" ON "run_cost_days"  ("workspace_id", "usage_date", "ycu_ms", "run_id") WHERE is_only_day`,
    );
    await runner.query(
      `CREATE INDEX IF NOT EXISTS "ix_run_cost_days_tenant" ON "run_cost_days"  ("tenant_id", "usage_date", "ycu_ms", "run_id") WHERE is_only_day`,
    );
    await runner.query(
      `CREATE TABLE IF NOT EXISTS "cost_days" ("tenant_id" uuid NOT NULL, "usage_date" date NOT NULL, "workspace_id" bigint NOT NULL, "cluster_id" bigint NOT NULL, "user_id" bigint NOT NULL, "share_ms" bigint NOT NULL, "ycu_ms" numeric NOT NULL, CONSTRAINT "pk_cost_days" PRIMARY KEY ("tenant_id", "usage_date", "workspace_id", "cluster_id", "user_id"))`,
    );
    await runner.query(`ALTER TABLE "runs" ADD IF NOT EXISTS "is_cost_summed" boolean NOT NULL DEFAULT false`);
    await createIndex(runner, {
      name: 'ix_runs_unsummed',
      definition: `ON "runs"  ("tenant_id", "run_id") WHERE assigned_at IS NOT NULL AND NOT is_cost_summed`,
    });
    await createIndex(runner, {
      name: 'ix_ledger_entries_node',
      definition: `ON "ledger_entries"  ("node_id", "ended_at") `,
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_ledger_entries_node"`);
    await runner.query(`DROP INDEX "public"."ix_runs_unsummed"`);
    await runner.query(`ALTER TABLE "runs" DROP COLUMN "is_cost_summed"`);
    await runner.query(`DROP TABLE "cost_days"`);
    await runner.query(`DROP TABLE "run_cost_days"`);
  }
}
