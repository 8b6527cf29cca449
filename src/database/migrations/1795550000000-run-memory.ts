import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs keep the memory that they requested and used. */
export class RunMemory1795550000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "runs" ADD "requested_memory_mb" integer`);
    await runner.query(`ALTER TABLE "runs" ADD "peak_memory_mb" integer`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "runs" DROP COLUMN "peak_memory_mb"`);
    await runner.query(`ALTER TABLE "runs" DROP COLUMN "requested_memory_mb"`);
  }
}
