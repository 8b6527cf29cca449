import type { MigrationInterface, QueryRunner } from 'typeorm';

export class EndedRows1795326685495 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX "ix_sessions_login_expires" ON "sessions"  ("expires_at") WHERE kind = 'login'`);
    await runner.query(
      `CREATE INDEX "ix_sessions_login_revoked" ON "sessions"  ("revoked_at") WHERE kind = 'login' AND revoked_at IS NOT NULL`,
    );
    await runner.query(
      `CREATE INDEX "ix_object_storage_files_closed" ON "object_storage_files"  ("to_date") WHERE to_date <> 'infinity'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_object_storage_files_closed"`);
    await runner.query(`DROP INDEX "public"."ix_sessions_login_revoked"`);
    await runner.query(`DROP INDEX "public"."ix_sessions_login_expires"`);
  }
}
