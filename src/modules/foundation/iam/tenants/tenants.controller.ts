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
