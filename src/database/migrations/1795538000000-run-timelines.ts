import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from '../migration-steps';

/** Histories of runs say the step, and those of clusters and nodes are read for the time of a run. */
export class RunTimelines1795538000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "run_states" ADD IF NOT EXISTS "step" text`);
    await createIndex(runner, {
      name: 'ix_cluster_states_time',
      definition: `ON "cluster_states"  ("cluster_id", "start_time") `,
    });
    await createIndex(runner, {
      name: 'ix_node_states_time',
      definition: `ON "node_states"  ("cluster_id", "start_time") `,
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_node_states_time"`);
    await runner.query(`DROP INDEX "public"."ix_cluster_states_time"`);
    await runner.query(`ALTER TABLE "run_states" DROP COLUMN "step"`);
  }
}
