import { idText, validity, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { GroupWrite } from './dto/group.dto';
import type { GroupRead, UserRead } from './dto/directory.dto';
import type { UserWrite } from './dto/user.dto';
import type { GroupRecord } from './groups.repository';
import type { UserRecord } from './users.repository';

/** A row of an account or group. Its `to_date` is `Infinity` while it is current. */
type Dated<T> = Omit<T, 'to_date'> & { to_date: Date | number };

export function userRead(row: Dated<UserRead>): UserRead {
  return {
    user_id: row.user_id,
    username: row.username,
    display_name: row.display_name,
    email: row.email,
    ...validity(row),
  };
}

export function userWrite(row: UserRecord): UserWrite {
  return {
    user_id: idText(row.user_id),
    username: row.username,
    display_name: row.display_name,
    email: row.email,
    ...writeAudit(row),
  };
}

export function groupRead(row: Dated<GroupRead>): GroupRead {
  return {
    group_id: row.group_id,
    group_name: row.group_name,
    group_mail: row.group_mail,
    group_object_id: row.group_object_id,
    group_type: row.group_type,
    ...validity(row),
  };
}

export function groupWrite(row: GroupRecord): GroupWrite {
  return {
    group_id: idText(row.group_id),
    group_name: row.group_name,
    group_mail: row.group_mail,
    group_object_id: row.group_object_id,
    group_type: row.group_type,
    ...writeAudit(row),
  };
}
