import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfill, createIndex } from '../migration-steps';

export class SessionNetworks1795351436874 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "sessions" ADD IF NOT EXISTS "network" text`);
    // Whoever logged in over IPv6 is known again from the next login on.
    await backfill(runner, {
      table: 'sessions',
      key: 'session_id',
      set: `network = substring(t.ip FROM '^(?:::ffff:)?(\\d+\\.\\d+\\.\\d+\\.\\d+)$')`,
      where: `t.kind = 'login' AND t.created_at > now() - interval '30 days'`,
    });
    await createIndex(runner, {
      name: 'ix_sessions_login_network',
      definition: `ON "sessions"  ("user_id", "network", "created_at") WHERE kind = 'login'`,
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_sessions_login_network"`);
    await runner.query(`ALTER TABLE "sessions" DROP COLUMN "network"`);
  }
}
