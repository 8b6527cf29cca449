import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  'metastore_catalogs',
  'tenant_catalog_secrets',
  'workspace_catalog_secrets',
  'user_catalog_secrets',
] as const;

export class PlacesOfCatalogs1795455000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE "${table}" ADD "place_version" integer NOT NULL DEFAULT '1'`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`ALTER TABLE "${table}" DROP COLUMN "place_version"`);
  }
}
