import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addConstraint, backfill } from '../migration-steps';

/** A workflow is about one thing. That of a run named the run's cluster besides, which the run does by itself. */
export class WorkflowSubjects1795375354925 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const table = 'workflow_jobs';
    await backfill(runner, {
      table,
      key: 'workflow_job_id',
      set: 'cluster_id = NULL',
      where: 't.run_id IS NOT NULL AND t.cluster_id IS NOT NULL',
    });
    await addConstraint(runner, table, 'ck_workflow_jobs_subject', 'CHECK (num_nonnulls(cluster_id, run_id) = 1)');
    await addConstraint(
      runner,
      table,
      'fk_workflow_jobs_run',
      'FOREIGN KEY ("tenant_id", "run_id") REFERENCES "runs"("tenant_id","run_id") ON DELETE NO ACTION ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED',
    );
    await addConstraint(
      runner,
      table,
      'fk_workflow_jobs_cluster',
      'FOREIGN KEY ("tenant_id", "cluster_id") REFERENCES "clusters"("tenant_id","cluster_id") ON DELETE NO ACTION ON UPDATE NO ACTION',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "workflow_jobs" DROP CONSTRAINT "fk_workflow_jobs_cluster"`);
    await runner.query(`ALTER TABLE "workflow_jobs" DROP CONSTRAINT "fk_workflow_jobs_run"`);
    await runner.query(`ALTER TABLE "workflow_jobs" DROP CONSTRAINT "ck_workflow_jobs_subject"`);
    await runner.query(
      `UPDATE "workflow_jobs" j SET "cluster_id" = r."cluster_id" FROM "runs" r WHERE r."run_id" = j."run_id"`,
    );
  }
}
