import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionNetworks1795351436874 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "sessions" ADD "network" text`);
    // Whoever logged in over IPv6 is known again from the next login on.
    await runner.query(
      `UPDATE "sessions" SET "network" = substring("ip" FROM '^(?:::ffff:)?(\\d+\\.\\d+\\.\\d+\\.\\d+)$')
       WHERE "kind" = 'login' AND "created_at" > now() - interval '30 days'`,
    );
    await runner.query(
      `CREATE INDEX "ix_sessions_login_network" ON "sessions"  ("user_id", "network", "created_at") WHERE kind = 'login'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_sessions_login_network"`);
    await runner.query(`ALTER TABLE "sessions" DROP COLUMN "network"`);
  }
}
