import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ConfinedJobs1795352304328 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "local_hosts" ADD "keeps_tenants_apart" boolean NOT NULL DEFAULT true`);
    await runner.query(`ALTER TABLE "clusters" ADD "spark_secret" bytea`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "clusters" DROP COLUMN "spark_secret"`);
    await runner.query(`ALTER TABLE "local_hosts" DROP COLUMN "keeps_tenants_apart"`);
  }
}
