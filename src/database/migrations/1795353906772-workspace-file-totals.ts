import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WorkspaceFileTotals1795353906772 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "workspace_file_totals" ("workspace_id" bigint NOT NULL, "files" bigint NOT NULL DEFAULT '0', "directories" bigint NOT NULL DEFAULT '0', "bytes" bigint NOT NULL DEFAULT '0', CONSTRAINT "pk_workspace_file_totals" PRIMARY KEY ("workspace_id"))`,
    );
    await runner.query(
      `ALTER TABLE "workspace_file_totals" ADD CONSTRAINT "fk_workspace_file_totals_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("workspace_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `CREATE FUNCTION workspace_files_count() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF TG_OP <> 'DELETE' THEN
           INSERT INTO workspace_file_totals AS t (workspace_id, files, directories, bytes)
           SELECT workspace_id, count(*) FILTER (WHERE NOT is_dir), count(*) FILTER (WHERE is_dir), coalesce(sum(size_bytes), 0)
           FROM rows_after WHERE to_date = 'infinity' GROUP BY workspace_id ORDER BY workspace_id
           ON CONFLICT (workspace_id) DO UPDATE SET files = t.files + excluded.files,
             directories = t.directories + excluded.directories, bytes = t.bytes + excluded.bytes;
         END IF;
         IF TG_OP <> 'INSERT' THEN
           INSERT INTO workspace_file_totals AS t (workspace_id, files, directories, bytes)
           SELECT workspace_id, -count(*) FILTER (WHERE NOT is_dir), -count(*) FILTER (WHERE is_dir), -coalesce(sum(size_bytes), 0)
           FROM rows_before WHERE to_date = 'infinity' GROUP BY workspace_id ORDER BY workspace_id
           ON CONFLICT (workspace_id) DO UPDATE SET files = t.files + excluded.files,
             directories = t.directories + excluded.directories, bytes = t.bytes + excluded.bytes;
         END IF;
         RETURN NULL;
       END $$`,
    );
    const names = { INSERT: 'NEW TABLE AS rows_after', DELETE: 'OLD TABLE AS rows_before' };
    const referencing = { ...names, UPDATE: `${names.DELETE} ${names.INSERT}` };
    for (const [event, tables] of Object.entries(referencing)) {
      await runner.query(
        `CREATE TRIGGER workspace_files_count_${event.toLowerCase()} AFTER ${event} ON "workspace_files"
         REFERENCING ${tables} FOR EACH STATEMENT EXECUTE FUNCTION workspace_files_count()`,
      );
    }
    // Nobody has written files since the triggers were made: they lock out writers until this commits.
    await runner.query(
      `INSERT INTO workspace_file_totals (workspace_id, files, directories, bytes)
       SELECT workspace_id, count(*) FILTER (WHERE NOT is_dir), count(*) FILTER (WHERE is_dir), coalesce(sum(size_bytes), 0)
       FROM workspace_files WHERE to_date = 'infinity' GROUP BY workspace_id`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const event of ['insert', 'update', 'delete']) {
      await runner.query(`DROP TRIGGER workspace_files_count_${event} ON "workspace_files"`);
    }
    await runner.query(`DROP FUNCTION workspace_files_count()`);
    await runner.query(`ALTER TABLE "workspace_file_totals" DROP CONSTRAINT "fk_workspace_file_totals_workspace"`);
    await runner.query(`DROP TABLE "workspace_file_totals"`);
  }
}
