import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Kernels1795465000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "kernels" ("run_id" bigint NOT NULL, "tenant_id" uuid NOT NULL, "kernel_id" uuid NOT NULL, "generation" integer NOT NULL DEFAULT '1', "state" text NOT NULL DEFAULT 'starting', "reason" text, "last_activity" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT platform_now(), "requests" bigint NOT NULL DEFAULT '0', "is_cleared" boolean NOT NULL DEFAULT false, "notebook_revision_id" bigint, CONSTRAINT "ck_kernels_state" CHECK (state IN ('starting', 'idle', 'busy', 'restarting', 'dead')), CONSTRAINT "pk_kernels" PRIMARY KEY ("run_id"))`,
    );
    await runner.query(`CREATE INDEX "ix_kernels_last_activity" ON "kernels"  ("last_activity") WHERE NOT is_cleared`);
    await runner.query(
      `CREATE TABLE "kernel_requests" ("run_id" bigint NOT NULL, "msg_id" text NOT NULL, "sequence" bigint NOT NULL, "generation" integer NOT NULL, "asked_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT platform_now(), "answered_at" TIMESTAMP WITH TIME ZONE, "reply" jsonb, CONSTRAINT "pk_kernel_requests" PRIMARY KEY ("run_id", "msg_id"))`,
    );
    await runner.query(
      `CREATE INDEX "ix_kernel_requests_open" ON "kernel_requests"  ("run_id", "sequence") WHERE answered_at IS NULL`,
    );
    await runner.query(`CREATE INDEX "ix_kernel_requests_sequence" ON "kernel_requests"  ("run_id", "sequence") `);
    await runner.query(
      `CREATE TABLE "kernel_clients" ("run_id" bigint NOT NULL, "session_id" text NOT NULL, "delivered" bigint NOT NULL, "seen_at" TIMESTAMP WITH TIME ZONE, "began_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT platform_now(), CONSTRAINT "pk_kernel_clients" PRIMARY KEY ("run_id", "session_id"))`,
    );
    await runner.query(`CREATE INDEX "ix_kernel_clients_seen" ON "kernel_clients"  ("run_id", "seen_at") `);
    await runner.query(
      `ALTER TABLE "kernels" ADD CONSTRAINT "fk_kernels_run" FOREIGN KEY ("tenant_id", "run_id") REFERENCES "runs"("tenant_id","run_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `ALTER TABLE "kernels" ADD CONSTRAINT "fk_kernels_revision" FOREIGN KEY ("tenant_id", "notebook_revision_id") REFERENCES "notebook_revisions"("tenant_id","notebook_revision_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    for (const table of ['kernel_requests', 'kernel_clients']) {
      await runner.query(
        `ALTER TABLE "${table}" ADD CONSTRAINT "fk_${table}_kernel" FOREIGN KEY ("run_id") REFERENCES "kernels"("run_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['kernel_clients', 'kernel_requests', 'kernels']) await runner.query(`DROP TABLE "${table}"`);
  }
}
