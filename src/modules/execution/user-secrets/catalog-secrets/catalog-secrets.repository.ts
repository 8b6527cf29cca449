import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import type { EntityClass } from '../../../../platform/kernel/persistence/entity-table';
import { Conditions, containsPattern, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import {
  type MetastoreCatalogData,
  metastoreCatalogJoins,
  metastoreCatalogJson,
} from '../../../infrastructure/metastores';
import { sharedWith } from '../../workspaces';
import {
  type CatalogSecret,
  TenantCatalogSecret,
  UserCatalogSecret,
  WorkspaceCatalogSecret,
} from './entities/catalog-secret.entity';

export type SecretScope = 'user' | 'workspace' | 'tenant';

/** The part of a secret that an attachment shows. */
export interface AttachedSecret {
  id: number;
  name: string;
  description: string | null;
  secret_type_id: number;
}

export type CatalogSecretRow<E extends CatalogSecret> = E &
  AuthorNames & {
    name: string;
    catalog: MetastoreCatalogData;
    metastore_secret: AttachedSecret | null;
    storage_secret: AttachedSecret | null;
  };

/** A current secret that is locked until the transaction ends. */
export interface LockedSecret {
  id: number;
  name: string;
  secret_type_id: number;
  /** Id of the workspace or user that owns it; null for a secret of the tenant. */
  owner: number | null;
}

/** The caller sees own attachments and those of workspaces shared with the caller; with `everyone`, all of the tenant. */
export interface OwnScope extends TenantScope {
  everyone: boolean;
}

/** Filters of a list; undefined does not filter. */
export interface AttachmentFilters {
  id: number | undefined;
  catalogId: number | undefined;
  catalogTypeId: number | undefined;
  partOfCatalogName: string | undefined;
}

/** Stores the attachments of the secrets of one scope to catalogs. */
export abstract class CatalogSecretsRepository<
  E extends CatalogSecret,
  Scope extends TenantScope = TenantScope,
> extends ResourceRepository<E, CatalogSecretRow<E>, Scope> {
  constructor(
    dataSource: DataSource,
    entity: EntityClass<E>,
    private readonly scopeName: SecretScope,
  ) {
    const further = ['metastore_secret', 'storage_secret'].map((role) => secretJson(role, scopeName));
    const joins = ['metastore_secret', 'storage_secret'].map((role) => secretJoin(role, scopeName));
    super(dataSource, {
      entity,
      internal: ['place_version'],
      further: ['mc.name', `${metastoreCatalogJson()} AS catalog`, ...further].join(', '),
      joins: [metastoreCatalogJoins(), ...joins].join(' '),
    });
  }

  filter({ id, catalogId, catalogTypeId, partOfCatalogName }: AttachmentFilters): ResourceFilter<E> {
    return (conditions) => {
      conditions
        .addIf(id !== undefined, `t.${this.idColumn} = ?`, id)
        .addIf(catalogId !== undefined, 't.metastore_catalog_id = ?', catalogId)
        .addIf(catalogTypeId !== undefined, catalogIs('c.metastore_catalog_type_id = ?'), catalogTypeId);
      if (partOfCatalogName === undefined) return;
      conditions.add(catalogIs('c.name ILIKE ?'), containsPattern(partOfCatalogName));
    };
  }

  /** Locks secrets until `tx` ends and returns them by id; throws a 404 for one that the caller may not attach. */
  async lockSecrets(tx: Tx, scope: TenantScope, ids: readonly number[]): Promise<LockedSecret[]> {
    const id = `${this.scopeName}_secret_id`;
    const owner = this.scopeName === 'tenant' ? 'NULL::bigint' : `s.${this.scopeName}_id`;
    const conditions = this.ownSecrets(scope, new Conditions().add(ofTenant('s'), scope.tenantId))
      .add(`s.${id} = ANY(?)`, ids)
      .add(`s.to_date = 'infinity'`);
    const locked = await rows<LockedSecret>(
      tx,
      `SELECT s.${id} AS id, s.name, s.secret_type_id, ${owner} AS owner FROM ${this.scopeName}_secrets s
       WHERE ${conditions.sql} ORDER BY s.${id} FOR SHARE`,
      conditions.params,
    );
    const missing = ids.find((one) => !locked.some((secret) => secret.id === one));
    if (missing !== undefined) throw this.absentSecret(missing);
    return locked;
  }

  /** Returns the 404 for a secret that does not belong to the owner. */
  absentSecret(id: number): Error {
    const code = `${this.scopeName.toUpperCase()}_SECRET.NOT_FOUND`;
    return notFound(code, `There is no ${this.scopeName} secret with id ${id}.`);
  }

  /** Adds the conditions under which the caller may attach the secret `s` of the tenant. */
  protected ownSecrets(_scope: TenantScope, conditions: Conditions): Conditions {
    return conditions;
  }
}

@Injectable()
export class TenantCatalogSecretsRepository extends CatalogSecretsRepository<TenantCatalogSecret> {
  constructor(dataSource: DataSource) {
    super(dataSource, TenantCatalogSecret, 'tenant');
  }
}

@Injectable()
export class WorkspaceCatalogSecretsRepository extends CatalogSecretsRepository<WorkspaceCatalogSecret, OwnScope> {
  constructor(dataSource: DataSource) {
    super(dataSource, WorkspaceCatalogSecret, 'workspace');
  }

  protected override within(scope: OwnScope): Conditions<WorkspaceCatalogSecret> {
    const conditions = super.within(scope);
    if (!scope.everyone) sharedWith<WorkspaceCatalogSecret>(scope.userId)(conditions);
    return conditions;
  }

  ofWorkspace(workspaceId: number | undefined): ResourceFilter<WorkspaceCatalogSecret> {
    return (conditions) => conditions.addIf(workspaceId !== undefined, 't.workspace_id = ?', workspaceId);
  }
}

@Injectable()
export class UserCatalogSecretsRepository extends CatalogSecretsRepository<UserCatalogSecret, OwnScope> {
  constructor(dataSource: DataSource) {
    super(dataSource, UserCatalogSecret, 'user');
  }

  protected override within(scope: OwnScope): Conditions<UserCatalogSecret> {
    return super.within(scope).addIf(!scope.everyone, 't.user_id = ?', scope.userId);
  }

  /** No role may attach another user's secrets. */
  protected override ownSecrets({ userId }: TenantScope, conditions: Conditions): Conditions {
    return conditions.add('s.user_id = ?', userId);
  }
}

/** Secrets of an attachment with their versions, which are the exact times of their last updates. */
export interface SecretsOfScope {
  scope: SecretScope;
  /** True if the catalog names other servers than when the secrets were attached. */
  is_outdated: boolean;
  metastore_secret_id: number | null;
  metastore_secret_version: string | null;
  storage_secret_id: number | null;
  storage_secret_version: string | null;
}

/** Finds the secrets that apply to a user in a workspace. */
@Injectable()
export class NearestSecretsRepository {
  /** Returns the attached secrets of the user, the workspace and the tenant, in this order, without owners that have none. */
  async nearest(tx: Tx, scope: TenantScope, workspaceId: number, catalogId: number): Promise<SecretsOfScope[]> {
    return rows<SecretsOfScope>(
      tx,
      `${secretsOf('user', 1, 't.user_id = $3')}
       UNION ALL ${secretsOf('workspace', 2, 't.workspace_id = $4')}
       UNION ALL ${secretsOf('tenant', 3, 'TRUE')}
       ORDER BY distance`,
      [scope.tenantId, catalogId, scope.userId, workspaceId],
    );
  }
}

function secretsOf(scope: SecretScope, distance: number, ofOwner: string): string {
  const columns = ['metastore_secret', 'storage_secret'].map(
    (role) => `${role}.${scope}_secret_id AS ${role}_id,
      extract(epoch FROM ${role}.last_update_date)::text AS ${role}_version`,
  );
  // The users who attach the tenant's secrets are the same who configure the catalog's servers.
  const isOutdated = scope === 'tenant' ? 'false' : 't.place_version <> mc.place_version';
  return `SELECT ${distance} AS distance, '${scope}' AS scope, ${isOutdated} AS is_outdated, ${columns.join(', ')}
    FROM ${scope}_catalog_secrets t
    ${metastoreCatalogJoins()}
    ${secretJoin('metastore_secret', scope)}
    ${secretJoin('storage_secret', scope)}
    WHERE ${ofTenant('t', '$1')} AND t.metastore_catalog_id = $2 AND ${ofOwner} AND t.to_date = 'infinity'`;
}

/** SQL condition on the catalog of the attachment `t`. */
function catalogIs(condition: string): string {
  return `EXISTS (SELECT 1 FROM metastore_catalogs c
    WHERE ${ofTenant('c', 't.tenant_id')} AND c.metastore_catalog_id = t.metastore_catalog_id AND ${condition})`;
}

function secretJoin(role: string, scope: SecretScope): string {
  return `LEFT JOIN ${scope}_secrets ${role} ON ${ofTenant(role, 't.tenant_id')}
    AND ${role}.${scope}_secret_id = t.${role}_id`;
}

function secretJson(role: string, scope: SecretScope): string {
  return `CASE WHEN t.${role}_id IS NOT NULL THEN jsonb_build_object('id', ${role}.${scope}_secret_id,
    'name', ${role}.name, 'description', ${role}.description, 'secret_type_id', ${role}.secret_type_id) END AS ${role}`;
}
