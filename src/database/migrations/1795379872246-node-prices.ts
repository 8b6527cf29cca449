import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A node keeps what it costs by. Those that are there already get what their clusters have now. */
export class NodePrices1795379872246 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "machine_type_id" integer`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "machine_price_ycu" double precision`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "is_spot" boolean`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "labels" jsonb`);
    await runner.query(
      `UPDATE "cluster_nodes" n SET machine_type_id = m.machine_type_id, machine_price_ycu = m.machine_price_ycu,
         is_spot = c.is_spot_instance, labels = c.labels
       FROM "clusters" c JOIN "cluster_confs" cc ON cc.cluster_conf_id = c.cluster_conf_id
         JOIN "machine_types" m ON m.machine_type_id = cc.machine_type_id
       WHERE c.cluster_id = n.cluster_id`,
    );
    await runner.query(`ALTER TABLE "cluster_nodes" ALTER COLUMN "machine_type_id" SET NOT NULL`);
    await runner.query(`ALTER TABLE "cluster_nodes" ALTER COLUMN "machine_price_ycu" SET NOT NULL`);
    await runner.query(`ALTER TABLE "cluster_nodes" ALTER COLUMN "is_spot" SET NOT NULL`);
    await runner.query(`ALTER TABLE "cluster_nodes" ALTER COLUMN "labels" SET NOT NULL`);
    await runner.query(
      `ALTER TABLE "cluster_nodes" ADD CONSTRAINT "fk_cluster_nodes_machine_type" FOREIGN KEY ("machine_type_id") REFERENCES "machine_types"("machine_type_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" DROP CONSTRAINT "fk_cluster_nodes_machine_type"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "labels"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "is_spot"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "machine_price_ycu"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "machine_type_id"`);
  }
}
