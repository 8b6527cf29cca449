import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { GroupsRepository } from './users-and-groups/groups.repository';
import { UsersRepository } from './users-and-groups/users.repository';

/** The users and groups of a tenant, which are those that hold a role in it, for other modules. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
  ) {}

  /** The name of a user of the tenant, who stays until `tx` ends; 404 when the tenant has no such user. */
  async holdUser(tx: Tx, tenantId: string, userId: number): Promise<string> {
    return (await this.users.get({ holdingRolesIn: tenantId }, { id: userId }, tx, 'share')).username;
  }

  /** The same of a group. */
  async holdGroup(tx: Tx, tenantId: string, groupId: number): Promise<string> {
    return (await this.groups.get({ holdingRolesIn: tenantId }, { id: groupId }, tx, 'share')).group_name;
  }
}
