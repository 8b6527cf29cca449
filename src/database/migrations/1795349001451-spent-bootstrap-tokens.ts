import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SpentBootstrapTokens1795349001451 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "cluster_nodes" ALTER COLUMN "bootstrap_token_hash" DROP NOT NULL`);
    await runner.query(
      `CREATE UNIQUE INDEX "uq_cluster_nodes_bootstrap" ON "cluster_nodes"  ("bootstrap_token_hash") WHERE bootstrap_token_hash IS NOT NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."uq_cluster_nodes_bootstrap"`);
    await runner.query(`ALTER TABLE "cluster_nodes" ALTER COLUMN "bootstrap_token_hash" SET NOT NULL`);
  }
}
