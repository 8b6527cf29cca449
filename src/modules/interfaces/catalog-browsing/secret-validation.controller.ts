import { Body, Controller } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { Principal, TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../platform/http/auth/request-principal';
import { EVERY_TENANT_ROLE } from '../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../platform/http/operation';
import { BrowseCatalog } from './dto/browse.dto';
import { FetchUnityCatalogs, SecretValidation, ValidateSecret } from './dto/validation.dto';
import { SecretValidationService } from './secret-validation.service';

const VALIDATE = {
  method: 'POST',
  description:
    'Connects and lists; in an object store it also writes, reads and deletes an object. Changes nothing else. To test an existing secret on a server that the request names, the caller must be allowed to change the secret. Such a server must have a public address, unless the caller is ADMIN, PLATFORM ADMIN or CAN MANAGE CLUSTER. A failed validation is not an error: the response says what failed.',
  tag: 'Metastore browsing',
  access: Allow.tenant(EVERY_TENANT_ROLE),
  response: Responses.one(SecretValidation),
} as const;

@Controller()
export class SecretValidationController {
  constructor(private readonly validation: SecretValidationService) {}

  @Operation({
    ...VALIDATE,
    path: '/metastore/catalog/secret/tenant/validate',
    id: 'validateTenantSecret',
    summary: 'Validate a secret of the tenant with a metastore or an object store',
  })
  ofTenant(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: ValidateSecret,
  ): Promise<SecretValidation> {
    return this.validation.validateOfTenant(scope, principal, body);
  }

  @Operation({
    ...VALIDATE,
    path: '/metastore/catalog/secret/workspace/validate',
    id: 'validateWorkspaceSecret',
    summary: 'Validate a secret of a workspace with a metastore or an object store',
  })
  ofWorkspace(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: ValidateSecret,
  ): Promise<SecretValidation> {
    return this.validation.validateOfWorkspace(scope, principal, body);
  }

  @Operation({
    ...VALIDATE,
    path: '/metastore/catalog/secret/user/validate',
    id: 'validateUserSecret',
    summary: 'Validate one of your own secrets with a metastore or an object store',
  })
  ofUser(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: ValidateSecret,
  ): Promise<SecretValidation> {
    return this.validation.validateOfUser(scope, principal, body);
  }

  @Operation({
    method: 'POST',
    path: '/metastore/catalog/unity/fetch',
    id: 'fetchUnityCatalogs',
    summary: 'List the catalogs of a Unity server with one of your own secrets',
    description:
      'Lists the catalogs of the Unity server, with one of your own secrets, so that you can choose before you create a metastore catalog. Nothing is stored. The server must have a public address, unless the caller is ADMIN, PLATFORM ADMIN or CAN MANAGE CLUSTER.',
    tag: 'Metastore browsing',
    access: Allow.tenant(EVERY_TENANT_ROLE),
    response: Responses.list(BrowseCatalog),
  })
  fetchUnityCatalogs(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: FetchUnityCatalogs,
  ): Promise<BrowseCatalog[]> {
    return this.validation.fetchUnityCatalogs(scope, principal, body);
  }
}
