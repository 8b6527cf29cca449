import { Body, Controller } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { Principal, TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../platform/http/auth/request-principal';
import { EVERY_TENANT_ROLE } from '../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../platform/http/operation';
import { BrowseCatalog } from './dto/browse.dto';
import { FetchUnityCatalogs, SecretValidation, ValidateSecret } from './dto/validation.dto';
import { SecretValidationService } from './secret-validation.service';

/** What the trials of a secret share, whatever its scope. */
const VALIDATE = {
  method: 'POST',
  description:
    'Connects and lists; in an object store it also writes, reads and deletes an object. Changes nothing else. A secret that exists is tried on a server that the request names only by whoever may change the secret. Such a server is called at a public address only, unless the caller is ADMIN, PLATFORM ADMIN or CAN MANAGE CLUSTER. A failure is no error: the answer says what failed.',
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
    summary: 'Try a secret of the tenant on a metastore or an object store',
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
    summary: 'Try a secret of a workspace on a metastore or an object store',
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
    summary: 'Try a secret of your own on a metastore or an object store',
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
    summary: 'List the catalogs of a Unity server with a secret of your own',
    description:
      'The server is called at a public address only, unless the caller is ADMIN, PLATFORM ADMIN or CAN MANAGE CLUSTER.',
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
