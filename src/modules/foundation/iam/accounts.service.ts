import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { GroupsRepository } from './users-and-groups/groups.repository';
import { UsersRepository } from './users-and-groups/users.repository';

/** Gives other modules the users and groups of a tenant, that is, those that hold a role in it. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
  ) {}

  /** Returns the user's name and locks the row (`FOR SHARE`). Throws 404 if the tenant has no such user. */
  async lockUser(tx: Tx, tenantId: string, userId: number): Promise<string> {
    return (await this.users.get({ holdingRolesIn: tenantId }, { id: userId }, tx, 'share')).username;
  }

  /** Returns the group's name and locks the row (`FOR SHARE`). Throws 404 if the tenant has no such group. */
  async lockGroup(tx: Tx, tenantId: string, groupId: number): Promise<string> {
    return (await this.groups.get({ holdingRolesIn: tenantId }, { id: groupId }, tx, 'share')).group_name;
  }
}
