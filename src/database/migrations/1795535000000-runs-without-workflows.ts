import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addConstraint, deleteInPieces, requireThisRelease } from '../migration-steps';

/** Rows of the workflows of runs, those that refer to others first. */
const OF_RUNS = [
  ['workflow_steps', 'workflow_step_id', 'workflow_job_instance_id'],
  ['workflow_job_instance_states', 'workflow_job_instance_state_id', 'workflow_job_instance_id'],
  ['workflow_job_instances', 'workflow_job_instance_id', 'workflow_job_instance_id'],
] as const;

/** No worker drives the start and the stop of a run: what answers say of them as workflows, the run says itself. */
export class RunsWithoutWorkflows1795535000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Processes of the release before find no run without its workflow.
    await requireThisRelease(runner, RunsWithoutWorkflows1795535000000);
    // The steps may be repeated: a try before this one may have got to the end.
    if (await hasColumn(runner, 'workflow_jobs', 'run_id')) {
      for (const [table, key, instance] of OF_RUNS) {
        await deleteInPieces(runner, {
          table,
          key,
          where: `EXISTS (SELECT 1 FROM workflow_job_instances i JOIN workflow_jobs j USING (workflow_job_id)
            WHERE i.workflow_job_instance_id = t.${instance} AND j.run_id IS NOT NULL)`,
        });
      }
      await deleteInPieces(runner, { table: 'workflow_jobs', key: 'workflow_job_id', where: 't.run_id IS NOT NULL' });
    }
    // The index and the constraints of the column go with it.
    await runner.query(`ALTER TABLE "workflow_jobs" DROP COLUMN IF EXISTS "run_id"`);
    await addConstraint(runner, 'workflow_jobs', 'ck_workflow_jobs_subject', 'CHECK (num_nonnulls(cluster_id) = 1)');
    await runner.query(`ALTER TABLE "runs" DROP COLUMN IF EXISTS "stop_workflow_job_instance_id"`);
  }

  /** The workflows of runs that have ended are gone for good. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "runs" ADD "stop_workflow_job_instance_id" bigint`);
    await runner.query(`ALTER TABLE "workflow_jobs" ADD "run_id" bigint`);
    await runner.query(`CREATE INDEX "ix_workflow_jobs_run" ON "workflow_jobs" ("run_id")`);
    await addConstraint(
      runner,
      'workflow_jobs',
      'ck_workflow_jobs_subject',
      'CHECK (num_nonnulls(cluster_id, run_id) = 1)',
    );
    await addConstraint(
      runner,
      'workflow_jobs',
      'fk_workflow_jobs_run',
      'FOREIGN KEY ("tenant_id", "run_id") REFERENCES "runs"("tenant_id","run_id") ON DELETE NO ACTION ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED',
    );
  }
}

async function hasColumn(runner: QueryRunner, table: string, column: string): Promise<boolean> {
  const found: unknown = await runner.query(
    `SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 AND column_name = $2`,
    [table, column],
  );
  return Array.isArray(found) && found.length > 0;
}
