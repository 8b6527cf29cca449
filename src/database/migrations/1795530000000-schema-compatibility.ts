import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which releases may use the schema (ADR 0052): those that know this table, and look at it. */
export class SchemaCompatibility1795530000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "schema_compatibility" ("is_single" boolean NOT NULL DEFAULT true, "required_migration" text NOT NULL, CONSTRAINT "ck_schema_compatibility_single" CHECK (is_single), CONSTRAINT "pk_schema_compatibility" PRIMARY KEY ("is_single"))`,
    );
    await runner.query(`INSERT INTO "schema_compatibility" ("required_migration") VALUES ($1)`, [
      SchemaCompatibility1795530000000.name,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "schema_compatibility"`);
  }
}
