import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../platform/kernel/dto/response-fields';
import { limitClause, type Page, type PageRequest, pageOf } from '../../../platform/kernel/dto/page';
import { AuditColumns, type ValidityColumns } from '../../../platform/kernel/persistence/columns';
import { columnsOf } from '../../../platform/kernel/persistence/entity-table';
import { containsPattern, firstRow, Params, returning, rows, type Tx } from '../../../platform/kernel/persistence/sql';
import { authorSql } from '../../../platform/http/resources/resource-repository';
import type { GroupRead, UserRead } from '../../foundation/iam';
import { WorkspacePermissionRecord, type WorkspaceUser } from './entities/workspace-permissions.entity';

/** The kinds of holders of permissions on workspaces. */
export type HolderKind = 'user' | 'group';

interface Records {
  user: Omit<UserRead, 'to_date'> & Pick<ValidityColumns, 'to_date'>;
  group: Omit<GroupRead, 'to_date'> & Pick<ValidityColumns, 'to_date'>;
}

/** A user or group with the strongest permission that it holds on a workspace. */
export type Holder<K extends HolderKind> = Records[K] & Pick<WorkspacePermissionRecord, 'permission_id'>;

type PermissionNames = { permission_name: string; permission_description: string };

/** A permission that a user or group holds directly. */
export type HeldPermission = AuditColumns &
  AuthorNames &
  PermissionNames &
  Pick<WorkspaceUser, 'permission_id'> & { held_id: number; holder_id: number; holder_name: string };

export type AssignedPermission = AuditColumns &
  Pick<WorkspaceUser, 'tenant_id' | 'workspace_id' | 'permission_id'> & { held_id: number };

export interface HolderFilter {
  permissionId?: number | undefined;
  /** A group of the users, or a member of the groups. */
  otherId?: number | undefined;
  holderId?: number | undefined;
  name?: string | undefined;
  partOfName?: string | undefined;
}

interface HolderSql {
  /** Table of the permissions, its key, and its column of the holders. */
  table: 'workspace_users' | 'workspace_groups';
  key: 'auth_workspace_user_id' | 'auth_workspace_group_id';
  id: 'user_id' | 'group_id';
  records: 'users' | 'groups';
  name: 'username' | 'group_name';
  columns: string;
  /** Returns SQL for all holders of a permission on the workspace, each once with the strongest. */
  held: (workspace: string) => string;
  /** Returns an SQL condition that `t` is in the group, or has the user as a member. */
  together: (other: string) => string;
}

const HOLDERS: Record<HolderKind, HolderSql> = {
  user: {
    table: 'workspace_users',
    key: 'auth_workspace_user_id',
    id: 'user_id',
    records: 'users',
    name: 'username',
    columns: 't.user_id, t.username, t.display_name, t.email, t.from_date, t.to_date',
    held: (workspace) => `
      SELECT each.user_id, max(each.permission_id) AS permission_id FROM (
        SELECT wu.user_id, wu.permission_id FROM workspace_users wu
        WHERE wu.workspace_id = ${workspace} AND wu.to_date = 'infinity'
        UNION ALL
        SELECT gu.user_id, wg.permission_id FROM workspace_groups wg
        JOIN group_users gu ON gu.group_id = wg.group_id AND gu.to_date = 'infinity'
        WHERE wg.workspace_id = ${workspace} AND wg.to_date = 'infinity') each
      GROUP BY each.user_id`,
    together: (group) => `EXISTS (SELECT 1 FROM group_users gu
      WHERE gu.group_id = ${group} AND gu.user_id = t.user_id AND gu.to_date = 'infinity')`,
  },
  group: {
    table: 'workspace_groups',
    key: 'auth_workspace_group_id',
    id: 'group_id',
    records: 'groups',
    name: 'group_name',
    columns: 't.group_id, t.group_name, t.group_mail, t.group_object_id, t.group_type, t.from_date, t.to_date',
    held: (workspace) => `
      SELECT wg.group_id, wg.permission_id FROM workspace_groups wg
      WHERE wg.workspace_id = ${workspace} AND wg.to_date = 'infinity'`,
    together: (user) => `EXISTS (SELECT 1 FROM group_users gu
      WHERE gu.user_id = ${user} AND gu.group_id = t.group_id AND gu.to_date = 'infinity')`,
  },
};

const COLUMNS = ['tenant_id', 'workspace_id', 'permission_id', ...columnsOf(AuditColumns)];

/**
 * Permissions of users and groups on a workspace. The guard has admitted the caller to the workspace, so statements do
 * not check the tenant.
 */
@Injectable()
export class WorkspaceAccessRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns all permissions, the weakest first. */
  permissions(): Promise<WorkspacePermissionRecord[]> {
    return this.dataSource.manager.find(WorkspacePermissionRecord, { order: { permission_id: 'ASC' } });
  }

  permission(permissionId: number): Promise<WorkspacePermissionRecord | null> {
    return this.dataSource.manager.findOneBy(WorkspacePermissionRecord, { permission_id: permissionId });
  }

  /** Returns a page of users or groups that hold a permission, newest first. */
  async list<K extends HolderKind>(
    kind: K,
    workspaceId: number,
    page: PageRequest,
    { permissionId, otherId, holderId, name, partOfName }: HolderFilter = {},
  ): Promise<Page<Holder<K>>> {
    const sql = HOLDERS[kind];
    const params = new Params();
    const conditions = [
      ...(permissionId === undefined ? [] : [`h.permission_id = ${params.add(permissionId)}`]),
      ...(otherId === undefined ? [] : [sql.together(params.add(otherId))]),
      ...(holderId === undefined ? [] : [`t.${sql.id} = ${params.add(holderId)}`]),
      ...(name === undefined ? [] : [`t.${sql.name} = ${params.add(name)}`]),
      ...(partOfName === undefined ? [] : [`t.${sql.name} ILIKE ${params.add(containsPattern(partOfName))}`]),
    ];
    const from = `FROM (${sql.held(params.add(workspaceId))}) h JOIN ${sql.records} t ON t.${sql.id} = h.${sql.id}
      WHERE ${conditions.join(' AND ') || 'TRUE'}`;
    // The strongest permissions are known only after all rows have been read, so counting them costs nothing extra.
    const found = await rows<Holder<K> & { total: number }>(
      this.dataSource.manager,
      `SELECT ${sql.columns}, h.permission_id, count(*) OVER () AS total ${from} ORDER BY t.${sql.id} DESC ${limitClause(page)}`,
      params.values,
    );
    const isBeyond = found.length === 0 && page.pageNumber > 1;
    const counted = isBeyond
      ? await firstRow<{ total: number }>(this.dataSource.manager, `SELECT count(*) AS total ${from}`, params.values)
      : found[0];
    return pageOf(found, counted?.total ?? 0, page);
  }

  async heldBy(kind: HolderKind, workspaceId: number, holderId: number): Promise<HeldPermission | null> {
    const { id } = HOLDERS[kind];
    return (await this.held(kind, workspaceId, `t.${id} = $2`, holderId))[0] ?? null;
  }

  heldByGroupsOf(workspaceId: number, userId: number): Promise<HeldPermission[]> {
    return this.held('group', workspaceId, HOLDERS.group.together('$2'), userId);
  }

  /**
   * Assigns the permission in place of any other that the holder has directly. Returns null if the holder already has
   * it. Of concurrent assignments, the one that commits last wins.
   */
  async assign(
    tx: Tx,
    kind: HolderKind,
    scope: TenantScope,
    { workspaceId, holderId, permissionId }: { workspaceId: number; holderId: number; permissionId: number },
  ): Promise<AssignedPermission | null> {
    const { table, key, id } = HOLDERS[kind];
    // Assignments to a workspace wait for each other, because one that cannot see the row which another has just inserted would
    // neither end that row nor insert its own.
    await tx.query('SELECT 1 FROM workspaces WHERE workspace_id = $1 FOR NO KEY UPDATE', [workspaceId]);
    await tx.query(
      `UPDATE ${table} SET to_date = platform_now(), modified_by_user_id = $4, last_update_date = platform_now()
       WHERE workspace_id = $1 AND ${id} = $2 AND permission_id <> $3 AND to_date = 'infinity'`,
      [workspaceId, holderId, permissionId, scope.userId],
    );
    const [assigned] = await returning<AssignedPermission>(
      tx,
      `INSERT INTO ${table} (tenant_id, workspace_id, ${id}, permission_id, created_by_user_id, modified_by_user_id)
       VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING ${key} AS held_id, ${COLUMNS.join(', ')}`,
      [scope.tenantId, workspaceId, holderId, permissionId, scope.userId],
    );
    return assigned ?? null;
  }

  /** Revokes the permission. Returns true if the holder had it directly. */
  async revoke(
    tx: Tx,
    kind: HolderKind,
    { userId }: Pick<TenantScope, 'userId'>,
    { workspaceId, holderId, permissionId }: { workspaceId: number; holderId: number; permissionId: number },
  ): Promise<boolean> {
    const { table, id } = HOLDERS[kind];
    const revoked = await returning(
      tx,
      `UPDATE ${table} SET to_date = platform_now(), modified_by_user_id = $4, last_update_date = platform_now()
       WHERE workspace_id = $1 AND ${id} = $2 AND permission_id = $3 AND to_date = 'infinity' RETURNING 1`,
      [workspaceId, holderId, permissionId, userId],
    );
    return revoked.length > 0;
  }

  /** @param condition about `t`, the permission of a user or group; `$2` in it is `value` */
  private held(kind: HolderKind, workspaceId: number, condition: string, value: number): Promise<HeldPermission[]> {
    const { table, key, id, records, name } = HOLDERS[kind];
    const author = authorSql();
    return rows<HeldPermission>(
      this.dataSource.manager,
      `SELECT ${COLUMNS.map((column) => `t.${column}`).join(', ')}, t.${key} AS held_id, t.${id} AS holder_id,
         r.${name} AS holder_name, p.name AS permission_name, p.description AS permission_description, ${author.names}
       FROM ${table} t JOIN ${records} r ON r.${id} = t.${id}
         JOIN workspace_permissions p ON p.permission_id = t.permission_id ${author.joins}
       WHERE t.workspace_id = $1 AND t.to_date = 'infinity' AND ${condition}
       ORDER BY t.permission_id DESC, t.${id}`,
      [workspaceId, value],
    );
  }
}
