import { Controller, type Type } from '@nestjs/common';
import { type Access, Allow } from '../../../../platform/kernel/auth/access';
import { isTenantAdmin, type Principal, type TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../../platform/http/auth/request-principal';
import { ADMINS, CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import type { Page } from '../../../../platform/kernel/dto/page';
import { BodyOf, QueryOf } from '../../../../platform/http/parameters';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import type { Attachment } from './attached-secrets.service';
import type { OwnScope } from './catalog-secrets.repository';
import {
  type RequestedSecrets,
  type AttachSecrets,
  AttachTenantSecrets,
  AttachUserSecrets,
  AttachWorkspaceSecrets,
  type CatalogSecretListQuery,
  CatalogSecretTenantRead,
  CatalogSecretTenantWrite,
  CatalogSecretUserRead,
  CatalogSecretUserWrite,
  CatalogSecretWorkspaceRead,
  CatalogSecretWorkspaceWrite,
  type ChangeSecrets,
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

/** The differences between the operations of the scopes. */
interface CatalogSecretRoutes<Read, Write> {
  /** Part of operation ids, such as `attachTenantCatalogSecret`. */
  word: 'Tenant' | 'Workspace' | 'User';
  label: string;
  access: Record<'list' | 'attach' | 'update' | 'detach', Access>;
  attach: Type<AttachSecrets>;
  change: Type<ChangeSecrets>;
  selector: Type<{ selector(): RecordSelector }>;
  listQuery: Type<CatalogSecretListQuery>;
  read: Type<Read>;
  write: Type<Write>;
}

interface Service<Read, Write, Scope> {
  list(scope: Scope, query: CatalogSecretListQuery): Promise<Page<Read>>;
  create(scope: Scope, attachment: Attachment): Promise<Write>;
  update(scope: Scope, selector: RecordSelector, secrets: RequestedSecrets): Promise<Write>;
  delete(scope: Scope, selector: RecordSelector): Promise<Message>;
}

/** Returns the base class of a controller that lists, attaches, changes and detaches the secrets of one scope. */
function CatalogSecretsController<Read extends object, Write extends object, Scope extends TenantScope>(
  { word, label, access, attach, change, selector, listQuery, read, write }: CatalogSecretRoutes<Read, Write>,
  scopeOf: (scope: TenantScope, principal: Principal) => Scope,
) {
  const shared = { path: `/metastore/catalog/secret/${word.toLowerCase()}`, tag: 'Secrets of metastores' };

  abstract class CatalogSecretsOfScopeController {
    protected constructor(private readonly service: Service<Read, Write, Scope>) {}

    @Operation({
      ...shared,
      method: 'GET',
      id: `list${word}CatalogSecrets`,
      summary: `List which ${label} are attached to metastore catalogs, newest first`,
      description: `Returns the attachments of ${label} to catalogs that match the filters, without the values of the secrets.`,
      access: access.list,
      response: Responses.page(read),
    })
    list(
      @CurrentScope() scope: TenantScope,
      @CurrentPrincipal() principal: Principal,
      @QueryOf(listQuery) query: CatalogSecretListQuery,
    ): Promise<Page<Read>> {
      return this.service.list(scopeOf(scope, principal), query);
    }

    @Operation({
      ...shared,
      method: 'POST',
      id: `attach${word}CatalogSecret`,
      summary: `Attach ${label} to a metastore catalog`,
      description: `Attaches ${label}, with which jobs and browsing access the catalog. The types of the secrets must fit the type of the catalog. There is one attachment per catalog and owner; another is refused with 409. If there are several, the user's secrets take precedence over the workspace's, and those over the tenant's.`,
      access: access.attach,
      response: Responses.one(write),
      errors: [409],
    })
    attach(
      @CurrentScope() scope: TenantScope,
      @CurrentPrincipal() principal: Principal,
      @BodyOf(attach) body: AttachSecrets,
    ): Promise<Write> {
      const attachment = { catalogId: body.metastore_catalog_id, ...body.secrets() };
      return this.service.create(scopeOf(scope, principal), attachment);
    }

    @Operation({
      ...shared,
      method: 'PUT',
      id: `update${word}CatalogSecret`,
      summary: `Change which ${label} are attached to a metastore catalog`,
      description:
        'Replaces the secrets that are sent; null detaches one. At least one must remain; to detach all, delete the attachment.',
      access: access.update,
      response: Responses.one(write),
      status: 201,
      errors: [409],
    })
    update(
      @CurrentScope() scope: TenantScope,
      @CurrentPrincipal() principal: Principal,
      @BodyOf(change) body: ChangeSecrets,
    ): Promise<Write> {
      return this.service.update(scopeOf(scope, principal), body.selector(), body.secrets());
    }

    @Operation({
      ...shared,
      method: 'DELETE',
      id: `detach${word}CatalogSecret`,
      summary: `Detach ${label} from a metastore catalog`,
      description: `Removes the attachment; the secrets and the catalog stay. Jobs that already run keep what they have.`,
      access: access.detach,
      response: Responses.message,
      status: 201,
    })
    detach(
      @CurrentScope() scope: TenantScope,
      @CurrentPrincipal() principal: Principal,
      @QueryOf(selector) query: { selector(): RecordSelector },
    ): Promise<Message> {
      return this.service.delete(scopeOf(scope, principal), query.selector());
    }
  }
  return CatalogSecretsOfScopeController;
}

@Controller()
export class TenantCatalogSecretsController extends CatalogSecretsController(
  {
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
  },
  (scope) => scope,
) {
  constructor(service: TenantCatalogSecretsService) {
    super(service);
  }
}

const ownScope = (scope: TenantScope, principal: Principal): OwnScope => ({
  ...scope,
  everyone: isTenantAdmin(principal),
});

/** Administrators have every permission on every workspace of the tenant. */
@Controller()
export class WorkspaceCatalogSecretsController extends CatalogSecretsController(
  {
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
  },
  ownScope,
) {
  constructor(service: WorkspaceCatalogSecretsService) {
    super(service);
  }
}

@Controller()
export class UserCatalogSecretsController extends CatalogSecretsController(
  {
    word: 'User',
    label: 'secrets of users',
    access: { list: Allow.tenant(), attach: Allow.tenant(), update: Allow.tenant(), detach: Allow.tenant() },
    attach: AttachUserSecrets,
    change: ChangeUserSecrets,
    selector: UserCatalogSecretSelector,
    listQuery: UserCatalogSecretListQuery,
    read: CatalogSecretUserRead,
    write: CatalogSecretUserWrite,
  },
  ownScope,
) {
  constructor(service: UserCatalogSecretsService) {
    super(service);
  }
}
