import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Agents report the drivers that wait for runs, and how runs have started. */
export class WarmDrivers1795536000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "warm_drivers" integer`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "warm_starts" integer NOT NULL DEFAULT '0'`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "cold_starts" integer NOT NULL DEFAULT '0'`);
    await runner.query(`ALTER TABLE "runs" ADD "started_warm" boolean`);
    await runner.query(`ALTER TABLE "runs" ADD "cold_reason" text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "runs" DROP COLUMN "cold_reason"`);
    await runner.query(`ALTER TABLE "runs" DROP COLUMN "started_warm"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "cold_starts"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "warm_starts"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "warm_drivers"`);
  }
}
