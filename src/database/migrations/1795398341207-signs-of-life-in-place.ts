import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Signs of life change a row within its page and no index: each would otherwise be an entry in every index of the table. */
export class SignsOfLifeInPlace1795398341207 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."ix_cluster_nodes_seen"`);
    await runner.query(`ALTER TABLE "cluster_nodes" SET (fillfactor = 70)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" RESET (fillfactor)`);
    await runner.query(
      `CREATE INDEX "ix_cluster_nodes_seen" ON "cluster_nodes"  ("last_seen_at") WHERE (to_date = 'infinity'::timestamp with time zone)`,
    );
  }
}
