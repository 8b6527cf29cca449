import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Clusters remember the resize by a user until it is carried out. */
export class ResizeRequests1795545000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "clusters" ADD "resize_request" jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "clusters" DROP COLUMN "resize_request"`);
  }
}
