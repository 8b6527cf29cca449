import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Audit events say which fields of which records a request changed. Events from before have no value. */
export class AuditChanges1795542000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "audit_events" ADD "changes" jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "audit_events" DROP COLUMN "changes"`);
  }
}
