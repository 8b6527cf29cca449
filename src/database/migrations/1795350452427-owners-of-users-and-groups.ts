import type { MigrationInterface, QueryRunner } from 'typeorm';

export class OwnersOfUsersAndGroups1795350452427 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "groups" ADD "owner_tenant_id" uuid`);
    await runner.query(`ALTER TABLE "group_roles" ADD "granted_by_tenant_id" uuid`);
    await runner.query(`ALTER TABLE "users" ADD "owner_tenant_id" uuid`);
    await runner.query(`ALTER TABLE "users" ADD "password_known_to_tenant" boolean NOT NULL DEFAULT false`);
    await runner.query(`ALTER TABLE "group_users" ADD "granted_by_tenant_id" uuid`);
    await runner.query(`ALTER TABLE "user_roles" ADD "granted_by_tenant_id" uuid`);
    await runner.query(
      `CREATE INDEX "ix_groups_owner" ON "groups"  ("owner_tenant_id") WHERE owner_tenant_id IS NOT NULL`,
    );
    await runner.query(
      `CREATE INDEX "ix_users_owner" ON "users"  ("owner_tenant_id") WHERE owner_tenant_id IS NOT NULL`,
    );
    await runner.query(
      `ALTER TABLE "groups" ADD CONSTRAINT "fk_groups_owner" FOREIGN KEY ("owner_tenant_id") REFERENCES "tenants"("tenant_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `ALTER TABLE "group_roles" ADD CONSTRAINT "fk_group_roles_granted_by" FOREIGN KEY ("granted_by_tenant_id") REFERENCES "tenants"("tenant_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `ALTER TABLE "users" ADD CONSTRAINT "fk_users_owner" FOREIGN KEY ("owner_tenant_id") REFERENCES "tenants"("tenant_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `ALTER TABLE "group_users" ADD CONSTRAINT "fk_group_users_granted_by" FOREIGN KEY ("granted_by_tenant_id") REFERENCES "tenants"("tenant_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await runner.query(
      `ALTER TABLE "user_roles" ADD CONSTRAINT "fk_user_roles_granted_by" FOREIGN KEY ("granted_by_tenant_id") REFERENCES "tenants"("tenant_id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    );
    await giveOwners(runner);
    await runner.query(
      `ALTER TABLE "users" ADD CONSTRAINT "ck_users_owner_knows" CHECK (owner_tenant_id IS NULL OR password_known_to_tenant)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "users" DROP CONSTRAINT "ck_users_owner_knows"`);
    await runner.query(`ALTER TABLE "user_roles" DROP CONSTRAINT "fk_user_roles_granted_by"`);
    await runner.query(`ALTER TABLE "group_users" DROP CONSTRAINT "fk_group_users_granted_by"`);
    await runner.query(`ALTER TABLE "users" DROP CONSTRAINT "fk_users_owner"`);
    await runner.query(`ALTER TABLE "group_roles" DROP CONSTRAINT "fk_group_roles_granted_by"`);
    await runner.query(`ALTER TABLE "groups" DROP CONSTRAINT "fk_groups_owner"`);
    await runner.query(`DROP INDEX "public"."ix_users_owner"`);
    await runner.query(`DROP INDEX "public"."ix_groups_owner"`);
    await runner.query(`ALTER TABLE "user_roles" DROP COLUMN "granted_by_tenant_id"`);
    await runner.query(`ALTER TABLE "group_users" DROP COLUMN "granted_by_tenant_id"`);
    await runner.query(`ALTER TABLE "users" DROP COLUMN "password_known_to_tenant"`);
    await runner.query(`ALTER TABLE "users" DROP COLUMN "owner_tenant_id"`);
    await runner.query(`ALTER TABLE "group_roles" DROP COLUMN "granted_by_tenant_id"`);
    await runner.query(`ALTER TABLE "groups" DROP COLUMN "owner_tenant_id"`);
  }
}

/**
 * What counts in one tenant only becomes that tenant's: its ADMINs could change it until now. Everything else, and what
 * comes from an outside directory, is the platform's. Who gave a role or a membership is not known; all count as the
 * platform's, so that nobody finds another tenant selected at the next login.
 */
async function giveOwners(runner: QueryRunner): Promise<void> {
  await runner.query(
    `UPDATE groups g SET owner_tenant_id = o.tenant_id
     FROM (SELECT group_id, (array_agg(tenant_id))[1] AS tenant_id FROM group_roles WHERE to_date = 'infinity'
           GROUP BY group_id HAVING count(DISTINCT tenant_id) = 1 AND count(*) = count(tenant_id)) o
     WHERE o.group_id = g.group_id AND g.to_date = 'infinity' AND g.directory = 'local'
       AND NOT EXISTS (SELECT 1 FROM workspace_groups wg
                       WHERE wg.group_id = g.group_id AND wg.to_date = 'infinity' AND wg.tenant_id <> o.tenant_id)`,
  );
  await runner.query(
    `WITH held AS (
       SELECT user_id, tenant_id FROM user_roles WHERE to_date = 'infinity'
       UNION ALL
       SELECT gu.user_id, gr.tenant_id FROM group_users gu
       JOIN groups g ON g.group_id = gu.group_id AND g.to_date = 'infinity'
       JOIN group_roles gr ON gr.group_id = gu.group_id AND gr.to_date = 'infinity'
       WHERE gu.to_date = 'infinity')
     UPDATE users u SET owner_tenant_id = o.tenant_id
     FROM (SELECT user_id, (array_agg(tenant_id))[1] AS tenant_id FROM held
           GROUP BY user_id HAVING count(DISTINCT tenant_id) = 1 AND count(*) = count(tenant_id)) o
     WHERE o.user_id = u.user_id AND u.directory = 'local'`,
  );
  // Any ADMIN could set the password of an account without a role, and the one of its only tenant that of the others.
  await runner.query(
    `UPDATE users u SET password_known_to_tenant = true
     WHERE u.directory = 'local'
       AND NOT EXISTS (SELECT 1 FROM user_roles ur
                       WHERE ur.user_id = u.user_id AND ur.tenant_id IS NULL AND ur.to_date = 'infinity')
       AND NOT EXISTS (SELECT 1 FROM group_users gu
                       JOIN groups g ON g.group_id = gu.group_id AND g.to_date = 'infinity'
                       JOIN group_roles gr ON gr.group_id = gu.group_id AND gr.to_date = 'infinity'
                       WHERE gu.user_id = u.user_id AND gu.to_date = 'infinity' AND gr.tenant_id IS NULL)`,
  );
}
