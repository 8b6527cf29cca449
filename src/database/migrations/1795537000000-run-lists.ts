import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from '../migration-steps';

const INDEXES: Readonly<Record<string, string>> = {
  ix_runs_list: `("tenant_id", "from_date", "run_id") `,
  ix_runs_submitted: `("workspace_id", "from_date", "run_id") `,
  ix_runs_author: `("created_by_user_id", "from_date", "run_id") `,
  ix_runs_cluster: `("cluster_id", "from_date", "run_id") `,
  ix_runs_unfinished: `("workspace_id", "from_date", "run_id") WHERE ended_at IS NULL`,
  ix_runs_failed: `("workspace_id", "from_date", "run_id") WHERE ended_at IS NOT NULL AND reason_code IS DISTINCT FROM 'COMPLETED'`,
  ix_runs_started: `("workspace_id", "assigned_at", "run_id") WHERE assigned_at IS NOT NULL`,
  ix_runs_unusual: `("workspace_id", "from_date", "run_id") WHERE job_conf_snapshot->>'job_type' <> 'SPARK_JOB'`,
  ix_runs_duration: `("workspace_id", (ended_at - assigned_at), "run_id") WHERE ended_at IS NOT NULL AND assigned_at IS NOT NULL`,
};

/** Runs are listed across workspaces. */
export class RunLists1795537000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await createIndex(runner, { name, definition: `ON "runs"  ${columns}` });
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await runner.query(`DROP INDEX "public"."${name}"`);
  }
}
