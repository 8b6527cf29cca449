import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Nodes whose provider has no room for them are made in another zone, and what a provider had none of is remembered. */
export class BlockedOffers1795520000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "blocked_offers" ("tenant_id" uuid NOT NULL, "credentials_conf_id" bigint NOT NULL, "region" text NOT NULL, "zone" text NOT NULL, "machine_type_id" integer NOT NULL, "is_spot" boolean NOT NULL, "blocked_until" TIMESTAMP WITH TIME ZONE NOT NULL, CONSTRAINT "pk_blocked_offers" PRIMARY KEY ("tenant_id", "credentials_conf_id", "region", "zone", "machine_type_id", "is_spot"))`,
    );
    await runner.query(`CREATE INDEX "ix_blocked_offers_until" ON "blocked_offers"  ("blocked_until") `);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "asked_at" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "no_room" text`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "tries" jsonb NOT NULL DEFAULT '{}'`);
    // The machines of these may have been asked for by an earlier release.
    await runner.query(`UPDATE "cluster_nodes" SET "asked_at" = "from_date" WHERE "to_date" = 'infinity'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "tries"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "no_room"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "asked_at"`);
    await runner.query(`DROP INDEX "public"."ix_blocked_offers_until"`);
    await runner.query(`DROP TABLE "blocked_offers"`);
  }
}
