import { Body, Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import {
  CreateTenant,
  TenantRead,
  TenantSearchQuery,
  TenantSelector,
  TenantSummary,
  TenantWrite,
  UpdateTenant,
} from './dto/tenant.dto';
import { TenantsService } from './tenants.service';

const TAG = 'Tenants';
const access = Allow.platform(['PLATFORM ADMIN']);

@Controller()
export class TenantsController {
  constructor(private readonly service: TenantsService) {}

  @Operation({
    method: 'GET',
    path: '/platform/admin/tenants/search',
    id: 'searchTenants',
    summary: 'Search the tenants by part of the name',
    description: 'Returns the tenants whose name contains the text, ignoring case, newest first.',
    tag: TAG,
    access,
    response: Responses.page(TenantRead),
  })
  searchTenants(@Query() query: TenantSearchQuery): Promise<Page<TenantRead>> {
    return this.service.list(query, query.tenant_name);
  }

  @Operation({
    method: 'GET',
    path: '/platform/admin/tenants',
    id: 'listTenants',
    summary: 'List the tenants, newest first',
    description: 'Returns all tenants of the platform.',
    tag: TAG,
    access,
    response: Responses.page(TenantRead),
  })
  listTenants(@Query() query: PageQuery): Promise<Page<TenantRead>> {
    return this.service.list(query);
  }

  @Operation({
    method: 'GET',
    path: '/platform/admin/user/{user_id}/tenants',
    id: 'listUserTenants',
    summary: 'List the tenants that a user can select',
    description:
      'Returns the tenants in which the user holds a role; for a PLATFORM ADMIN or PLATFORM BILLING, every enabled one.',
    tag: TAG,
    access,
    response: Responses.page(TenantSummary),
  })
  listUserTenants(@IdParam('user_id') userId: number, @Query() query: PageQuery): Promise<Page<TenantSummary>> {
    return this.service.listForUser(userId, query);
  }

  @Operation({
    method: 'POST',
    path: '/platform/admin/tenant',
    id: 'createTenant',
    summary: 'Create a tenant',
    description:
      'Creates an empty tenant. Nobody holds a role in it yet; `assignTenantUserRole` grants the first. A name that is already in use is refused with 409.',
    tag: TAG,
    access,
    response: Responses.one(TenantWrite),
    errors: [409],
  })
  createTenant(@CurrentPrincipal() principal: Principal, @Body() body: CreateTenant): Promise<TenantWrite> {
    return this.service.create(principal, body);
  }

  @Operation({
    method: 'GET',
    path: '/platform/admin/tenant',
    id: 'getTenant',
    summary: 'Get a tenant by id or name',
    description: 'Returns one tenant. If both id and name are sent, they must identify the same record.',
    tag: TAG,
    access,
    response: Responses.one(TenantRead),
  })
  getTenant(@Query() query: TenantSelector): Promise<TenantRead> {
    return this.service.get(query.selector());
  }

  @Operation({
    method: 'PUT',
    path: '/platform/admin/tenant',
    id: 'updateTenant',
    summary: 'Update a tenant',
    description: 'Changes the fields that are sent, at least one; the others keep their values.',
    tag: TAG,
    access,
    response: Responses.one(TenantWrite),
    status: 201,
    errors: [409],
  })
  updateTenant(
    @CurrentPrincipal() principal: Principal,
    @Query() query: TenantSelector,
    @Body() body: UpdateTenant,
  ): Promise<TenantWrite> {
    return this.service.update(principal, query.selector(), body);
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/admin/tenant',
    id: 'deleteTenant',
    summary: 'Delete a tenant that has no cluster and no unfinished job left',
    description:
      'Closes the tenant: it can no longer be selected. It is refused with 409 while it has a cluster that is not DESTROYED, or an unfinished job.',
    tag: TAG,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  deleteTenant(@CurrentPrincipal() principal: Principal, @Query() query: TenantSelector): Promise<Message> {
    return this.service.delete(principal, query.selector());
  }
}
