import { randomUUID } from 'node:crypto';
import { IamApiModule } from '../../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../../src/modules/foundation/iam/iam.module';
import { AccessTokens } from '../../../src/modules/foundation/iam/sessions/access-tokens';
import { hashPassword } from '../../../src/modules/foundation/iam/users-and-groups/passwords';
import { type Role, ROLES } from '../../../src/platform/kernel/auth/roles';
import { firstRow, insertRow } from '../../../src/platform/kernel/persistence/sql';
import { insertPlain } from './records';
import { podsOf, type TestAnswer, type TestApi } from './test-api';
import { Group } from '../../../src/modules/foundation/iam/entities/group.entity';
import { GroupRole } from '../../../src/modules/foundation/iam/entities/group-role.entity';
import { GroupUser } from '../../../src/modules/foundation/iam/entities/group-user.entity';
import { Session } from '../../../src/modules/foundation/iam/entities/session.entity';
import { Tenant } from '../../../src/modules/foundation/iam/entities/tenant.entity';
import { User } from '../../../src/modules/foundation/iam/entities/user.entity';
import { UserRole } from '../../../src/modules/foundation/iam/entities/user-role.entity';

export const PASSWORD = 'a password of some length';

/** Ids of the roles, as the first start gives them. */
export const ROLE_ID = Object.fromEntries(ROLES.map((role, id) => [role, id])) as Record<Role, number>;

/** A role and its place: a tenant id, or null for a platform-wide role. */
type Held = readonly [role: Role, tenantId: string | null];

export interface Caller {
  userId: number;
  token: string;
  call(method: string, path: string, body?: unknown): Promise<TestAnswer>;
}

/** Inserts tenants, users and groups into the database of an API and acts as them. Unnamed records get numbered names. */
export class People {
  private count = 0;
  private unknownHash: Promise<string> | null = null;

  constructor(private readonly api: TestApi) {}

  unique(prefix: string): string {
    this.count += 1;
    return `${prefix}-${this.count}`;
  }

  async tenant(name = this.unique('tenant'), tenant_id: string = randomUUID()): Promise<string> {
    return (await insertRow(this.manager, Tenant, { name, tenant_id })).tenant_id;
  }

  /** An account with an unknown password until one is set; the platform owns it unless a tenant is named. */
  async user(held: readonly Held[] = [], columns: Partial<User> = {}): Promise<number> {
    const { username = this.unique('user'), directory = 'local', owner_tenant_id: owner } = columns;
    const { user_id } = await insertRow(this.manager, User, {
      username,
      email: `${String(username)}@example.org`,
      password_hash: directory === 'local' ? await (this.unknownHash ??= hashPassword(randomUUID(), 'test')) : null,
      password_known_to_tenant: owner !== undefined,
      ...columns,
    });
    for (const [role, tenantId] of held) await this.giveRole(user_id, role, tenantId);
    return user_id;
  }

  /** A user of this name who can log in with {@link PASSWORD}. */
  async withPassword(username: string, held: readonly Held[] = []): Promise<number> {
    return this.user(held, { username, password_hash: await hashPassword(PASSWORD, 'test') });
  }

  /** Inserts a role assignment directly, without a notification to any process. */
  async giveRole(userId: number, role: Role, tenantId: string | null): Promise<void> {
    await insertRow(this.manager, UserRole, { user_id: userId, role_id: ROLE_ID[role], tenant_id: tenantId });
  }

  async group(
    held: readonly Held[] = [],
    members: readonly number[] = [],
    columns: Partial<Group> = {},
  ): Promise<number> {
    const { group_id } = await insertRow(this.manager, Group, {
      group_name: this.unique('group'),
      ...columns,
    });
    for (const [role, tenant_id] of held) {
      await insertRow(this.manager, GroupRole, { group_id, role_id: ROLE_ID[role], tenant_id });
    }
    for (const user_id of members) await insertRow(this.manager, GroupUser, { group_id, user_id });
    return group_id;
  }

  /** Gives the group VIEW on a new workspace of the tenant. */
  async workspacePermission(tenantId: string, groupId: number): Promise<void> {
    const name = this.unique('workspace');
    const workspace = await insertPlain(this.manager, 'workspaces', { name, tenant_id: tenantId });
    const permission = await firstRow<{ permission_id: number }>(
      this.manager,
      'SELECT permission_id FROM workspace_permissions ORDER BY permission_id LIMIT 1',
    );
    await insertPlain(this.manager, 'workspace_groups', {
      tenant_id: tenantId,
      workspace_id: workspace['workspace_id'],
      group_id: groupId,
      permission_id: permission?.permission_id,
    });
  }

  /** Sets a user's password to {@link PASSWORD}, so that it can log in. */
  async givePassword(userId: number): Promise<void> {
    const hash = await hashPassword(PASSWORD, 'test');
    await this.manager.query('UPDATE users SET password_hash = $2 WHERE user_id = $1', [userId, hash]);
  }

  /** Opens a session of the user, with the tenant selected if one is passed. */
  async as(userId: number, tenantId: string | null = null): Promise<Caller> {
    const { session_id } = await insertRow(this.manager, Session, {
      user_id: userId,
      tenant_id: tenantId,
      kind: 'login',
      expires_at: Infinity,
    });
    const token = this.api.app.get(AccessTokens).sign({ userId, sessionId: session_id }, null);
    return { userId, token, call: (method, path, body) => this.api.call(method, path, { token, body }) };
  }

  /** A new ADMIN with the tenant selected. */
  async admin(tenantId: string): Promise<Caller> {
    return this.as(await this.user([['ADMIN', tenantId]]), tenantId);
  }

  /** A new USER with the tenant selected. */
  async member(tenantId: string): Promise<Caller> {
    return this.as(await this.user([['USER', tenantId]]), tenantId);
  }

  /** Creates a workspace as the caller and returns its id. */
  async workspace(caller: Caller): Promise<number> {
    const { status, body } = await caller.call('POST', '/workspace', { name: this.unique('workspace') });
    if (status !== 200) throw new Error(`No workspace could be made: ${JSON.stringify(body)}`);
    return Number(body.workspace_id);
  }

  /** A new PLATFORM ADMIN without a tenant. */
  async platformAdmin(): Promise<Caller> {
    return this.as(await this.user([['PLATFORM ADMIN', null]]));
  }

  /** A new ADMIN with the tenant selected who also is a PLATFORM ADMIN. */
  async everywhere(tenantId: string): Promise<Caller> {
    const roles: Held[] = [
      ['PLATFORM ADMIN', null],
      ['ADMIN', tenantId],
    ];
    return this.as(await this.user(roles), tenantId);
  }

  private get manager() {
    return this.api.database.manager;
  }
}

/**
 * The API of users on two pods over one database, with two tenants and their administrators, for the tests of the block
 * in which this is called.
 */
export function directory() {
  const [api, otherPod] = podsOf([IamModule, IamApiModule], { LOGIN_ATTEMPTS: '1000' });
  const people = new People(api);
  const [own, foreign] = [randomUUID(), randomUUID()];
  // Sessions need the API, so their fields come later.
  const admin = {} as Caller;
  const platformAdmin = {} as Caller;
  beforeAll(async () => {
    for (const id of [own, foreign]) await people.tenant(people.unique('tenant'), id);
    Object.assign(admin, await people.admin(own));
    Object.assign(platformAdmin, await people.platformAdmin());
  });
  return { api, otherPod, people, own, foreign, admin, platformAdmin };
}

/** The parts of a refusal that tests compare. */
export function refusal({ status, body }: TestAnswer): [number, string] {
  return [status, body.error_code];
}
