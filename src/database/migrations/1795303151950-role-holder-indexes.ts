import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RoleHolderIndexes1795303151950 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX "ix_group_roles_group" ON "group_roles"  ("group_id") WHERE to_date = 'infinity'`);
    await runner.query(`CREATE INDEX "ix_user_roles_user" ON "user_roles"  ("user_id") WHERE to_date = 'infinity'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_user_roles_user"`);
    await runner.query(`DROP INDEX "public"."ix_group_roles_group"`);
  }
}
