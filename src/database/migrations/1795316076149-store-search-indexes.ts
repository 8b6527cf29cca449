import type { MigrationInterface, QueryRunner } from 'typeorm';

export class StoreSearchIndexes1795316076149 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "ix_mounts_name_part" ON "mounts" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_mounts_list" ON "mounts"  ("tenant_id", "mount_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_object_storage_managers_name_part" ON "object_storage_managers" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_object_storage_managers_list" ON "object_storage_managers"  ("tenant_id", "object_storage_manager_id", "name") WHERE to_date = 'infinity'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_object_storage_managers_list"`);
    await runner.query(`DROP INDEX "public"."ix_object_storage_managers_name_part"`);
    await runner.query(`DROP INDEX "public"."ix_mounts_list"`);
    await runner.query(`DROP INDEX "public"."ix_mounts_name_part"`);
  }
}
