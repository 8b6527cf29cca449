import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LogPieces1795375946886 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "logs_settled" boolean NOT NULL DEFAULT false`);
    await runner.query(`ALTER TABLE "runs" ADD "logs_settled" boolean NOT NULL DEFAULT false`);
    await runner.query(`CREATE INDEX "ix_cluster_nodes_logs" ON "cluster_nodes"  ("to_date") WHERE logs_kept`);
    await runner.query(`CREATE INDEX "ix_runs_logs" ON "runs"  ("ended_at") WHERE logs_kept AND ended_at IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_runs_logs"`);
    await runner.query(`DROP INDEX "public"."ix_cluster_nodes_logs"`);
    await runner.query(`ALTER TABLE "runs" DROP COLUMN "logs_settled"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "logs_settled"`);
  }
}
