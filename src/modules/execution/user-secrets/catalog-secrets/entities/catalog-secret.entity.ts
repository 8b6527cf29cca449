import { applyDecorators } from '@nestjs/common';
import { Entity, ForeignKey, Index } from 'typeorm';
import { Col, CURRENT, TenantColumns } from '../../../../../platform/kernel/persistence/columns';
import { EndsWith, KeepsInUse, RecordKind } from '../../../../../platform/http/resources/record-kind';

/** Secrets of one owner that open a catalog: its metastore, the object store of its tables, or both. */
export abstract class CatalogSecret extends TenantColumns {
  @Col.bigint() metastore_catalog_id: number;
  @Col.bigint({ nullable: true }) metastore_secret_id: number | null;
  @Col.bigint({ nullable: true }) storage_secret_id: number | null;
  /** The catalog's version of its servers when the secrets were last attached or changed. */
  @Col.int({ default: 1 }) place_version: number;
}

/** Declares what the three tables share. @param owner column of the owner within the tenant */
function CatalogSecretTable(scope: 'tenant' | 'workspace' | 'user', owner: string[]): ClassDecorator {
  const [table, id] = [`${scope}_catalog_secrets`, `metastore_catalog_secret_${scope}_id`];
  return applyDecorators(
    Entity(table),
    Index(`uq_${table}_metastore_catalog`, ['tenant_id', 'metastore_catalog_id', ...owner], {
      unique: true,
      where: CURRENT,
    }),
    Index(`ix_${table}_list`, ['tenant_id', ...owner, id], { where: CURRENT }),
    ForeignKey('MetastoreCatalog', ['tenant_id', 'metastore_catalog_id'], ['tenant_id', 'metastore_catalog_id'], {
      name: `fk_${table}_metastore_catalog`,
    }),
    EndsWith({ ended: 'MetastoreCatalog', column: 'metastore_catalog_id' }) as ClassDecorator,
    AttachesSecret(scope, 'metastore_secret'),
    AttachesSecret(scope, 'storage_secret'),
    RecordKind({
      code: `${scope.toUpperCase()}_CATALOG_SECRET`,
      label: `${scope} secret attachment`,
    }) as ClassDecorator,
  );
}

/** Declares a column that references a secret of the scope and prevents its deletion. */
function AttachesSecret(scope: string, role: 'metastore_secret' | 'storage_secret'): ClassDecorator {
  const [table, column] = [`${scope}_catalog_secrets`, `${role}_id`];
  const Kept = `${scope.charAt(0).toUpperCase()}${scope.slice(1)}Secret`;
  return applyDecorators(
    Index(`ix_${table}_${role}`, [column], { where: CURRENT }),
    ForeignKey(Kept, ['tenant_id', column], ['tenant_id', `${scope}_secret_id`], { name: `fk_${table}_${role}` }),
    KeepsInUse({
      kept: Kept,
      column,
      condition: `t.to_date = 'infinity'`,
      joins:
        'JOIN metastore_catalogs c ON c.tenant_id = t.tenant_id AND c.metastore_catalog_id = t.metastore_catalog_id',
      columns: 'c.metastore_catalog_id, c.name',
      code: 'SECRET.IN_USE',
      named: ({ name }) => `"${String(name)}"`,
      message: (names) => `The secret is attached to the metastore catalogs ${names}. Detach it there first.`,
      details: (metastore_catalogs) => ({ metastore_catalogs }),
    }) as ClassDecorator,
  );
}

@CatalogSecretTable('tenant', [])
export class TenantCatalogSecret extends CatalogSecret {
  @Col.identity('pk_tenant_catalog_secrets') metastore_catalog_secret_tenant_id: number;
}

@CatalogSecretTable('workspace', ['workspace_id'])
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_workspace_catalog_secrets_workspace',
})
export class WorkspaceCatalogSecret extends CatalogSecret {
  @Col.identity('pk_workspace_catalog_secrets') metastore_catalog_secret_workspace_id: number;
  @Col.bigint() workspace_id: number;
}

@CatalogSecretTable('user', ['user_id'])
// For administrators, who list the attachments of all users.
@Index('ix_user_catalog_secrets_all', ['tenant_id', 'metastore_catalog_secret_user_id'], { where: CURRENT })
export class UserCatalogSecret extends CatalogSecret {
  @Col.identity('pk_user_catalog_secrets') metastore_catalog_secret_user_id: number;
  @ForeignKey('User', { name: 'fk_user_catalog_secrets_user' })
  @Col.bigint()
  user_id: number;
}
