import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addConstraint, backfill, setNotNull } from '../migration-steps';

/** A node keeps what it costs by. Those that are there already get what their clusters have now. */
export class NodePrices1795379872246 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const table = 'cluster_nodes';
    await runner.query(
      `ALTER TABLE "cluster_nodes" ADD IF NOT EXISTS "machine_type_id" integer, ADD IF NOT EXISTS "machine_price_ycu" double precision, ADD IF NOT EXISTS "is_spot" boolean, ADD IF NOT EXISTS "labels" jsonb`,
    );
    await backfill(runner, {
      table,
      key: 'node_id',
      set: `machine_type_id = m.machine_type_id, machine_price_ycu = m.machine_price_ycu, is_spot = c.is_spot_instance,
        labels = c.labels`,
      from: `clusters c JOIN cluster_confs cc ON cc.cluster_conf_id = c.cluster_conf_id
        JOIN machine_types m ON m.machine_type_id = cc.machine_type_id`,
      where: 'c.cluster_id = t.cluster_id',
    });
    await setNotNull(runner, table, ['machine_type_id', 'machine_price_ycu', 'is_spot', 'labels']);
    await addConstraint(
      runner,
      table,
      'fk_cluster_nodes_machine_type',
      'FOREIGN KEY ("machine_type_id") REFERENCES "machine_types"("machine_type_id") ON DELETE NO ACTION ON UPDATE NO ACTION',
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
