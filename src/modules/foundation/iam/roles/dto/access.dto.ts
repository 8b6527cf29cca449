import { IntersectionType } from '@nestjs/swagger';
import { ROLES } from '../../../../../platform/kernel/auth/roles';
import { PERMISSIONS } from '../../../../../platform/http/access-catalogue';
import { Validity } from '../../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../../platform/kernel/dto/fields';

export class AccessResourceRef {
  @Field.id({ description: 'Derived from the path: it stays the same as long as the path exists' }) resource_id: number;
  @Field.text({ example: '/cluster/start' }) resource_path: string;
}

export class AccessPermissionRef {
  @Field.id() permission_id: number;
  @Field.oneOf(PERMISSIONS) permission: string;
  @Field.text() description: string;
}

export class AccessRoleRef {
  @Field.id() role_id: number;
  @Field.oneOf(ROLES) role: string;
  @Field.text() description: string;
}

export class AccessResourceRead extends IntersectionType(AccessResourceRef, Validity) {}

export class AccessPermissionRead extends IntersectionType(AccessPermissionRef, Validity) {}

export class AccessRoleRead extends IntersectionType(AccessRoleRef, Validity) {}

export class AccessRuleRead extends Validity {
  @Field.id({ description: 'Derived from verb, path and role: it stays the same as long as all three exist' })
  rule_id: number;
  @Field.object(() => AccessPermissionRef) permission_type: AccessPermissionRef;
  @Field.object(() => AccessResourceRef) resource: AccessResourceRef;
  @Field.object(() => AccessRoleRef) role: AccessRoleRef;
}
