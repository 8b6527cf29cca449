import { Body, Controller, Ip, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { UuidParam } from '../../../../platform/http/parameters';
import { UserRoles } from '../role-assignments/dto/role-assignment.dto';
import { TenantSearchQuery, TenantSummary } from '../tenants/dto/tenant.dto';
import { AccountService } from './account.service';
import { ChangePassword, MyRolesQuery, TenantSelection, UserInfo } from './dto/account.dto';
import { OwnPasswordService } from './own-password.service';

const TAG = 'Current user';

@Controller()
export class AccountController {
  constructor(
    private readonly service: AccountService,
    private readonly password: OwnPasswordService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/user/info',
    id: 'getUserInfo',
    summary: 'Get the logged-in user',
    description:
      'Returns the account that the token belongs to, its groups, and the tenant that is selected for the session.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(UserInfo),
  })
  getUserInfo(@CurrentPrincipal() principal: Principal): Promise<UserInfo> {
    return this.service.info(principal);
  }

  @Operation({
    method: 'GET',
    path: '/user/info/roles',
    id: 'getMyRoles',
    summary: 'Get your own roles in a tenant',
    description:
      'Returns your roles in the named tenant, or in the selected one, separately for those held directly and through groups.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(UserRoles),
  })
  getMyRoles(@CurrentPrincipal() principal: Principal, @Query() query: MyRolesQuery): Promise<UserRoles> {
    return this.service.roles(principal, query.tenant_id ?? null);
  }

  @Operation({
    method: 'GET',
    path: '/user/tenants/search',
    id: 'searchMyTenants',
    summary: 'Search the tenants that you can select',
    description: 'Returns the tenants that you can select whose name contains the text, ignoring case.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.page(TenantSummary),
  })
  searchMyTenants(
    @CurrentPrincipal() principal: Principal,
    @Query() query: TenantSearchQuery,
  ): Promise<Page<TenantSummary>> {
    return this.service.tenants(principal, query, query.tenant_name);
  }

  @Operation({
    method: 'GET',
    path: '/user/tenants',
    id: 'listMyTenants',
    summary: 'List the tenants that you can select',
    description:
      'Returns the tenants in which you hold a role; a PLATFORM ADMIN or PLATFORM BILLING can select every enabled one.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.page(TenantSummary),
  })
  listMyTenants(@CurrentPrincipal() principal: Principal, @Query() query: PageQuery): Promise<Page<TenantSummary>> {
    return this.service.tenants(principal, query);
  }

  @Operation({
    method: 'POST',
    path: '/user/select/{tenant_id}',
    id: 'selectTenant',
    summary: 'Select the tenant of the session',
    description:
      'Sets the tenant in which the session works from now on. Most operations need a selected tenant and answer 403 without one. You must hold a role there. A personal token is bound to its tenant and cannot select another.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(TenantSelection),
    status: 201,
  })
  selectTenant(
    @CurrentPrincipal() principal: Principal,
    @UuidParam('tenant_id') tenantId: string,
  ): Promise<TenantSelection> {
    return this.service.selectTenant(principal, tenantId);
  }

  @Operation({
    method: 'PUT',
    path: '/user/password',
    id: 'changeMyPassword',
    summary: 'Change your own password; all your other sessions and tokens end',
    description:
      'Sets a new password for an account in the built-in directory; accounts of other directories are refused with 409. If the current password is wrong, the answer is 403. All your other sessions and all your tokens end; this session stays.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.message,
    status: 201,
    errors: [409, 429],
  })
  changeMyPassword(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ChangePassword,
    @Ip() address: string,
  ): Promise<Message> {
    return this.password.change(principal, body, address);
  }
}
