import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../../platform/kernel/errors/domain-error';
import { type Message, openEnded } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import type { Page } from '../../../../platform/kernel/dto/page';
import { NOW, type Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { ALL_TENANTS } from '../../../../platform/http/resources/resource-repository';
import { LockoutProtection } from '../roles/lockout-protection';
import { SessionChanges } from '../sessions/session-changes';
import { sessionsOf, SessionsRepository } from '../sessions/sessions.repository';
import { actingTenant, assertMayChange } from './ownership';
import { assertBuiltIn, assertFromBuiltIn } from './built-in-directory';
import { userRead, userWrite } from './directory-responses';
import type { UserRead } from './dto/directory.dto';
import type { CreateUser, SetPassword, UpdateUser, UserListQuery, UserWrite } from './dto/user.dto';
import { GroupsRepository } from './groups.repository';
import { hashPassword, partyOf } from './passwords';
import { RoleGrants } from './role-grants';
import { type UserRecord, UsersRepository } from './users.repository';

/** Manages the accounts of all tenants. */
@Injectable()
export class UsersService {
  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
    private readonly sessions: SessionsRepository,
    private readonly changes: SessionChanges,
    private readonly grants: RoleGrants,
    private readonly lockout: LockoutProtection,
  ) {}

  async list(query: UserListQuery, partOfName?: string): Promise<Page<UserRead>> {
    const { group_id: groupId } = query;
    if (groupId !== undefined) await this.groups.get(ALL_TENANTS, { id: groupId });
    const filter = groupId === undefined ? undefined : this.users.membersOf(groupId);
    const page = await this.users.list(ALL_TENANTS, query, filter, partOfName);
    return { ...page, data: page.data.map(userRead) };
  }

  async match(username: string): Promise<UserRead> {
    const user = await this.users.find(ALL_TENANTS, { name: username.toLowerCase() });
    if (!user) throw notFound('USER.NOT_FOUND', `There is no user with the name "${username}".`);
    return userRead(user);
  }

  async get(userId: number): Promise<UserRead> {
    return userRead(await this.users.get(ALL_TENANTS, { id: userId }));
  }

  /** The selected tenant owns the account, or the platform if the caller is PLATFORM ADMIN. */
  async create(caller: Principal, body: CreateUser): Promise<UserWrite> {
    assertBuiltIn(this.config.auth.directory);
    const passwordHash = await hashPassword(body.password, partyOf(caller));
    return this.transactions.run(async (tx) => {
      const roles = await this.grants.resolveAtCreation(tx, caller, body.role_ids);
      const groups = await this.groups.getAll(body.group_ids, tx, 'share');
      for (const group of groups) {
        assertFromBuiltIn('group', group);
        assertMayChange(caller, 'group', group);
      }
      const user = await this.users.insert(tx, caller, {
        username: body.username,
        display_name: body.display_name,
        email: body.email.toLowerCase(),
        password_hash: passwordHash,
        password_known_to_tenant: actingTenant(caller) !== null,
      });
      for (const role of roles) await this.users.assignRole(tx, caller, user.user_id, role);
      await this.groups.addMembers(tx, caller, body.group_ids, [user.user_id]);
      return userWrite(user);
    });
  }

  async update(caller: Principal, userId: number, body: UpdateUser): Promise<UserWrite> {
    assertChanges(body);
    return this.transactions.run(async (tx) => {
      await this.lockBuiltIn(tx, caller, userId);
      const columns = { display_name: body.display_name, email: body.email?.toLowerCase() };
      return userWrite(await this.users.update(tx, caller, userId, columns));
    });
  }

  async setPassword(caller: Principal, userId: number, body: SetPassword): Promise<Message> {
    const passwordHash = await hashPassword(body.new_password, partyOf(caller));
    return this.changes.run(sessionsOf(userId), async (tx) => {
      const user = await this.lockBuiltIn(tx, caller, userId);
      await this.users.update(tx, caller, userId, {
        password_hash: passwordHash,
        password_known_to_tenant: user.owner_tenant_id !== null,
      });
      await this.sessions.endAllForUser(tx, userId);
      return {
        message: `The password of user "${user.username}" is set, and all sessions and tokens of the user have ended.`,
      };
    });
  }

  async disable(caller: Principal, userId: number): Promise<UserWrite> {
    return this.changes.run(sessionsOf(userId), (tx) =>
      this.lockout.keepPlatformAdmin(tx, async () => {
        if (userId === caller.userId) {
          throw conflict(
            'USER.OWN_ACCOUNT',
            'You cannot disable your own account. Ask another administrator to do it.',
          );
        }
        const user = await this.lock(tx, caller, userId);
        assertEnabled(user, true);
        const disabled = await this.users.update(tx, caller, userId, { to_date: NOW });
        await this.sessions.endAllForUser(tx, userId);
        return userWrite(disabled);
      }),
    );
  }

  /** Sessions that ended when the account was disabled stay ended. */
  async enable(caller: Principal, userId: number): Promise<UserWrite> {
    return this.changes.run(sessionsOf(userId), async (tx) => {
      assertEnabled(await this.lock(tx, caller, userId), false);
      return userWrite(await this.users.update(tx, caller, userId, { to_date: Infinity }));
    });
  }

  /** Locks an account that the caller may change. */
  private async lock(tx: Tx, caller: Principal, userId: number): Promise<UserRecord> {
    const user = await this.users.get(ALL_TENANTS, { id: userId }, tx, true);
    assertMayChange(caller, 'account', user);
    return user;
  }

  /** Like {@link lock}, for an account of the built-in directory. */
  private async lockBuiltIn(tx: Tx, caller: Principal, userId: number): Promise<UserRecord> {
    const user = await this.users.get(ALL_TENANTS, { id: userId }, tx, true);
    assertFromBuiltIn('user', user);
    assertMayChange(caller, 'account', user);
    return user;
  }
}

function assertEnabled(user: UserRecord, expected: boolean): void {
  const enabled = openEnded(user.to_date) === null;
  if (enabled === expected) return;
  throw conflict(
    'USER.INVALID_STATE',
    `The account "${user.username}" is already ${enabled ? 'enabled' : 'disabled'}.`,
  );
}
