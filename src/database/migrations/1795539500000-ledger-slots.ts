import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The ledger says how many runs a node holds, so that runs have shares of it. No run takes a slot before it was freed. */
export class LedgerSlots1795539500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "ledger_entries" ADD "slots" integer`);
    await runner.query(`ALTER TABLE "ledger_open_intervals" ADD "slots" integer`);
    await runner.query(`ALTER TABLE "cluster_nodes" ADD "slot_freed_at" TIMESTAMP WITH TIME ZONE`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" DROP COLUMN "slot_freed_at"`);
    await runner.query(`ALTER TABLE "ledger_open_intervals" DROP COLUMN "slots"`);
    await runner.query(`ALTER TABLE "ledger_entries" DROP COLUMN "slots"`);
  }
}
