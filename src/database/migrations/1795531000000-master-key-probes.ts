import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MasterKeyProbes1795531000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "master_key_probes" ("master_key_id" text NOT NULL, "sealed" bytea NOT NULL, "created_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT platform_now(), CONSTRAINT "pk_master_key_probes" PRIMARY KEY ("master_key_id"))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "master_key_probes"`);
  }
}
