import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { CURRENT } from '../../../../platform/kernel/persistence/columns';
import { type EntityClass, tableOf } from '../../../../platform/kernel/persistence/entity-table';
import {
  type Conditions,
  firstRow,
  keyedAdvisoryLock,
  NOW,
  type Tx,
  type Values,
} from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import {
  type Author,
  type ResourceFilter,
  ResourceRepository,
  type ResourceSql,
} from '../../../../platform/http/resources/resource-repository';
import { type ScopedSecret, TenantSecret, UserSecret, WorkspaceSecret } from './entities/scoped-secret.entity';

/** Without `sealed`, so that no reader handles it by accident. */
export type SecretRow<E extends ScopedSecret> = Omit<E, 'sealed'> & AuthorNames;

export type TenantSecretRow = SecretRow<TenantSecret> & { tenant_name: string; tenant_description: string | null };
export type WorkspaceSecretRow = SecretRow<WorkspaceSecret> & {
  workspace_name: string;
  workspace_description: string | null;
};

const GROWTH_LOCK = 7_203_106;

/** The column of the owner within the tenant, and how a scope names it. */
interface Owner<E, Scope> {
  column: keyof E & string;
  idOf: (scope: Scope) => number;
}

/** Stores the secrets of one scope. A secret is not found through another scope. */
export class ScopedSecretsRepository<
  E extends ScopedSecret,
  Row extends object,
  Scope extends TenantScope,
> extends ResourceRepository<E, Row, Scope> {
  constructor(
    dataSource: DataSource,
    sql: Omit<ResourceSql<E>, 'without'>,
    private readonly owner: Owner<E, Scope> | null = null,
  ) {
    super(dataSource, { ...sql, without: ['sealed'] });
  }

  get entity(): EntityClass<E> {
    return this.sql.entity;
  }

  /** Returns the id of the owner within the tenant; null if the owner is the tenant itself. */
  ownerId(scope: Scope): number | null {
    return this.owner && this.owner.idOf(scope);
  }

  /** Filters by type and id; undefined does not filter. */
  filter({ typeId, id }: { typeId: number | undefined; id: unknown }): ResourceFilter<E> {
    return (conditions) =>
      conditions
        .addIf(typeId !== undefined, 't.secret_type_id = ?', typeId)
        .addIf(id !== undefined, `t.${this.idColumn} = ?`, id);
  }

  /** Counts the secrets of the owner up to `limit`, and locks out other additions until `tx` ends. */
  async countForInsert(tx: Tx, scope: Scope, limit: number): Promise<number> {
    await keyedAdvisoryLock(tx, GROWTH_LOCK, [scope.tenantId, this.idColumn, this.ownerId(scope)].join('/'));
    const conditions = this.within(scope);
    this.addValidity(conditions);
    const counted = await firstRow<{ count: number }>(
      tx,
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM ${tableOf(this.entity)} t WHERE ${conditions.sql} LIMIT ${limit}) counted`,
      conditions.params,
    );
    return counted?.count ?? 0;
  }

  /** Returns a current secret with its sealed values. */
  async sealed(
    tx: Tx,
    scope: Scope,
    id: number,
  ): Promise<Pick<ScopedSecret, 'name' | 'secret_type_id' | 'sealed'> | null> {
    const conditions = this.within(scope).add(`t.${this.idColumn} = ?`, id);
    this.addValidity(conditions);
    return firstRow(
      tx,
      `SELECT t.name, t.secret_type_id, t.sealed FROM ${tableOf(this.entity)} t WHERE ${conditions.sql}`,
      conditions.params,
    );
  }

  /** Ends the secret's validity and erases its values. */
  override async close(tx: Tx, scope: Scope & Author, id: number): Promise<void> {
    const erased: Values<ScopedSecret> = { to_date: NOW, sealed: Buffer.alloc(0) };
    await this.writeRow(tx, scope, id, erased as Values<E>);
  }

  protected override within(scope: Scope): Conditions<E> {
    const conditions = super.within(scope);
    return this.owner ? conditions.add(`t.${this.owner.column} = ?`, this.owner.idOf(scope)) : conditions;
  }

  protected override placeOf(scope: Scope): Partial<E> {
    const own = this.owner ? { [this.owner.column]: this.owner.idOf(scope) } : {};
    return { ...super.placeOf(scope), ...own };
  }
}

@Injectable()
export class SecretsOfTenantRepository extends ScopedSecretsRepository<TenantSecret, TenantSecretRow, TenantScope> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: TenantSecret,
      further: 'o.name AS tenant_name, o.description AS tenant_description',
      joins: `JOIN tenants o ON ${ofTenant('o', 't.tenant_id')}`,
    });
  }
}

@Injectable()
export class SecretsOfWorkspaceRepository extends ScopedSecretsRepository<
  WorkspaceSecret,
  WorkspaceSecretRow,
  WorkspaceScope
> {
  constructor(dataSource: DataSource) {
    const sql = {
      entity: WorkspaceSecret,
      further: 'o.name AS workspace_name, o.description AS workspace_description',
      joins: 'JOIN workspaces o ON o.workspace_id = t.workspace_id',
    };
    super(dataSource, sql, { column: 'workspace_id', idOf: ({ workspace }) => workspace.workspaceId });
  }

  /** Returns the workspace of a current secret; null if the tenant has no such secret. */
  async workspaceOf(tx: Tx, { tenantId }: TenantScope, id: number): Promise<number | null> {
    const secret = await firstRow<{ workspace_id: number }>(
      tx,
      `SELECT t.workspace_id FROM workspace_secrets t
       WHERE ${ofTenant('t', '$1')} AND t.workspace_secret_id = $2 AND t.${CURRENT}`,
      [tenantId, id],
    );
    return secret?.workspace_id ?? null;
  }
}

@Injectable()
export class SecretsOfUserRepository extends ScopedSecretsRepository<UserSecret, SecretRow<UserSecret>, TenantScope> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: UserSecret }, { column: 'user_id', idOf: ({ userId }) => userId });
  }
}
