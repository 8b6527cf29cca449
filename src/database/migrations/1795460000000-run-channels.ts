import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RunChannels1795460000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "run_request_queues" ("run_id" bigint NOT NULL, "tenant_id" uuid NOT NULL, "last" bigint NOT NULL DEFAULT '0', "acknowledged" bigint NOT NULL DEFAULT '0', "waiting_bytes" bigint NOT NULL DEFAULT '0', CONSTRAINT "ck_run_request_queues_acknowledged" CHECK (acknowledged BETWEEN 0 AND last), CONSTRAINT "pk_run_request_queues" PRIMARY KEY ("run_id"))`,
    );
    await runner.query(
      `CREATE TABLE "run_requests" ("run_id" bigint NOT NULL, "number" bigint NOT NULL, "payload" bytea NOT NULL, CONSTRAINT "pk_run_requests" PRIMARY KEY ("run_id", "number"))`,
    );
    await runner.query(
      `CREATE TABLE "run_frame_logs" ("run_id" bigint NOT NULL, "tenant_id" uuid NOT NULL, "last" bigint NOT NULL DEFAULT '0', "dropped" bigint NOT NULL DEFAULT '0', "kept_bytes" bigint NOT NULL DEFAULT '0', CONSTRAINT "pk_run_frame_logs" PRIMARY KEY ("run_id"))`,
    );
    await runner.query(
      `CREATE TABLE "run_frames" ("run_id" bigint NOT NULL, "last" bigint NOT NULL, "first" bigint NOT NULL, "bytes" integer NOT NULL, "records" bytea NOT NULL, CONSTRAINT "pk_run_frames" PRIMARY KEY ("run_id", "last"))`,
    );
    for (const table of ['run_request_queues', 'run_frame_logs']) {
      await runner.query(
        `ALTER TABLE "${table}" ADD CONSTRAINT "fk_${table}_run" FOREIGN KEY ("tenant_id", "run_id") REFERENCES "runs"("tenant_id","run_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
      );
    }
    await runner.query(
      `ALTER TABLE "run_requests" ADD CONSTRAINT "fk_run_requests_queue" FOREIGN KEY ("run_id") REFERENCES "run_request_queues"("run_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `ALTER TABLE "run_frames" ADD CONSTRAINT "fk_run_frames_log" FOREIGN KEY ("run_id") REFERENCES "run_frame_logs"("run_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['run_frames', 'run_frame_logs', 'run_requests', 'run_request_queues']) {
      await runner.query(`DROP TABLE "${table}"`);
    }
  }
}
