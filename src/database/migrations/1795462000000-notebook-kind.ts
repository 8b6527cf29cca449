import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addConstraint, createIndex } from '../migration-steps';

export class NotebookKind1795462000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['job_confs', 'runs']) {
      await runner.query(`ALTER TABLE "${table}" ADD IF NOT EXISTS "kind" text NOT NULL DEFAULT 'job'`);
      await addConstraint(runner, table, `ck_${table}_kind`, `CHECK (kind IN ('job', 'notebook'))`);
    }
    await createIndex(runner, {
      name: 'uq_job_confs_name',
      unique: true,
      definition: `ON "job_confs"  ("workspace_id", "kind", "name") WHERE to_date = 'infinity'`,
    });
    await createIndex(runner, {
      name: 'ix_job_confs_list',
      definition: `ON "job_confs"  ("tenant_id", "workspace_id", "kind", "job_conf_id", "name") WHERE deleted_at IS NULL`,
    });
    await createIndex(runner, {
      name: 'ix_runs_workspace',
      definition: `ON "runs"  ("workspace_id", "kind", "run_id") `,
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_runs_workspace"`);
    await runner.query(`CREATE INDEX "ix_runs_workspace" ON "runs"  ("workspace_id", "run_id") `);
    await runner.query(`DROP INDEX "public"."ix_job_confs_list"`);
    await runner.query(
      `CREATE INDEX "ix_job_confs_list" ON "job_confs"  ("tenant_id", "workspace_id", "job_conf_id", "name") WHERE deleted_at IS NULL`,
    );
    await runner.query(`DROP INDEX "public"."uq_job_confs_name"`);
    await runner.query(
      `CREATE UNIQUE INDEX "uq_job_confs_name" ON "job_confs"  ("workspace_id", "name") WHERE to_date = 'infinity'`,
    );
    for (const table of ['runs', 'job_confs']) {
      await runner.query(`ALTER TABLE "${table}" DROP CONSTRAINT "ck_${table}_kind"`);
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "kind"`);
    }
  }
}
