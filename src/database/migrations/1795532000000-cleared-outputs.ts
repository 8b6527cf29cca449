import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Outputs of a cell are cleared when the next one comes, and have no keys that nbformat does not know. */
export class ClearedOutputs1795532000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "notebook_cells" ADD "clears_next" boolean NOT NULL DEFAULT false`);
    // Earlier releases kept this key of a message, with which no reader accepts an exported notebook.
    await runner.query(
      `UPDATE "notebook_outputs" SET "content" = regexp_replace("content", '^\\{"transient":\\{[^{}]*\\},', '{')
       WHERE "content" LIKE '{"transient":{%'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "notebook_cells" DROP COLUMN "clears_next"`);
  }
}
