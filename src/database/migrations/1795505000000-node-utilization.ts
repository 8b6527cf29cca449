import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What nodes use, step by step, and an index by which the nodes that a cluster had are found. */
export class NodeUtilization1795505000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "node_utilization" ("node_id" bigint NOT NULL, "step_seconds" integer NOT NULL, "place" integer NOT NULL, "time" TIMESTAMP WITH TIME ZONE NOT NULL, "reports" integer NOT NULL, "millicores_sum" bigint NOT NULL, "millicores_max" integer NOT NULL, "memory_mb_sum" bigint NOT NULL, "memory_mb_max" integer NOT NULL, "disk_mb_sum" bigint NOT NULL, "disk_mb_max" integer NOT NULL, "disk_mb" integer NOT NULL, "busy_slots_sum" bigint NOT NULL, "busy_slots_max" integer NOT NULL, "slots" integer NOT NULL, CONSTRAINT "pk_node_utilization" PRIMARY KEY ("node_id", "step_seconds", "place"))`,
    );
    await runner.query(`CREATE INDEX "ix_node_utilization_time" ON "node_utilization"  ("time") `);
    await runner.query(`CREATE INDEX "ix_cluster_nodes_cluster" ON "cluster_nodes"  ("cluster_id", "to_date") `);
    await runner.query(
      `ALTER TABLE "node_utilization" ADD CONSTRAINT "fk_node_utilization_node" FOREIGN KEY ("node_id") REFERENCES "cluster_nodes"("node_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "node_utilization" DROP CONSTRAINT "fk_node_utilization_node"`);
    await runner.query(`DROP INDEX "public"."ix_cluster_nodes_cluster"`);
    await runner.query(`DROP INDEX "public"."ix_node_utilization_time"`);
    await runner.query(`DROP TABLE "node_utilization"`);
  }
}
