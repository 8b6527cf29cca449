import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import {
  type AccessCatalogue,
  accessCatalogue,
  type AccessResource,
  type AccessRule,
  type Permission,
  PERMISSIONS,
} from '../../../../platform/http/access-catalogue';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { type Validity, validity } from '../../../../platform/kernel/dto/response-fields';
import { declaredOperations } from '../../../../platform/http/boot-checks';
import type {
  AccessPermissionRead,
  AccessPermissionRef,
  AccessResourceRead,
  AccessResourceRef,
  AccessRoleRead,
  AccessRoleRef,
  AccessRuleRead,
} from './dto/access.dto';
import type { RoleRecord } from '../entities/role.entity';
import { RolesRepository } from './roles.repository';

const PERMISSION_DESCRIPTION: Record<Permission, string> = {
  GET: 'Reads records',
  POST: 'Creates records and starts operations',
  PUT: 'Changes records',
  DELETE: 'Deletes and revokes records',
};

/**
 * Lists resources, permissions, roles and rules. All but the roles are derived from the declared operations when the
 * API starts. Since no release date is recorded for them, they carry the dates of the roles: the first start of the
 * installation.
 */
@Injectable()
export class AccessLookupsService implements OnApplicationBootstrap {
  private catalogue: AccessCatalogue = { resources: [], rules: [] };

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly repository: RolesRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.catalogue = accessCatalogue(declaredOperations(this.discovery, this.scanner, this.reflector));
  }

  async resources(): Promise<AccessResourceRead[]> {
    const dates = oldestValidity(await this.repository.list());
    return this.catalogue.resources.map((resource) => ({ ...resourceRef(resource), ...dates }));
  }

  async resource(id: number): Promise<AccessResourceRead> {
    return found(await this.resources(), ({ resource_id }) => resource_id === id, 'resource', id);
  }

  async permissions(): Promise<AccessPermissionRead[]> {
    const dates = oldestValidity(await this.repository.list());
    return PERMISSIONS.map((permission) => ({ ...permissionRef(permission), ...dates }));
  }

  async permission(id: number): Promise<AccessPermissionRead> {
    return found(await this.permissions(), ({ permission_id }) => permission_id === id, 'permission', id);
  }

  async roles(): Promise<AccessRoleRead[]> {
    return (await this.repository.list()).map((row) => ({ ...roleRef(row), ...validity(row) }));
  }

  async role(id: number): Promise<AccessRoleRead> {
    return found(await this.roles(), ({ role_id }) => role_id === id, 'role', id);
  }

  async rules(): Promise<AccessRuleRead[]> {
    const roles = await this.repository.list();
    return this.catalogue.rules.map((rule) => readRule(rule, roles));
  }

  async rule(id: number): Promise<AccessRuleRead> {
    const rule = found(this.catalogue.rules, (candidate) => candidate.id === id, 'rule', id);
    return readRule(rule, await this.repository.list());
  }
}

function readRule(rule: AccessRule, roles: readonly RoleRecord[]): AccessRuleRead {
  const role = roles.find((row) => row.role === rule.role);
  if (!role) throw new Error(`The table roles has no row for ${rule.role}. Restart the API to write it.`);
  return {
    rule_id: rule.id,
    permission_type: permissionRef(rule.permission),
    resource: resourceRef(rule.resource),
    role: roleRef(role),
    ...validity(role),
  };
}

function resourceRef({ id, path }: AccessResource): AccessResourceRef {
  return { resource_id: id, resource_path: path };
}

function permissionRef(permission: Permission): AccessPermissionRef {
  return {
    permission_id: PERMISSIONS.indexOf(permission),
    permission,
    description: PERMISSION_DESCRIPTION[permission],
  };
}

function roleRef({ role_id, role, description }: RoleRecord): AccessRoleRef {
  return { role_id, role, description };
}

function oldestValidity(roles: readonly RoleRecord[]): Validity {
  const [first] = [...roles].sort((a, b) => a.from_date.getTime() - b.from_date.getTime());
  if (!first) throw new Error('The table roles is empty. Restart the API to write it.');
  return validity(first);
}

function found<T>(records: readonly T[], matches: (record: T) => boolean, label: string, id: number): T {
  const record = records.find(matches);
  if (record) return record;
  throw notFound(`${label.toUpperCase()}.NOT_FOUND`, `There is no ${label} with id ${id}.`);
}
