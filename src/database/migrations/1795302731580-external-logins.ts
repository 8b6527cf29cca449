import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ExternalLogins1795302731580 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "sso_logins" ("state_hash" text NOT NULL, "nonce" text NOT NULL, "code_verifier" text NOT NULL, "timeout" text NOT NULL, "expires_at" TIMESTAMP WITH TIME ZONE NOT NULL, "claimed_until" TIMESTAMP WITH TIME ZONE, CONSTRAINT "pk_sso_logins" PRIMARY KEY ("state_hash"))`,
    );
    await runner.query(`CREATE INDEX "ix_sso_logins_expires_at" ON "sso_logins" ("expires_at") `);
    await runner.query(`ALTER TABLE "users" ADD "external_id" text`);
    await runner.query(
      `CREATE UNIQUE INDEX "uq_groups_object_id" ON "groups" ("directory", "group_object_id") WHERE to_date = 'infinity' AND group_object_id IS NOT NULL`,
    );
    await runner.query(
      `CREATE UNIQUE INDEX "uq_users_external_id" ON "users" ("directory", "external_id") WHERE external_id IS NOT NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "uq_users_external_id"`);
    await runner.query(`DROP INDEX "uq_groups_object_id"`);
    await runner.query(`ALTER TABLE "users" DROP COLUMN "external_id"`);
    await runner.query(`DROP INDEX "ix_sso_logins_expires_at"`);
    await runner.query(`DROP TABLE "sso_logins"`);
  }
}
