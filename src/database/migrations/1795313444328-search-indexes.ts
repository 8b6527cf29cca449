import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SearchIndexes1795313444328 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    await runner.query(`DROP INDEX "ix_workspace_files_parent"`);
    await runner.query(
      `CREATE INDEX "ix_boot_disk_images_name_part" ON "boot_disk_images" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_boot_disk_images_list" ON "boot_disk_images" ("tenant_id", "boot_disk_image_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_cluster_confs_name_part" ON "cluster_confs" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_cluster_confs_list" ON "cluster_confs" ("tenant_id", "cluster_conf_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(`CREATE INDEX "ix_clusters_name_part" ON "clusters" USING gin ("name" gin_trgm_ops) `);
    await runner.query(`CREATE INDEX "ix_clusters_list" ON "clusters" ("tenant_id", "cluster_id", "name") `);
    await runner.query(
      `CREATE INDEX "ix_cloud_envs_name_part" ON "cloud_envs" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_cloud_envs_list" ON "cloud_envs" ("tenant_id", "cloud_env_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_groups_name_part" ON "groups" USING gin ("group_name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_tenants_name_part" ON "tenants" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(`CREATE INDEX "ix_users_name_part" ON "users" USING gin ("username" gin_trgm_ops) `);
    await runner.query(
      `CREATE INDEX "ix_credentials_confs_name_part" ON "credentials_confs" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_credentials_confs_list" ON "credentials_confs" ("tenant_id", "credentials_conf_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(`CREATE INDEX "ix_job_confs_name_part" ON "job_confs" USING gin ("name" gin_trgm_ops) `);
    await runner.query(
      `CREATE INDEX "ix_job_confs_list" ON "job_confs" ("tenant_id", "workspace_id", "job_conf_id", "name") `,
    );
    await runner.query(
      `CREATE INDEX "ix_network_confs_name_part" ON "network_confs" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_network_confs_list" ON "network_confs" ("tenant_id", "network_conf_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_volume_confs_name_part" ON "volume_confs" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_volume_confs_list" ON "volume_confs" ("tenant_id", "volume_conf_id", "name") WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_workspace_files_directory" ON "workspace_files" ("workspace_id", "parent_path", "workspace_file_id") WHERE to_date = 'infinity'`,
    );
    await runner.query(
      `CREATE INDEX "ix_workspace_files_name_part" ON "workspace_files" USING gin ("name" gin_trgm_ops) WHERE to_date = 'infinity'`,
    );
    await runner.query(`CREATE INDEX "ix_workspaces_name_part" ON "workspaces" USING gin ("name" gin_trgm_ops) `);
    await runner.query(`CREATE INDEX "ix_workspaces_list" ON "workspaces" ("tenant_id", "workspace_id", "name") `);
    await runner.query(
      `CREATE INDEX "ix_runs_name_part" ON "runs" USING gin (("job_conf_snapshot" ->> 'name') gin_trgm_ops)`,
    );
  }

  /** The extension stays: it may have been there before. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "ix_runs_name_part"`);
    await runner.query(`DROP INDEX "ix_workspaces_list"`);
    await runner.query(`DROP INDEX "ix_workspaces_name_part"`);
    await runner.query(`DROP INDEX "ix_workspace_files_name_part"`);
    await runner.query(`DROP INDEX "ix_workspace_files_directory"`);
    await runner.query(`DROP INDEX "ix_volume_confs_list"`);
    await runner.query(`DROP INDEX "ix_volume_confs_name_part"`);
    await runner.query(`DROP INDEX "ix_network_confs_list"`);
    await runner.query(`DROP INDEX "ix_network_confs_name_part"`);
    await runner.query(`DROP INDEX "ix_job_confs_list"`);
    await runner.query(`DROP INDEX "ix_job_confs_name_part"`);
    await runner.query(`DROP INDEX "ix_credentials_confs_list"`);
    await runner.query(`DROP INDEX "ix_credentials_confs_name_part"`);
    await runner.query(`DROP INDEX "ix_users_name_part"`);
    await runner.query(`DROP INDEX "ix_tenants_name_part"`);
    await runner.query(`DROP INDEX "ix_groups_name_part"`);
    await runner.query(`DROP INDEX "ix_cloud_envs_list"`);
    await runner.query(`DROP INDEX "ix_cloud_envs_name_part"`);
    await runner.query(`DROP INDEX "ix_clusters_list"`);
    await runner.query(`DROP INDEX "ix_clusters_name_part"`);
    await runner.query(`DROP INDEX "ix_cluster_confs_list"`);
    await runner.query(`DROP INDEX "ix_cluster_confs_name_part"`);
    await runner.query(`DROP INDEX "ix_boot_disk_images_list"`);
    await runner.query(`DROP INDEX "ix_boot_disk_images_name_part"`);
    await runner.query(
      `CREATE INDEX "ix_workspace_files_parent" ON "workspace_files" ("workspace_id", "parent_path") WHERE to_date = 'infinity'`,
    );
  }
}
