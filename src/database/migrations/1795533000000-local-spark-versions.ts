import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Machines of local nodes tell which versions of Spark they have. */
export class LocalSparkVersions1795533000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "local_hosts" ADD "spark_versions" text array`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "local_hosts" DROP COLUMN "spark_versions"`);
  }
}
