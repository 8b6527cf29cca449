import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the agents of nodes say of their load, and of the end that a node or its provider has announced. */
export class NodeLoad1795490000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_cluster_nodes_free"`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "used_cores" integer`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "pending_cores" integer`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "executors" integer`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "load_at" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "idle_since" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "draining" boolean NOT NULL DEFAULT false`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "drained_at" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "interrupted_at" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "interruption" text`);
    await runner.query(
      `CREATE INDEX "ix_cluster_nodes_free" ON "cluster_nodes"  ("cluster_id", "busy_slots", "node_number") WHERE to_date = 'infinity' AND status = 'RUNNING' AND daemons_state = 'ready' AND role <> 'worker' AND NOT draining`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_cluster_nodes_free"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "interruption"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "interrupted_at"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "drained_at"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "draining"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "idle_since"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "load_at"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "executors"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "pending_cores"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "used_cores"`);
    await runner.query(
      `CREATE INDEX "ix_cluster_nodes_free" ON "cluster_nodes"  ("cluster_id", "busy_slots", "node_number") WHERE to_date = 'infinity' AND status = 'RUNNING' AND daemons_state = 'ready' AND role <> 'worker'`,
    );
  }
}
