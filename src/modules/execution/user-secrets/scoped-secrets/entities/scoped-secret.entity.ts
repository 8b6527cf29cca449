import { applyDecorators } from '@nestjs/common';
import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** A secret of a tenant, a workspace or a user, for metastores, object stores and jobs. */
export abstract class ScopedSecret extends TenantColumns {
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @Col.int() secret_type_id: number;
  /** The values, sealed with the tenant's data key and bound to this row and its owner. Empty after the secret was deleted. */
  @Col.bytes() sealed: Buffer;
}

/** Declares what the three tables share. @param owner columns of the owner, within which names are unique */
function SecretTable(scope: 'tenant' | 'workspace' | 'user', owner: string[]): ClassDecorator {
  const [table, id] = [`${scope}_secrets`, `${scope}_secret_id`];
  return applyDecorators(
    Entity(table),
    Unique(`uq_${table}_tenant_id`, ['tenant_id', id]),
    Index(`uq_${table}_name`, [...owner, 'name'], { unique: true, where: CURRENT }),
    ListIndex(`ix_${table}_list`, [...owner, id, 'name'], { where: CURRENT }),
    PartOfNameIndex(`ix_${table}_name_part`, 'name', { where: CURRENT }),
    ForeignKey('SecretType', ['secret_type_id'], ['lookup_secret_type_id'], { name: `fk_${table}_secret_type` }),
    RecordKind({ code: `${scope.toUpperCase()}_SECRET`, label: `${scope} secret` }) as ClassDecorator,
  );
}

@SecretTable('tenant', ['tenant_id'])
export class TenantSecret extends ScopedSecret {
  @Col.identity('pk_tenant_secrets') tenant_secret_id: number;
}

@SecretTable('workspace', ['tenant_id', 'workspace_id'])
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_workspace_secrets_workspace',
})
export class WorkspaceSecret extends ScopedSecret {
  @Col.identity('pk_workspace_secrets') workspace_secret_id: number;
  @Col.bigint() workspace_id: number;
}

/** A secret of one user in one tenant. The same user has other secrets in other tenants. */
@SecretTable('user', ['tenant_id', 'user_id'])
export class UserSecret extends ScopedSecret {
  @Col.identity('pk_user_secrets') user_secret_id: number;
  @ForeignKey('User', { name: 'fk_user_secrets_user' })
  @Col.bigint()
  user_id: number;
}
