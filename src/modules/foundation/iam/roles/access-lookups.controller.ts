import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam } from '../../../../platform/http/parameters';
import { AccessLookupsService } from './access-lookups.service';
import { AccessPermissionRead, AccessResourceRead, AccessRoleRead, AccessRuleRead } from './dto/access.dto';

const TAG = 'Access rules';

@Controller()
export class AccessLookupsController {
  constructor(private readonly service: AccessLookupsService) {}

  @Operation({
    method: 'GET',
    path: '/resources',
    id: 'listResources',
    summary: 'List the paths of the API',
    description:
      'Returns every path of the API that some role may call. They are derived from the declarations that the platform enforces.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.list(AccessResourceRead),
  })
  listResources(): Promise<AccessResourceRead[]> {
    return this.service.resources();
  }

  @Operation({
    method: 'GET',
    path: '/resource/{resource_id}',
    id: 'getResource',
    summary: 'Get a resource',
    description: 'Returns one path of the API by its id.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(AccessResourceRead),
  })
  getResource(
    @IdParam('resource_id', 'Id of the path; `listResources` lists them') id: number,
  ): Promise<AccessResourceRead> {
    return this.service.resource(id);
  }

  @Operation({
    method: 'GET',
    path: '/permissions',
    id: 'listPermissions',
    summary: 'List the HTTP methods of the API',
    description: 'Returns the HTTP methods: 0 GET, 1 POST, 2 PUT, 3 DELETE.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.list(AccessPermissionRead),
  })
  listPermissions(): Promise<AccessPermissionRead[]> {
    return this.service.permissions();
  }

  @Operation({
    method: 'GET',
    path: '/permission/{permission_id}',
    id: 'getPermission',
    summary: 'Get a permission',
    description: 'Returns one HTTP method by its id.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(AccessPermissionRead),
  })
  getPermission(@IdParam('permission_id') id: number): Promise<AccessPermissionRead> {
    return this.service.permission(id);
  }

  @Operation({
    method: 'GET',
    path: '/roles',
    id: 'listRoles',
    summary: 'List the roles',
    description:
      'Returns the five roles: PLATFORM ADMIN and PLATFORM BILLING apply on the whole platform, ADMIN, CAN MANAGE CLUSTER and USER in a tenant.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.list(AccessRoleRead),
  })
  listRoles(): Promise<AccessRoleRead[]> {
    return this.service.roles();
  }

  @Operation({
    method: 'GET',
    path: '/role/{role_id}',
    id: 'getRole',
    summary: 'Get a role',
    description: 'Returns one role by its id.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(AccessRoleRead),
  })
  getRole(@IdParam('role_id') id: number): Promise<AccessRoleRead> {
    return this.service.role(id);
  }

  @Operation({
    method: 'GET',
    path: '/rules',
    id: 'listRules',
    summary: 'List which role may use which HTTP method on which path',
    description:
      'Returns every combination of role, method and path that is allowed. They are derived from the declarations that the platform enforces.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.list(AccessRuleRead),
  })
  listRules(): Promise<AccessRuleRead[]> {
    return this.service.rules();
  }

  @Operation({
    method: 'GET',
    path: '/rule/{rule_id}',
    id: 'getRule',
    summary: 'Get a rule',
    description: 'Returns one rule by its id.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(AccessRuleRead),
  })
  getRule(@IdParam('rule_id', 'Id of the rule; `listRules` lists them') id: number): Promise<AccessRuleRead> {
    return this.service.rule(id);
  }
}
