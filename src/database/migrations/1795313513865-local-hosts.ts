import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LocalHosts1795313513865 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "local_hosts" ("hostname" text NOT NULL, "cores" integer NOT NULL, "cpu_usage" double precision NOT NULL, "memory_bytes" bigint NOT NULL, "memory_used_bytes" bigint NOT NULL, "disk_bytes" bigint NOT NULL, "disk_used_bytes" bigint NOT NULL, "reported_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(), CONSTRAINT "pk_local_hosts" PRIMARY KEY ("hostname"))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "local_hosts"`);
  }
}
