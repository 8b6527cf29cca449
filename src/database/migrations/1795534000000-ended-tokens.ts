import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from '../migration-steps';

/** Personal tokens are swept like logins once they have ended, and those of a user that work are counted. */
export class EndedTokens1795534000000 implements MigrationInterface {
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndex(runner, { name: 'ix_sessions_expires', definition: 'ON "sessions" ("expires_at")' });
    await createIndex(runner, {
      name: 'ix_sessions_revoked',
      definition: 'ON "sessions" ("revoked_at") WHERE revoked_at IS NOT NULL',
    });
    await createIndex(runner, {
      name: 'ix_sessions_valid_tokens',
      definition: `ON "sessions" ("user_id", "expires_at") WHERE kind = 'token' AND revoked_at IS NULL`,
    });
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS "ix_sessions_login_expires"`);
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS "ix_sessions_login_revoked"`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of ['valid_tokens', 'revoked', 'expires']) await runner.query(`DROP INDEX "ix_sessions_${name}"`);
    await runner.query(
      `CREATE INDEX "ix_sessions_login_revoked" ON "sessions" ("revoked_at") WHERE kind = 'login' AND revoked_at IS NOT NULL`,
    );
    await runner.query(`CREATE INDEX "ix_sessions_login_expires" ON "sessions" ("expires_at") WHERE kind = 'login'`);
  }
}
