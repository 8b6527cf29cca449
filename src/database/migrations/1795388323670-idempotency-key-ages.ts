import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IdempotencyKeyAges1795388323670 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX "ix_idempotency_keys_created_at" ON "idempotency_keys"  ("created_at") `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_idempotency_keys_created_at"`);
  }
}
