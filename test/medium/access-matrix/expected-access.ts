import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as parse } from 'js-yaml';
import {
  includesPermission,
  PLATFORM_ROLES,
  type Role,
  ROLES,
  WORKSPACE_PERMISSIONS,
  type WorkspacePermission,
} from '../../../src/platform/kernel/auth/roles';

/** The callers that the contract admits to an operation; see expected-access.yaml. */
export type ExpectedAccess =
  | { kind: 'public' | 'signed-in' | 'own-tenant' | 'member' | 'node' | 'bootstrap' }
  | { kind: 'roles' | 'platform'; roles: readonly Role[] }
  | { kind: 'workspace'; permission: WorkspacePermission; roles: readonly Role[] | null };

export interface ExpectedOperation {
  access: ExpectedAccess;
  /** The response to an admitted caller about another tenant's record. */
  foreign: 404 | 403 | 'admitted';
  /** True if personal tokens are admitted like logins. */
  byToken: boolean;
}

/** The facts that decide about a call. `roles` are those of the selected tenant and the platform-wide ones. */
export interface Standing {
  /** True if a tenant is selected, and the caller holds a role in it or a platform-wide role. */
  inTenant: boolean;
  roles: readonly Role[];
  /** True if the tenant of the requested record is the selected one. */
  ownTenant: boolean;
  /** True if the caller holds a role in the tenant of the requested record. */
  belongs: boolean;
  permission: WorkspacePermission | null;
  /** True if the caller uses a personal token, which is bound to its tenant. */
  personalToken: boolean;
}

export type Verdict = 'admitted' | 'foreign' | 403;

/** Reads expected-access.yaml; throws an error that names the first invalid entry. */
export function readExpectedAccess(): Map<string, ExpectedOperation> {
  const entries = parse(readFileSync(join(__dirname, 'expected-access.yaml'), 'utf8')) as Record<string, unknown>;
  return new Map(Object.entries(entries).map(([id, entry]) => [id, expectedOperation(id, entry)]));
}

function expectedOperation(id: string, entry: unknown): ExpectedOperation {
  const isDetailed = typeof entry === 'object' && entry !== null && 'access' in entry;
  const access = expectedAccess(id, isDetailed ? entry.access : entry);
  const ofATenant = ['member', 'roles', 'workspace', 'node'].includes(access.kind);
  const { foreign = ofATenant ? 404 : 'admitted', by_token = 'admitted' } = (isDetailed ? entry : {}) as Record<
    string,
    unknown
  >;
  if (foreign !== 404 && foreign !== 403 && foreign !== 'admitted') throw invalidEntry(id, entry);
  if (by_token !== 403 && by_token !== 'admitted') throw invalidEntry(id, entry);
  return { access, foreign, byToken: by_token === 'admitted' };
}

const PLAIN_KINDS = ['public', 'signed-in', 'own-tenant', 'member', 'node', 'bootstrap'] as const;

function expectedAccess(id: string, entry: unknown): ExpectedAccess {
  const plain = PLAIN_KINDS.find((kind) => kind === entry);
  if (plain) return { kind: plain };
  if (Array.isArray(entry)) return { kind: 'roles', roles: entry.map((role) => roleOf(id, role)) };
  if (typeof entry !== 'object' || entry === null) throw invalidEntry(id, entry);
  const { platform, workspace, roles } = entry as Record<string, unknown>;
  if (Array.isArray(platform)) return { kind: 'platform', roles: platform.map((role) => roleOf(id, role)) };
  const permission = WORKSPACE_PERMISSIONS.find((known) => known === workspace);
  if (!permission) throw invalidEntry(id, entry);
  return {
    kind: 'workspace',
    permission,
    roles: Array.isArray(roles) ? roles.map((role) => roleOf(id, role)) : null,
  };
}

function roleOf(id: string, name: unknown): Role {
  const role = ROLES.find((known) => known === name);
  if (!role) throw invalidEntry(id, name);
  return role;
}

function invalidEntry(id: string, entry: unknown): Error {
  return new Error(`expected-access.yaml has an invalid entry for ${id}: ${JSON.stringify(entry)}`);
}

/** Returns the expected response to a caller with a valid token; `foreign` if the record is another tenant's. */
export function verdictOf(expected: ExpectedOperation, caller: Standing): Verdict {
  const { access, foreign, byToken } = expected;
  if ((caller.personalToken && !byToken) || !mayCall(access, caller)) return 403;
  const isEverywhere = access.kind === 'platform' && caller.roles.includes('PLATFORM ADMIN');
  return caller.ownTenant || isEverywhere || foreign === 'admitted' ? 'admitted' : 'foreign';
}

/** Roles admitted by operations that name none. PLATFORM BILLING may call only operations that name it. */
const MEMBERS: readonly Role[] = ROLES.filter((role) => role !== 'PLATFORM BILLING');

function mayCall(access: ExpectedAccess, caller: Standing): boolean {
  switch (access.kind) {
    case 'public':
    case 'signed-in':
      return true;
    case 'node':
    case 'bootstrap':
      return false;
    case 'own-tenant':
      return maySelect(caller);
    case 'platform':
      return holds(caller, access.roles);
    case 'member':
      return caller.inTenant && holds(caller, MEMBERS);
    case 'roles':
      return caller.inTenant && holds(caller, access.roles);
    case 'workspace':
      return caller.inTenant && holds(caller, access.roles ?? MEMBERS) && mayEnter(caller, access.permission);
  }
}

function holds(caller: Standing, roles: readonly Role[]): boolean {
  return roles.some((role) => caller.roles.includes(role));
}

function maySelect(caller: Standing): boolean {
  if (caller.personalToken) return caller.ownTenant;
  return caller.belongs || holds(caller, PLATFORM_ROLES);
}

/** In another tenant's workspace, the missing record comes before the missing permission. */
function mayEnter(caller: Standing, needed: WorkspacePermission): boolean {
  if (!caller.ownTenant || holds(caller, ['ADMIN', 'PLATFORM ADMIN'])) return true;
  return caller.permission !== null && includesPermission(caller.permission, needed);
}
