import { nameEnum } from '../kernel/dto/named-enums';
import { createHash } from 'node:crypto';
import { admittedRoles } from '../kernel/auth/access';
import { type Role, ROLES } from '../kernel/auth/roles';
import type { OperationOptions } from './operation-options';

/** HTTP methods of operations. The id of a permission is its position in this list. */
export const PERMISSIONS = nameEnum(
  'AccessMethod',
  ['GET', 'POST', 'PUT', 'DELETE'],
  'The HTTP method that a rule allows.',
) satisfies readonly OperationOptions['method'][];
export type Permission = (typeof PERMISSIONS)[number];

/** A path that some role may call. */
export interface AccessResource {
  id: number;
  /** The declared path without the API's prefix: `/cluster/start`. */
  path: string;
}

/** One role may use one method on one path. */
export interface AccessRule {
  id: number;
  permission: Permission;
  resource: AccessResource;
  role: Role;
}

export interface AccessCatalogue {
  resources: readonly AccessResource[];
  rules: readonly AccessRule[];
}

/**
 * Lists the access rules of the declared operations by path, method and role. They are derived from the declarations that
 * the guard enforces, so the two cannot differ. Public operations and those of node agents admit no role and are left out, as are those
 * that only the console calls.
 * Throws if two records get the same id.
 */
export function accessCatalogue(operations: readonly OperationOptions[]): AccessCatalogue {
  const resources = new Map<string, AccessResource>();
  const rules = new Map<number, AccessRule>();
  for (const { method, path, access, internal } of [...operations].sort(byPathAndMethod)) {
    const admitted = admittedRoles(access);
    if (internal || admitted.length === 0) continue;
    const resource = resources.get(path) ?? { id: stableId(path), path };
    resources.set(path, resource);
    for (const role of ROLES.filter((candidate) => admitted.includes(candidate))) {
      const id = stableId(`${method} ${path} ${role}`);
      if (rules.has(id)) throw new Error(`Two access rules have the id ${id}: one is ${method} ${path} ${role}`);
      rules.set(id, { id, permission: method, resource, role });
    }
  }
  const ids = new Set([...resources.values()].map(({ id }) => id));
  if (ids.size < resources.size) throw new Error('Two resources have the same id');
  return { resources: [...resources.values()], rules: [...rules.values()] };
}

/**
 * Returns the id of a declared record: the first 48 bits of a hash. It is the same on every pod and after every upgrade, even
 * if other records are added or removed, and exact as a JSON number.
 */
function stableId(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}

function byPathAndMethod(a: OperationOptions, b: OperationOptions): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return PERMISSIONS.indexOf(a.method) - PERMISSIONS.indexOf(b.method);
}
