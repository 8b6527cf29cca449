import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The sums of runs by day have the memory that runs requested and did not use. */
export class UnusedMemorySums1795551000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['run_cost_days', 'cost_days']) {
      await runner.query(`ALTER TABLE "${table}" ADD "measured_ms" bigint NOT NULL DEFAULT '0'`);
      await runner.query(`ALTER TABLE "${table}" ADD "unused_mb_ms" numeric NOT NULL DEFAULT '0'`);
      await runner.query(`ALTER TABLE "${table}" ADD "unused_ycu_ms" numeric NOT NULL DEFAULT '0'`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['cost_days', 'run_cost_days']) {
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "unused_ycu_ms"`);
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "unused_mb_ms"`);
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "measured_ms"`);
    }
  }
}
