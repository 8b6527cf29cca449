import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AnsweredSeconds1795351316272 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "answered_seconds" ("second" TIMESTAMP WITH TIME ZONE NOT NULL, CONSTRAINT "pk_answered_seconds" PRIMARY KEY ("second"))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "answered_seconds"`);
  }
}
