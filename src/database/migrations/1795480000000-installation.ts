import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which installation this is, so that several can share an account; and what is to be known of a node to find its machine again. */
export class Installation1795480000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "installation" ("is_single" boolean NOT NULL DEFAULT true, "installation_id" uuid NOT NULL, CONSTRAINT "ck_installation_single" CHECK (is_single), CONSTRAINT "pk_installation" PRIMARY KEY ("is_single"))`,
    );
    await runner.query(`INSERT INTO "installation" ("installation_id") VALUES (gen_random_uuid())`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "attempt" integer NOT NULL DEFAULT '1'`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "place" jsonb`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "accepted_at" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "seen_at" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "bootstrap_expires_at" TIMESTAMP WITH TIME ZONE`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "bootstrap_expires_at"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "seen_at"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "accepted_at"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "place"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "attempt"`);
    await runner.query(`DROP TABLE "installation"`);
  }
}
