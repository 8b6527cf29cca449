import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is in a status, its key, and where its history is. */
const HISTORIES = [
  { table: 'clusters', key: 'cluster_id', history: 'cluster_states' },
  { table: 'cluster_nodes', key: 'node_id', history: 'node_states' },
];

/**
 * Steps in histories, words of single nodes, versions of agents; and no status changes any more without its entry in the
 * history. An entry of this transaction is no older than the transaction itself; the last entries are found by their index.
 */
export class CompleteHistories1795495000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "protocol_version" integer`);
    await runner.query(`ALTER TABLE "node_states" ADD "step" text`);
    await runner.query(`ALTER TABLE "cluster_states" ADD "step" text`);
    await runner.query(`ALTER TABLE "workflow_steps" ADD "part_errors" jsonb`);
    for (const { table, key, history } of HISTORIES) {
      await runner.query(
        `CREATE FUNCTION ${table}_keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
         DECLARE
           came_from text := CASE TG_OP WHEN 'UPDATE' THEN OLD.status END;
           status_now text := (SELECT status FROM ${table} WHERE ${key} = NEW.${key});
           last_entered text;
           has_entry boolean;
         BEGIN
           SELECT (array_agg(e.status ORDER BY e.sequence DESC))[1],
             bool_or(age(e.written_by) <= 0 AND e.status = NEW.status AND e.from_status IS NOT DISTINCT FROM came_from)
           INTO last_entered, has_entry
           FROM (SELECT sequence, status, from_status, xmin AS written_by FROM ${history}
                 WHERE ${key} = NEW.${key} ORDER BY sequence DESC LIMIT 10) e;
           IF has_entry IS NOT TRUE OR last_entered IS DISTINCT FROM status_now THEN
             RAISE EXCEPTION 'The status of ${key} % changed from % to % without an entry in ${history}',
               NEW.${key}, coalesce(came_from, 'none'), NEW.status
             USING ERRCODE = 'integrity_constraint_violation', TABLE = '${table}', CONSTRAINT = 'tr_${table}_history';
           END IF;
           RETURN NULL;
         END $$`,
      );
      await runner.query(
        `CREATE CONSTRAINT TRIGGER tr_${table}_history_begins AFTER INSERT ON ${table}
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${table}_keep_history()`,
      );
      await runner.query(
        `CREATE CONSTRAINT TRIGGER tr_${table}_history AFTER UPDATE OF status ON ${table}
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
         EXECUTE FUNCTION ${table}_keep_history()`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { table } of HISTORIES) {
      await runner.query(`DROP TRIGGER tr_${table}_history ON ${table}`);
      await runner.query(`DROP TRIGGER tr_${table}_history_begins ON ${table}`);
      await runner.query(`DROP FUNCTION ${table}_keep_history()`);
    }
    await runner.query(`ALTER TABLE "workflow_steps" DROP COLUMN "part_errors"`);
    await runner.query(`ALTER TABLE "cluster_states" DROP COLUMN "step"`);
    await runner.query(`ALTER TABLE "node_states" DROP COLUMN "step"`);
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "protocol_version"`);
  }
}
