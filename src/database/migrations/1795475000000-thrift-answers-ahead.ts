import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Answers of servers of SQL that have come ahead of being asked for. */
export class ThriftAnswersAhead1795475000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "thrift_answers_ahead" ("run_id" bigint NOT NULL, "call_id" text NOT NULL, "key" text, "first" bigint, "last" bigint, "claimed" boolean NOT NULL DEFAULT false, CONSTRAINT "ck_thrift_answers_ahead_frames" CHECK ((key IS NULL) = (first IS NULL) AND (key IS NULL) = (last IS NULL)), CONSTRAINT "pk_thrift_answers_ahead" PRIMARY KEY ("run_id", "call_id"))`,
    );
    // Results are kept for a moment: to compress them would take longer than to write them.
    await runner.query(`ALTER TABLE "run_frames" ALTER COLUMN "records" SET STORAGE EXTERNAL`);
    await runner.query(
      `ALTER TABLE "thrift_answers_ahead" ADD CONSTRAINT "fk_thrift_answers_ahead_log" FOREIGN KEY ("run_id") REFERENCES "run_frame_logs"("run_id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "thrift_answers_ahead"');
    await runner.query(`ALTER TABLE "run_frames" ALTER COLUMN "records" SET STORAGE EXTENDED`);
  }
}
