import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeTypesOfMachineTypes1795362759150 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_confs" DROP CONSTRAINT "fk_cluster_confs_machine_type_category"`);
    await runner.query(`ALTER TABLE "cluster_confs" DROP COLUMN "machine_type_category_id"`);
    await runner.query(
      `CREATE INDEX "ix_cluster_confs_machine_type" ON "cluster_confs"  ("tenant_id", "machine_type_id", "cluster_conf_id") WHERE to_date = 'infinity'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_cluster_confs_machine_type"`);
    await runner.query(`ALTER TABLE "cluster_confs" ADD "machine_type_category_id" integer`);
    await runner.query(
      `UPDATE "cluster_confs" c SET machine_type_category_id = m.machine_type_category_id
       FROM "machine_types" m WHERE m.machine_type_id = c.machine_type_id`,
    );
    await runner.query(`ALTER TABLE "cluster_confs" ALTER COLUMN "machine_type_category_id" SET NOT NULL`);
    await runner.query(
      `ALTER TABLE "cluster_confs" ADD CONSTRAINT "fk_cluster_confs_machine_type_category" FOREIGN KEY ("machine_type_category_id") REFERENCES "machine_type_categories"("machine_type_category_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
  }
}
