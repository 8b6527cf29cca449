import { Body, Controller } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { Principal, TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../platform/http/auth/request-principal';
import { EVERY_TENANT_ROLE } from '../../../platform/kernel/auth/roles';
import { Answers, Operation } from '../../../platform/http/operation';
import { BrowseCatalog } from './dto/browse.dto';
import { FetchUnityCatalogs, SecretValidation, ValidateSecret } from './dto/validation.dto';
import { SecretValidationService } from './secret-validation.service';

/** Tries a secret of one scope. */
function Validate(scope: string, id: string, whose: string): MethodDecorator {
  return Operation({
    method: 'POST',
    path: `/metastore/catalog/secret/${scope}/validate`,
    id,
    summary: `Try a secret ${whose} on a metastore or an object store`,
    description:
      'Connects and lists; in an object store it also writes, reads and deletes an object. Changes nothing else. A secret that exists is tried on a server that the request names only by whoever may change the secret. Such a server is called at a public address only, unless the caller is ADMIN, PLATFORM ADMIN or CAN MANAGE CLUSTER. A failure is no error: the answer says what failed.',
    tag: 'Metastore browsing',
    access: Allow.tenant(EVERY_TENANT_ROLE),
    answer: Answers.one(SecretValidation),
  });
}

@Controller()
export class SecretValidationController {
  constructor(private readonly validation: SecretValidationService) {}

  @Validate('tenant', 'validateTenantSecret', 'of the tenant')
  ofTenant(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: ValidateSecret,
  ): Promise<SecretValidation> {
    return this.validation.validateOfTenant(scope, principal, body);
  }

  @Validate('workspace', 'validateWorkspaceSecret', 'of a workspace')
  ofWorkspace(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: ValidateSecret,
  ): Promise<SecretValidation> {
    return this.validation.validateOfWorkspace(scope, principal, body);
  }

  @Validate('user', 'validateUserSecret', 'of your own')
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
    answer: Answers.list(BrowseCatalog),
  })
  fetchUnityCatalogs(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Body() body: FetchUnityCatalogs,
  ): Promise<BrowseCatalog[]> {
    return this.validation.fetchUnityCatalogs(scope, principal, body);
  }
}
