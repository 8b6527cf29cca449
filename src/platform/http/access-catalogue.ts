import { createHash } from 'node:crypto';
import { admittedRoles } from '../kernel/auth/access';
import { type Role, ROLES } from '../kernel/auth/roles';
import type { OperationOptions } from './operation-options';

/** The verbs of operations; a permission's id is its position here. */
export const PERMISSIONS = ['GET', 'POST', 'PUT', 'DELETE'] as const satisfies OperationOptions['method'][];
export type Permission = (typeof PERMISSIONS)[number];

/** A path that some role may call. */
export interface AccessResource {
  id: number;
  /** As declared, without the prefix of the API: `/cluster/start`. */
  path: string;
}

/** One role that may use one verb on one path. */
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
 * What the declared operations admit, by path, verb and role. It is derived from what the guard enforces, so the two
 * cannot differ. Operations without a token, and those of node agents, admit no role and are left out. Throws if two
 * records get the same id.
 */
export function accessCatalogue(operations: readonly OperationOptions[]): AccessCatalogue {
  const resources = new Map<string, AccessResource>();
  const rules = new Map<number, AccessRule>();
  for (const { method, path, access } of [...operations].sort(byPathAndVerb)) {
    const admitted = admittedRoles(access);
    if (admitted.length === 0) continue;
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
 * Id of a record that is declared, not stored: the first 48 bits of a hash. It is the same on every pod and after every
 * upgrade, whatever else is added or removed, and exact as a JSON number.
 */
function stableId(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}

function byPathAndVerb(a: OperationOptions, b: OperationOptions): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return PERMISSIONS.indexOf(a.method) - PERMISSIONS.indexOf(b.method);
}
