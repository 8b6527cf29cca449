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

/** Who may call an operation by the contract; see expected-access.yaml. */
export type ExpectedAccess =
  | { kind: 'public' | 'signed-in' | 'own-tenant' | 'member' | 'node' | 'bootstrap' }
  | { kind: 'roles' | 'platform'; roles: readonly Role[] }
  | { kind: 'workspace'; permission: WorkspacePermission; roles: readonly Role[] | null };

export interface ExpectedOperation {
  access: ExpectedAccess;
  /** What an admitted caller is answered about another tenant's record. */
  foreign: 404 | 403 | 'admitted';
  /** Whether personal tokens are admitted like logins. */
  byToken: boolean;
}

/** What decides about a call: the roles held in the selected tenant and everywhere, and the rest. */
export interface Standing {
  /** Whether a tenant is selected in which the caller holds a role, or a role everywhere. */
  inTenant: boolean;
  roles: readonly Role[];
  /** Whether the tenant called for is the selected one. */
  ownTenant: boolean;
  /** Whether the caller holds a role in the tenant called for. */
  belongs: boolean;
  permission: WorkspacePermission | null;
  /** Whether a personal token calls, which stays with its tenant. */
  personalToken: boolean;
}

export type Verdict = 'admitted' | 'foreign' | 403;

/** Reads expected-access.yaml; throws what is odd in it. */
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
  if (foreign !== 404 && foreign !== 403 && foreign !== 'admitted') throw odd(id, entry);
  if (by_token !== 403 && by_token !== 'admitted') throw odd(id, entry);
  return { access, foreign, byToken: by_token === 'admitted' };
}

const PLAIN_KINDS = ['public', 'signed-in', 'own-tenant', 'member', 'node', 'bootstrap'] as const;

function expectedAccess(id: string, entry: unknown): ExpectedAccess {
  const plain = PLAIN_KINDS.find((kind) => kind === entry);
  if (plain) return { kind: plain };
  if (Array.isArray(entry)) return { kind: 'roles', roles: entry.map((role) => roleOf(id, role)) };
  if (typeof entry !== 'object' || entry === null) throw odd(id, entry);
  const { platform, workspace, roles } = entry as Record<string, unknown>;
  if (Array.isArray(platform)) return { kind: 'platform', roles: platform.map((role) => roleOf(id, role)) };
  const permission = WORKSPACE_PERMISSIONS.find((known) => known === workspace);
  if (!permission) throw odd(id, entry);
  return {
    kind: 'workspace',
    permission,
    roles: Array.isArray(roles) ? roles.map((role) => roleOf(id, role)) : null,
  };
}

function roleOf(id: string, name: unknown): Role {
  const role = ROLES.find((known) => known === name);
  if (!role) throw odd(id, name);
  return role;
}

function odd(id: string, entry: unknown): Error {
  return new Error(`expected-access.yaml says of ${id} what is not understood: ${JSON.stringify(entry)}`);
}

/** What a caller with a valid token is to be answered; `foreign` where the record is another tenant's. */
export function verdictOf(expected: ExpectedOperation, caller: Standing): Verdict {
  const { access, foreign, byToken } = expected;
  if ((caller.personalToken && !byToken) || !mayCall(access, caller)) return 403;
  const isEverywhere = access.kind === 'platform' && caller.roles.includes('PLATFORM ADMIN');
  return caller.ownTenant || isEverywhere || foreign === 'admitted' ? 'admitted' : 'foreign';
}

/** Roles that operations without named ones admit: PLATFORM BILLING may call only what names it. */
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

/** Of another tenant's workspace nobody learns what would be needed. */
function mayEnter(caller: Standing, needed: WorkspacePermission): boolean {
  if (!caller.ownTenant || holds(caller, ['ADMIN', 'PLATFORM ADMIN'])) return true;
  return caller.permission !== null && includesPermission(caller.permission, needed);
}
