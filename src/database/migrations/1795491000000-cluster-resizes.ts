import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ClusterResizes1795491000000 implements MigrationInterface {
  name = 'ClusterResizes1795491000000';

  public async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "cluster_nodes" ADD "replacement" boolean NOT NULL DEFAULT false`);
    await queryRunner.query(`ALTER TABLE "cluster_nodes" ADD "drain_until" TIMESTAMP WITH TIME ZONE`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "resize_instance_id" bigint`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "grow_after" TIMESTAMP WITH TIME ZONE`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "grow_failures" integer NOT NULL DEFAULT '0'`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "spot_missing_since" TIMESTAMP WITH TIME ZONE`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "node_start_ms" integer`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "recent_run_ms" double precision`);
    await queryRunner.query(`ALTER TABLE "clusters" ADD "spare_worker_since" TIMESTAMP WITH TIME ZONE`);
    await queryRunner.query(
      `CREATE INDEX "ix_cluster_nodes_replacements" ON "cluster_nodes" ("cluster_id", "from_date") WHERE replacement`,
    );
    // Nodes that run and have nothing to do are idle from now on, so that they can be given up.
    await queryRunner.query(
      `UPDATE cluster_nodes SET idle_since = platform_now()
       WHERE status = 'RUNNING' AND to_date = 'infinity' AND role <> 'worker' AND busy_slots = 0`,
    );
  }

  public async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX "public"."ix_cluster_nodes_replacements"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "spare_worker_since"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "recent_run_ms"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "node_start_ms"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "spot_missing_since"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "grow_failures"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "grow_after"`);
    await queryRunner.query(`ALTER TABLE "clusters" DROP COLUMN "resize_instance_id"`);
    await queryRunner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "drain_until"`);
    await queryRunner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "replacement"`);
  }
}
