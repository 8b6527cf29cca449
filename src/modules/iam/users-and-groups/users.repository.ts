import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { WriteAuditRow } from '../../../platform/http/answers';
import { ROLES_OF_USERS } from '../roles/held-roles';
import { type HolderFilter, RoleHoldersRepository } from './role-holders.repository';

export interface UserRecord extends WriteAuditRow {
  user_id: number;
  username: string;
  display_name: string | null;
  email: string;
  directory: string;
}

/** Accounts, enabled and disabled; never their password hashes. */
@Injectable()
export class UsersRepository extends RoleHoldersRepository<UserRecord> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'users',
      idColumn: 'user_id',
      nameColumn: 'username',
      columns: 'display_name, email',
      exists: 'TRUE',
      roles: ROLES_OF_USERS,
      rolesTable: 'user_roles',
      code: 'USER',
      label: 'user',
    });
  }

  membersOf(groupId: number): HolderFilter {
    return (conditions) =>
      conditions.add(
        `t.user_id IN (SELECT gu.user_id FROM group_users gu WHERE gu.group_id = ? AND gu.to_date = 'infinity')`,
        groupId,
      );
  }
}
