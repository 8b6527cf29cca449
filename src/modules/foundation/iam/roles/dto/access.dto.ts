import { IntersectionType } from '@nestjs/swagger';
import { ROLES } from '../../../../../platform/kernel/auth/roles';
import { PERMISSIONS } from '../../../../../platform/http/access-catalogue';
import { Validity } from '../../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

@About('A reference to a path of the API.')
export class AccessResourceRef {
  @Field.id({ description: 'Derived from the path: it stays the same as long as the path exists' }) resource_id: number;
  @Field.text({ example: '/cluster/start', description: 'The path below /api/v1, with parameters in {braces}' })
  resource_path: string;
}

@About('A reference to an HTTP method that rules allow.')
export class AccessPermissionRef {
  @Field.id() permission_id: number;
  @Field.oneOf(PERMISSIONS, { description: 'The HTTP method' }) permission: string;
  @Field.text() description: string;
}

@About('A reference to a role.')
export class AccessRoleRef {
  @Field.id() role_id: number;
  @Field.oneOf(ROLES, { description: 'Name of the role' }) role: string;
  @Field.text() description: string;
}

@About('A path of the API.')
export class AccessResourceRead extends IntersectionType(AccessResourceRef, Validity) {}

@About('An HTTP method that rules allow.')
export class AccessPermissionRead extends IntersectionType(AccessPermissionRef, Validity) {}

@About('A role, which says what a user may do in a tenant or on the whole platform.')
export class AccessRoleRead extends IntersectionType(AccessRoleRef, Validity) {}

@About('A rule: one role may use one HTTP method on one path.')
export class AccessRuleRead extends Validity {
  @Field.id({ description: 'Derived from method, path and role: it stays the same as long as all three exist' })
  rule_id: number;
  @Field.object(() => AccessPermissionRef, { description: 'The verb' }) permission_type: AccessPermissionRef;
  @Field.object(() => AccessResourceRef, { description: 'The path' }) resource: AccessResourceRef;
  @Field.object(() => AccessRoleRef, { description: 'The role' }) role: AccessRoleRef;
}
