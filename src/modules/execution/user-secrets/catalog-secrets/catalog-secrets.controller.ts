import { Body, Controller, Query, type Type } from '@nestjs/common';
import { type Access, Allow } from '../../../../platform/kernel/auth/access';
import { isTenantAdmin, type Principal, type TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../../platform/http/auth/request-principal';
import { ADMINS, CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import type { Message } from '../../../../platform/kernel/dto/answers';
import { declareOperation, type HandlerParameter } from '../../../../platform/http/declare-operation';
import { Answers } from '../../../../platform/http/operation';
import type { OperationOptions } from '../../../../platform/http/operation-options';
import type { Page } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import type { Attachment } from './attached-secrets.service';
import type { OwnScope } from './catalog-secrets.repository';
import {
  type AskedSecrets,
  AttachTenantSecrets,
  AttachUserSecrets,
  AttachWorkspaceSecrets,
  CatalogSecretTenantRead,
  CatalogSecretTenantWrite,
  CatalogSecretUserRead,
  CatalogSecretUserWrite,
  CatalogSecretWorkspaceRead,
  CatalogSecretWorkspaceWrite,
  ChangeTenantSecrets,
  ChangeUserSecrets,
  ChangeWorkspaceSecrets,
  TenantCatalogSecretListQuery,
  TenantCatalogSecretSelector,
  UserCatalogSecretListQuery,
  UserCatalogSecretSelector,
  WorkspaceCatalogSecretListQuery,
  WorkspaceCatalogSecretSelector,
} from './dto/catalog-secret.dto';
import { TenantCatalogSecretsService } from './tenant-catalog-secrets.service';
import { UserCatalogSecretsService } from './user-catalog-secrets.service';
import { WorkspaceCatalogSecretsService } from './workspace-catalog-secrets.service';

/** What differs between the operations on the associations of one scope and those of another. */
interface CatalogSecretRoutes<Attach, Change, Read, Write, ListQuery> {
  /** Operation ids are made with it: `attachTenantCatalogSecret`. */
  word: 'Tenant' | 'Workspace' | 'User';
  /** For summaries. */
  label: string;
  access: Record<'list' | 'attach' | 'update' | 'detach', Access>;
  attach: Type<Attach>;
  change: Type<Change>;
  selector: Type<{ selector(): RecordSelector }>;
  listQuery: Type<ListQuery>;
  read: Type<Read>;
  write: Type<Write>;
}

interface Service<Read, Write, ListQuery, Scope> {
  list(scope: Scope, query: ListQuery): Promise<Page<Read>>;
  create(scope: Scope, attachment: Attachment): Promise<Write>;
  update(scope: Scope, selector: RecordSelector, secrets: AskedSecrets): Promise<Write>;
  delete(scope: Scope, selector: RecordSelector): Promise<Message>;
}

/** Base class of a controller that lists, attaches, changes and detaches the secrets of one scope. */
function CatalogSecretsController<
  Attach extends { metastore_catalog_id: number; secrets(): AskedSecrets },
  Change extends { selector(): RecordSelector; secrets(): AskedSecrets },
  Read extends object,
  Write extends object,
  ListQuery extends object,
  Scope extends TenantScope = TenantScope,
>(
  routes: CatalogSecretRoutes<Attach, Change, Read, Write, ListQuery>,
  scopeOf: (scope: TenantScope, principal: Principal) => Scope,
) {
  abstract class CatalogSecretsOfScopeController {
    protected constructor(private readonly service: Service<Read, Write, ListQuery, Scope>) {}

    list(scope: TenantScope, principal: Principal, query: ListQuery): Promise<Page<Read>> {
      return this.service.list(scopeOf(scope, principal), query);
    }

    attach(scope: TenantScope, principal: Principal, body: Attach): Promise<Write> {
      const attachment = { catalogId: body.metastore_catalog_id, ...body.secrets() };
      return this.service.create(scopeOf(scope, principal), attachment);
    }

    update(scope: TenantScope, principal: Principal, body: Change): Promise<Write> {
      return this.service.update(scopeOf(scope, principal), body.selector(), body.secrets());
    }

    detach(scope: TenantScope, principal: Principal, query: { selector(): RecordSelector }): Promise<Message> {
      return this.service.delete(scopeOf(scope, principal), query.selector());
    }
  }

  const { word, label, access, attach, change, selector, listQuery, read, write } = routes;
  const caller: HandlerParameter[] = [
    { decorate: CurrentScope(), type: Object },
    { decorate: CurrentPrincipal(), type: Object },
  ];
  const query = (type: Type<object>): HandlerParameter => ({ decorate: Query(), type });
  const body = (type: Type<object>): HandlerParameter => ({ decorate: Body(), type });
  const declare = (
    method: keyof CatalogSecretsOfScopeController,
    parameter: HandlerParameter,
    operation: Pick<OperationOptions, 'method' | 'summary' | 'answer'> & Partial<OperationOptions>,
  ) =>
    declareOperation(CatalogSecretsOfScopeController.prototype, method, [...caller, parameter], {
      path: `/metastore/catalog/secret/${word.toLowerCase()}`,
      id: `${method}${word}CatalogSecret${method === 'list' ? 's' : ''}`,
      tag: 'Secrets of metastores',
      access: access[method],
      ...operation,
    });
  declare('list', query(listQuery), {
    method: 'GET',
    summary: `List which ${label} are attached to metastore catalogs, newest first`,
    answer: Answers.page(read),
  });
  declare('attach', body(attach), {
    method: 'POST',
    summary: `Attach ${label} to a metastore catalog`,
    description: 'Once for each catalog and owner: the nearest secrets count, user, workspace, tenant.',
    answer: Answers.one(write),
    errors: [409],
  });
  declare('update', body(change), {
    method: 'PUT',
    summary: `Change which ${label} are attached to a metastore catalog`,
    description: 'A secret that is null is detached. One must be left; otherwise detach them as a whole.',
    answer: Answers.one(write),
    status: 201,
    errors: [409],
  });
  declare('detach', query(selector), {
    method: 'DELETE',
    summary: `Detach ${label} from a metastore catalog`,
    answer: Answers.message,
    status: 201,
  });
  return CatalogSecretsOfScopeController;
}

const TENANT = {
  word: 'Tenant',
  label: 'secrets of the tenant',
  access: {
    list: Allow.tenant(),
    attach: Allow.tenant(CLUSTER_MANAGERS),
    update: Allow.tenant(ADMINS),
    detach: Allow.tenant(ADMINS),
  },
  attach: AttachTenantSecrets,
  change: ChangeTenantSecrets,
  selector: TenantCatalogSecretSelector,
  listQuery: TenantCatalogSecretListQuery,
  read: CatalogSecretTenantRead,
  write: CatalogSecretTenantWrite,
} as const;

@Controller()
export class TenantCatalogSecretsController extends CatalogSecretsController(TENANT, (scope) => scope) {
  constructor(service: TenantCatalogSecretsService) {
    super(service);
  }
}

/** Administrators hold every permission on every workspace of the tenant. */
const WORKSPACE = {
  word: 'Workspace',
  label: 'secrets of a workspace',
  access: {
    list: Allow.workspaceIfNamed('VIEW'),
    attach: Allow.tenant(ADMINS),
    update: Allow.tenant(ADMINS),
    detach: Allow.tenant(ADMINS),
  },
  attach: AttachWorkspaceSecrets,
  change: ChangeWorkspaceSecrets,
  selector: WorkspaceCatalogSecretSelector,
  listQuery: WorkspaceCatalogSecretListQuery,
  read: CatalogSecretWorkspaceRead,
  write: CatalogSecretWorkspaceWrite,
} as const;

const ownScope = (scope: TenantScope, principal: Principal): OwnScope => ({
  ...scope,
  everyone: isTenantAdmin(principal),
});

@Controller()
export class WorkspaceCatalogSecretsController extends CatalogSecretsController(WORKSPACE, ownScope) {
  constructor(service: WorkspaceCatalogSecretsService) {
    super(service);
  }
}

const USER = {
  word: 'User',
  label: 'secrets of users',
  access: { list: Allow.tenant(), attach: Allow.tenant(), update: Allow.tenant(), detach: Allow.tenant() },
  attach: AttachUserSecrets,
  change: ChangeUserSecrets,
  selector: UserCatalogSecretSelector,
  listQuery: UserCatalogSecretListQuery,
  read: CatalogSecretUserRead,
  write: CatalogSecretUserWrite,
} as const;

@Controller()
export class UserCatalogSecretsController extends CatalogSecretsController(USER, ownScope) {
  constructor(service: UserCatalogSecretsService) {
    super(service);
  }
}
