import { randomBytes, randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import type { DataSource, EntityManager } from 'typeorm';
import type { Config } from '../../../src/config/config';
import { type AccessTokens, tokenHash } from '../../../src/modules/foundation/iam/sessions/access-tokens';
import { hashPassword } from '../../../src/modules/foundation/iam/users-and-groups/passwords';
import { PLATFORM_ROLES, type Role, ROLES, type WorkspacePermission } from '../../../src/platform/kernel/auth/roles';
import { insertRow } from '../../../src/platform/kernel/persistence/sql';
import { insertPlain } from '../harness/records';
import type { Standing } from './expected-access';
import { rowOf } from '../../samples';
import { SECRET_TYPE } from '../../samples/scoped-secrets';
import { personalToken, roleId, type Side, type TenantRecords, type WorkspaceRef } from './tenant-records';
import { Session } from '../../../src/modules/foundation/iam/entities/session.entity';

/** The password of every caller. {@link LOGIN_NAME} is the caller who logs in. */
export const PASSWORD = 'the password of all callers';
export const LOGIN_NAME = 'caller-who-logs-in';

const HOUR_MS = 3_600_000;

/** The data and functions that make a token. */
interface Minting {
  tx: EntityManager;
  userId: number;
  keyId: string | undefined;
  /** A node of the records' own tenant. */
  nodeId: number;
  /** Opens a session of the user and returns its id. */
  open: (more?: object) => Promise<string>;
  /** Signs a token for an hour, or until the given moment. */
  sign: (claims: { sessionId: string; userId?: number }, expiresAt?: Date) => string;
}

/** Tokens that must be refused, by name, with the function that makes each; null sends none. */
const BAD_TOKENS = {
  absent: () => Promise.resolve(null),
  malformed: () => Promise.resolve('neither.a.token'),
  unsigned: async ({ open, sign, keyId }: Minting) => {
    const [, payload] = sign({ sessionId: await open() }).split('.');
    return `${Buffer.from(JSON.stringify({ alg: 'none', kid: keyId })).toString('base64url')}.${payload}.`;
  },
  forged: async ({ open, userId, keyId }: Minting) =>
    sign({ sub: String(userId), sid: await open() }, randomBytes(32), { keyid: keyId, expiresIn: '1h' }),
  expired: async ({ open, sign }: Minting) => sign({ sessionId: await open() }, past()),
  'of an expired session': async ({ open, sign }: Minting) => sign({ sessionId: await open({ expires_at: past() }) }),
  'of a revoked session': async ({ open, sign }: Minting) => sign({ sessionId: await open({ revoked_at: past() }) }),
  'of no session': ({ sign }: Minting) => Promise.resolve(sign({ sessionId: randomUUID() })),
  'of another user': async ({ tx, open, sign }: Minting) =>
    sign({ sessionId: await open(), userId: await insertUser(tx) }),
  'of a disabled account': async ({ tx, userId, open, sign }: Minting) => {
    await tx.query('UPDATE users SET to_date = now() WHERE user_id = $1', [userId]);
    return sign({ sessionId: await open() });
  },
  'of a node': async ({ tx, nodeId }: Minting) => {
    const token = `${nodeId}.${randomUUID()}`;
    await tx.query('UPDATE cluster_nodes SET node_token_hash = $2 WHERE node_id = $1', [nodeId, tokenHash(token)]);
    return token;
  },
  'that is a bootstrap token': async ({ tx, nodeId }: Minting) => {
    const token = randomUUID();
    await tx.query('UPDATE cluster_nodes SET bootstrap_token_hash = $2 WHERE node_id = $1', [nodeId, tokenHash(token)]);
    return token;
  },
  'of a closed tenant': async ({ tx, open, sign }: Minting) => {
    const closed = { name: `closed-${randomUUID()}`, to_date: past() };
    const { tenant_id } = await insertPlain<{ tenant_id: string }>(tx, 'tenants', closed);
    return sign({ sessionId: await open({ tenant_id }) });
  },
} satisfies Record<string, (minting: Minting) => Promise<string | null>>;

export type BadToken = keyof typeof BAD_TOKENS;

function past(): Date {
  return new Date(Date.now() - HOUR_MS);
}

/** A caller of every operation. */
export interface CallerSpec {
  name: string;
  /** Platform-wide roles ignore `at`. */
  roles: readonly { role: Role; at: Side }[];
  /** True if the caller holds the roles through a group instead of directly. */
  rolesByGroup?: boolean;
  /** The tenant that the session has selected. */
  session: Side | null;
  /** True if the session is a personal token, which is bound to its tenant. */
  personalToken?: boolean;
  /** The permission on the requested workspace. */
  permission?: { level: WorkspacePermission; byGroup?: boolean; onOther?: boolean };
  badToken?: BadToken;
}

export interface Caller {
  spec: CallerSpec;
  /** Null sends no Authorization header. */
  token: string | null;
  /** Records that belong to this caller only, by the names of parameters. */
  own: Record<string, unknown>;
}

function within(side: Side): CallerSpec[] {
  return ROLES.map((role) => ({ name: `${role} (${side} tenant)`, roles: [{ role, at: side }], session: side }));
}

function inBoth(role: Role): CallerSpec['roles'] {
  return [
    { role, at: 'own' },
    { role, at: 'foreign' },
  ];
}

const ADMIN_HERE = { role: 'PLATFORM ADMIN', at: 'own' } as const;
const USER_HERE = { role: 'USER', at: 'own' } as const;

function permitted(level: WorkspacePermission, byGroup = false): CallerSpec {
  const name = `USER with ${level} on the workspace${byGroup ? ' through a group' : ''}`;
  return { name, roles: [USER_HERE], session: 'own', permission: { level, byGroup } };
}

/** All callers. Those of the records' own tenant come first, strongest first. */
export const CALLERS: readonly CallerSpec[] = [
  ...within('own'),
  ...within('foreign'),
  { name: 'ADMIN through a group', roles: [{ role: 'ADMIN', at: 'own' }], rolesByGroup: true, session: 'own' },
  permitted('MANAGE'),
  permitted('EDIT'),
  permitted('RUN'),
  permitted('VIEW'),
  permitted('EDIT', true),
  {
    name: 'USER with MANAGE on another workspace',
    roles: [USER_HERE],
    session: 'own',
    permission: { level: 'MANAGE', onOther: true },
  },
  { name: 'USER and PLATFORM BILLING', roles: [USER_HERE, { role: 'PLATFORM BILLING', at: 'own' }], session: 'own' },
  {
    name: 'PLATFORM BILLING with MANAGE on the workspace',
    roles: [{ role: 'PLATFORM BILLING', at: 'own' }],
    session: 'own',
    permission: { level: 'MANAGE' },
  },
  {
    name: 'USER here, ADMIN in another tenant',
    roles: [USER_HERE, { role: 'ADMIN', at: 'foreign' }],
    session: 'own',
  },
  { name: 'ADMIN of two tenants, none selected', roles: inBoth('ADMIN'), session: null },
  { name: 'ADMIN of two tenants, the other selected', roles: inBoth('ADMIN'), session: 'foreign' },
  {
    name: 'ADMIN of two tenants with a personal token of the other',
    roles: inBoth('ADMIN'),
    session: 'foreign',
    personalToken: true,
  },
  {
    name: 'USER of two tenants with MANAGE on the workspace, the other tenant selected',
    roles: inBoth('USER'),
    session: 'foreign',
    permission: { level: 'MANAGE' },
  },
  { name: 'PLATFORM ADMIN, no tenant selected', roles: [ADMIN_HERE], session: null },
  { name: 'nobody: no role, no tenant', roles: [], session: null },
  { name: 'nobody any more: the tenant selected, every role in it lost', roles: [], session: 'own' },
  ...(Object.keys(BAD_TOKENS) as BadToken[]).map((badToken): CallerSpec => ({
    name: `token ${badToken}`,
    roles: [ADMIN_HERE],
    session: 'own',
    badToken,
  })),
];

/** Returns the caller's standing towards records of the `own` side. */
export function standingOf({ roles, session, permission, personalToken = false }: CallerSpec): Standing {
  const held = roles.filter(({ role, at }) => PLATFORM_ROLES.includes(role) || at === session).map(({ role }) => role);
  return {
    inTenant: session !== null && held.length > 0,
    roles: held,
    ownTenant: session === 'own',
    belongs: membershipsOf({ roles }).includes('own'),
    permission: permission && !permission.onOther ? permission.level : null,
    personalToken,
  };
}

/** True if the session or a role of the caller is in the other tenant. */
export function concernsBothTenants(caller: CallerSpec): boolean {
  return !caller.badToken && (caller.session === 'foreign' || membershipsOf(caller).includes('foreign'));
}

/** Returns the sides in whose tenant the caller holds a role. */
export function membershipsOf({ roles }: Pick<CallerSpec, 'roles'>): Side[] {
  return roles.filter(({ role }) => !PLATFORM_ROLES.includes(role)).map(({ at }) => at);
}

export type Tenants = Record<Side, TenantRecords>;

/** Makes callers with their accounts and sessions, without the cost of a login. */
export class CallerMaker {
  private passwordHash: Promise<string> | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tokens: AccessTokens,
    private readonly config: Config,
  ) {}

  /** @param hasRecords true adds records of the caller, without which some calls cannot succeed */
  async make(spec: CallerSpec, tenants: Tenants, hasRecords: boolean): Promise<Caller> {
    const passwordHash = await (this.passwordHash ??= hashPassword(PASSWORD, 'test'));
    return this.dataSource.transaction(async (tx) => {
      const userId = await insertUser(tx, { password_hash: passwordHash });
      await grantRoles(tx, userId, spec, tenants);
      if (spec.permission) await grantPermission(tx, userId, spec.permission, tenants.own);
      const tenantId = spec.session && tenants[spec.session].tenantId;
      const token = await this.tokenOf(tx, userId, spec, tenants);
      if (!hasRecords) return { spec, token, own: {} };
      const { token_id } = await insertPlain<{ token_id: string }>(tx, 'sessions', personalToken(userId, tenantId));
      return {
        spec,
        token,
        own: { token_id, ...(spec.session && (await insertSecrets(tx, userId, tenants[spec.session]))) },
      };
    });
  }

  /** The account that logs in with the login operation. */
  async makeLoginAccount(): Promise<void> {
    const account = { username: LOGIN_NAME, email: `${LOGIN_NAME}@example.org` };
    await insertPlain(this.dataSource.manager, 'users', {
      ...account,
      password_hash: await hashPassword(PASSWORD, 'test'),
    });
  }

  private async tokenOf(tx: EntityManager, userId: number, spec: CallerSpec, tenants: Tenants): Promise<string | null> {
    const future = new Date(Date.now() + HOUR_MS);
    const open = async (more: object = {}) => {
      const tenant_id = spec.session && tenants[spec.session].tenantId;
      const kind = spec.personalToken ? 'token' : 'login';
      const values = { user_id: userId, tenant_id, kind, expires_at: future, ...more };
      return (await insertRow(tx, Session, values)).session_id;
    };
    const sign: Minting['sign'] = (claims, expiresAt = future) => this.tokens.sign({ userId, ...claims }, expiresAt);
    if (spec.badToken === undefined) return sign({ sessionId: await open() });
    const keyId = this.config.auth.signingKeys[0]?.id;
    const { nodeId } = tenants.own;
    return BAD_TOKENS[spec.badToken]({ tx, userId, keyId, nodeId, open, sign });
  }
}

/** Names of callers carry no mark of a tenant. */
async function insertUser(tx: EntityManager, more: object = {}): Promise<number> {
  const username = `caller-${randomUUID()}`;
  const values = { username, email: `${username}@example.org`, ...more };
  return (await insertPlain<{ user_id: number }>(tx, 'users', values)).user_id;
}

/** Secrets of the user in the tenant: a plain one, and some that open a catalog. */
async function insertSecrets(tx: EntityManager, user_id: number, records: TenantRecords): Promise<object> {
  const { tenantId: tenant_id, openedCatalog } = records;
  const secret = async (name: string, more: object = {}) => {
    const values = { tenant_id, name, ...rowOf('user_secret', { user_id }), ...more };
    return (await insertPlain<{ user_secret_id: number }>(tx, 'user_secrets', values)).user_secret_id;
  };
  const metastore_secret_id = await secret('metastore', { secret_type_id: SECRET_TYPE.hiveBasic });
  const { metastore_catalog_id } = openedCatalog;
  const attached = await insertPlain<{ metastore_catalog_secret_user_id: number }>(tx, 'user_catalog_secrets', {
    ...{ tenant_id, user_id, metastore_catalog_id, metastore_secret_id },
  });
  return {
    user_secret_id: await secret('own'),
    metastore_secrets_user_id: metastore_secret_id,
    object_storage_secrets_user_id: await secret('storage', { secret_type_id: SECRET_TYPE.awsKeys }),
    metastore_catalog_secret_user_id: attached.metastore_catalog_secret_user_id,
  };
}

/** Adds a group with this user as the only member. */
async function insertGroup(tx: EntityManager, userId: number): Promise<number> {
  const { group_id } = await insertPlain<{ group_id: number }>(tx, 'groups', { group_name: `group-${randomUUID()}` });
  await insertPlain(tx, 'group_users', { group_id, user_id: userId });
  return group_id;
}

async function grantRoles(tx: EntityManager, userId: number, spec: CallerSpec, tenants: Tenants): Promise<void> {
  const groupId = spec.rolesByGroup ? await insertGroup(tx, userId) : null;
  for (const { role, at } of spec.roles) {
    const tenant_id = PLATFORM_ROLES.includes(role) ? null : tenants[at].tenantId;
    const held = { role_id: roleId(role), tenant_id };
    if (groupId === null) await insertPlain(tx, 'user_roles', { user_id: userId, ...held });
    else await insertPlain(tx, 'group_roles', { group_id: groupId, ...held });
  }
}

async function grantPermission(
  tx: EntityManager,
  userId: number,
  { level, byGroup, onOther }: NonNullable<CallerSpec['permission']>,
  records: TenantRecords,
): Promise<void> {
  const permission = { tenant_id: records.tenantId, permission_id: PERMISSION_IDS[level] };
  const calledFor = { workspace_id: Number(records.values['workspace_id']) };
  const workspaces: Pick<WorkspaceRef, 'workspace_id'>[] = onOther
    ? [records.otherWorkspace]
    : [calledFor, records.disabledWorkspace];
  const groupId = byGroup ? await insertGroup(tx, userId) : null;
  for (const { workspace_id } of workspaces) {
    const held = { ...permission, workspace_id };
    if (groupId === null) await insertPlain(tx, 'workspace_users', { ...held, user_id: userId });
    else await insertPlain(tx, 'workspace_groups', { ...held, group_id: groupId });
  }
}

/** Ids of the lookup table. */
const PERMISSION_IDS: Record<WorkspacePermission, number> = { VIEW: 0, RUN: 1, EDIT: 2, MANAGE: 3 };
