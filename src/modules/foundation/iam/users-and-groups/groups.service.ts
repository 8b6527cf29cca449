import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, type Message, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import type { Page } from '../../../../platform/kernel/dto/page';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { ALL_TENANTS, type RowLock } from '../../../../platform/http/resources/resource-repository';
import { References } from '../../../../platform/http/resources/references';
import { Group } from '../entities/group.entity';
import { LockoutProtection } from '../roles/lockout-protection';
import { SessionChanges } from '../sessions/session-changes';
import { EVERY_SESSION, sessionsOf } from '../sessions/sessions.repository';
import { assertMayChange } from './ownership';
import { assertBuiltIn, assertFromBuiltIn } from './built-in-directory';
import { groupRead, groupWrite } from './directory-responses';
import type { CreateGroup, GroupListQuery, GroupMemberWrite, GroupWrite, UpdateGroup } from './dto/group.dto';
import type { GroupRead } from './dto/directory.dto';
import { type GroupRecord, GroupsRepository } from './groups.repository';
import { grantLock, PlatformTakeover } from './platform-takeover';
import { RoleGrants } from './role-grants';
import { UsersRepository } from './users.repository';

/** Manages the groups of all tenants and their members. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly groups: GroupsRepository,
    private readonly users: UsersRepository,
    private readonly changes: SessionChanges,
    private readonly grants: RoleGrants,
    private readonly takeover: PlatformTakeover,
    private readonly lockout: LockoutProtection,
    private readonly references: References,
  ) {}

  async list(query: GroupListQuery, partOfName?: string): Promise<Page<GroupRead>> {
    const { user_id: userId } = query;
    if (userId !== undefined) await this.users.get(ALL_TENANTS, { id: userId });
    const filter = userId === undefined ? undefined : this.groups.containing(userId);
    const page = await this.groups.list(ALL_TENANTS, query, filter, partOfName);
    return { ...page, data: page.data.map(groupRead) };
  }

  async match(groupName: string): Promise<GroupRead[]> {
    const groups = await this.groups.findByName(groupName);
    if (groups.length === 0) throw notFound('GROUP.NOT_FOUND', `There is no group with the name "${groupName}".`);
    return groups.map(groupRead);
  }

  async get(groupId: number): Promise<GroupRead> {
    return groupRead(await this.groups.get(ALL_TENANTS, { id: groupId }));
  }

  /** The selected tenant owns the group, or the platform if the caller is PLATFORM ADMIN. */
  async create(caller: Principal, body: CreateGroup): Promise<GroupWrite> {
    assertBuiltIn(this.config.auth.directory);
    const insert = async (tx: Tx) => {
      const roles = await this.grants.resolveAtCreation(tx, caller, body.role_ids);
      const users = await this.users.getAll(body.user_ids, tx, grantLock(caller));
      for (const user of users) assertFromBuiltIn('user', user);
      const tenantIds = roles.map(({ tenantId }) => tenantId);
      await this.takeover.takeOverUsers(tx, caller, body.user_ids, tenantIds);
      const group = await this.groups.insert(tx, caller, {
        group_name: body.group_name,
        group_mail: body.group_mail,
      });
      for (const role of roles) await this.groups.assignRole(tx, caller, group.group_id, role);
      await this.groups.addMembers(tx, caller, [group.group_id], body.user_ids);
      return groupWrite(group);
    };
    return body.role_ids.length > 0 ? this.changes.run(EVERY_SESSION, insert) : this.transactions.run(insert);
  }

  async update(caller: Principal, groupId: number, body: UpdateGroup): Promise<GroupWrite> {
    assertChanges(body);
    return this.transactions.run(async (tx) => {
      await this.lock(tx, caller, groupId, true);
      return groupWrite(await this.groups.update(tx, caller, groupId, { ...body }));
    });
  }

  /** Refuses a group that still grants its members something, so the deletion changes no session. */
  async delete(caller: Principal, groupId: number): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const group = await this.lock(tx, caller, groupId, true);
      const roles = await this.groups.rolesOf(tx, groupId);
      if (roles.length > 0) {
        throw conflict(
          'GROUP.IN_USE',
          `The group "${group.group_name}" holds the roles ${roles.join(', ')}. Revoke them first.`,
          { roles },
        );
      }
      await this.references.assertNotKept(tx, Group, groupId);
      await this.groups.removeMembers(tx, caller, groupId);
      await this.groups.close(tx, caller, groupId);
      return { message: `The group "${group.group_name}" (id ${groupId}) is deleted.` };
    });
  }

  async addMember(caller: Principal, groupId: number, userId: number): Promise<GroupMemberWrite> {
    return this.changes.run(sessionsOf(userId), async (tx) => {
      const group = await this.lock(tx, caller, groupId, 'share');
      const user = await this.users.get(ALL_TENANTS, { id: userId }, tx, grantLock(caller));
      assertFromBuiltIn('user', user);
      await this.takeover.takeOverUsers(tx, caller, [userId], await this.groups.roleTenantsOf(tx, groupId));
      const [membership] = await this.groups.addMembers(tx, caller, [groupId], [userId]);
      if (!membership) {
        throw conflict(
          'GROUP.ALREADY_MEMBER',
          `The user "${user.username}" is already a member of the group "${group.group_name}".`,
        );
      }
      return {
        group_user_id: idText(membership.group_user_id),
        group_id: idText(groupId),
        user_id: idText(userId),
        ...writeAudit(membership),
      };
    });
  }

  async removeMember(caller: Principal, groupId: number, userId: number): Promise<Message> {
    return this.changes.run(sessionsOf(userId), (tx) =>
      this.lockout.keepAdmins(tx, caller, async () => {
        const group = await this.lock(tx, caller, groupId, 'share');
        const user = await this.users.get(ALL_TENANTS, { id: userId }, tx);
        if ((await this.groups.removeMembers(tx, caller, groupId, userId)) === 0) {
          throw notFound(
            'GROUP.NOT_MEMBER',
            `The user "${user.username}" is not a member of the group "${group.group_name}".`,
          );
        }
        return { message: `The user "${user.username}" is removed from the group "${group.group_name}".` };
      }),
    );
  }

  /** Locks a group of the built-in directory that the caller may change. */
  private async lock(tx: Tx, caller: Principal, groupId: number, lock: RowLock): Promise<GroupRecord> {
    const group = await this.groups.get(ALL_TENANTS, { id: groupId }, tx, lock);
    assertFromBuiltIn('group', group);
    assertMayChange(caller, 'group', group);
    return group;
  }
}
