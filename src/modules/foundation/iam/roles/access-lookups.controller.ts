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
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(AccessResourceRead),
  })
  getResource(@IdParam('resource_id') id: number): Promise<AccessResourceRead> {
    return this.service.resource(id);
  }

  @Operation({
    method: 'GET',
    path: '/permissions',
    id: 'listPermissions',
    summary: 'List the verbs of the API',
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
    summary: 'List which role may use which verb on which path',
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
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.one(AccessRuleRead),
  })
  getRule(@IdParam('rule_id') id: number): Promise<AccessRuleRead> {
    return this.service.rule(id);
  }
}
