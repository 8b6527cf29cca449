import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Personal tokens are swept like logins once they have ended, and those of a user that work are counted. */
export class EndedTokens1795534000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_sessions_login_expires"`);
    await runner.query(`DROP INDEX "public"."ix_sessions_login_revoked"`);
    await runner.query(`CREATE INDEX "ix_sessions_expires" ON "sessions"  ("expires_at") `);
    await runner.query(`CREATE INDEX "ix_sessions_revoked" ON "sessions"  ("revoked_at") WHERE revoked_at IS NOT NULL`);
    await runner.query(
      `CREATE INDEX "ix_sessions_valid_tokens" ON "sessions"  ("user_id", "expires_at") WHERE kind = 'token' AND revoked_at IS NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_sessions_valid_tokens"`);
    await runner.query(`DROP INDEX "public"."ix_sessions_revoked"`);
    await runner.query(`DROP INDEX "public"."ix_sessions_expires"`);
    await runner.query(
      `CREATE INDEX "ix_sessions_login_revoked" ON "sessions"  ("revoked_at") WHERE kind = 'login' AND revoked_at IS NOT NULL`,
    );
    await runner.query(`CREATE INDEX "ix_sessions_login_expires" ON "sessions"  ("expires_at") WHERE kind = 'login'`);
  }
}
