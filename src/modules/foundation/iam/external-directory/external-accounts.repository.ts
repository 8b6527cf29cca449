import { Injectable } from '@nestjs/common';
import type { DirectoryGroup, DirectoryUser } from '../../../../../libs/directories/directory';
import { firstRow, returning, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { notify } from '../../../../platform/kernel/notifications/pg-listener';
import type { Group } from '../entities/group.entity';
import type { User } from '../entities/user.entity';
import { EVERY_SESSION, sessionsOf } from '../sessions/sessions.repository';

const ACCOUNT_COLUMNS = [
  'user_id',
  'username',
  'display_name',
  'email',
  'directory',
  'external_id',
  'from_date',
  'to_date',
] as const satisfies (keyof User)[];

const GROUP_COLUMNS = [
  'group_id',
  'group_name',
  'group_mail',
  'group_object_id',
  'group_type',
  'from_date',
  'to_date',
] as const satisfies (keyof Group)[];

export type AccountRow = Pick<User, (typeof ACCOUNT_COLUMNS)[number]>;

export type DirectoryGroupRow = Pick<Group, (typeof GROUP_COLUMNS)[number]>;

/** The directory that accounts come from, and the user who requested the change; `actorId` is null for a login. */
export interface Source {
  directory: string;
  actorId: number | null;
}

const ACCOUNT = ACCOUNT_COLUMNS.join(', ');
const GROUP = GROUP_COLUMNS.join(', ');

/** Stores accounts, groups and memberships that come from an external directory. */
@Injectable()
export class ExternalAccountsRepository {
  /** Returns and locks the accounts that match the users by external id or user name. */
  accountsOf(tx: Tx, { directory }: Source, users: readonly DirectoryUser[]): Promise<AccountRow[]> {
    return rows<AccountRow>(
      tx,
      `SELECT ${ACCOUNT} FROM users WHERE username = ANY($2) OR (directory = $1 AND external_id = ANY($3))
       ORDER BY user_id FOR UPDATE`,
      [
        directory,
        users.map((person) => person.username.toLowerCase()),
        users.flatMap(({ externalId }) => (externalId === null ? [] : [externalId])),
      ],
    );
  }

  /** Returns null if the user name is taken. If the e-mail address is taken, the account gets a placeholder instead. */
  async addAccount(tx: Tx, source: Source, person: DirectoryUser): Promise<AccountRow | null> {
    const username = person.username.toLowerCase();
    return firstRow<AccountRow>(
      tx,
      `INSERT INTO users (username, display_name, email, directory, external_id, created_by_user_id, modified_by_user_id)
       SELECT $1, $2, CASE WHEN EXISTS (SELECT 1 FROM users o WHERE o.email = $3) THEN $4 ELSE $3 END, $5, $6, $7, $7
       ON CONFLICT DO NOTHING RETURNING ${ACCOUNT}`,
      [
        username,
        person.displayName,
        (person.email ?? placeholderAddress(username)).toLowerCase(),
        placeholderAddress(username),
        source.directory,
        person.externalId,
        source.actorId,
      ],
    );
  }

  /** Updates names and e-mail address. A name or address that another account uses stays unchanged. */
  async refreshAccount(tx: Tx, source: Source, account: AccountRow, person: DirectoryUser): Promise<AccountRow> {
    const [row] = await returning<AccountRow>(
      tx,
      `UPDATE users u SET username = n.username, display_name = n.display_name, email = n.email,
         modified_by_user_id = $5, last_update_date = platform_now()
       FROM (SELECT c.user_id, $3::text AS display_name,
               CASE WHEN EXISTS (SELECT 1 FROM users o WHERE o.username = $2 AND o.user_id <> c.user_id)
                 THEN c.username ELSE $2 END AS username,
               CASE WHEN EXISTS (SELECT 1 FROM users o WHERE o.email = $4 AND o.user_id <> c.user_id)
                 THEN c.email ELSE $4 END AS email
             FROM users c WHERE c.user_id = $1) n
       WHERE u.user_id = n.user_id
         AND (u.username, u.display_name, u.email) IS DISTINCT FROM (n.username, n.display_name, n.email)
       RETURNING ${ACCOUNT.replaceAll(/\w+/g, 'u.$&')}`,
      [
        account.user_id,
        person.username.toLowerCase(),
        person.displayName,
        (person.email ?? account.email).toLowerCase(),
        source.actorId,
      ],
    );
    return row ?? account;
  }

  groupsByObjectId(tx: Tx, { directory }: Source, objectIds: readonly string[]): Promise<DirectoryGroupRow[]> {
    return rows<DirectoryGroupRow>(
      tx,
      `SELECT ${GROUP} FROM groups WHERE directory = $1 AND to_date = 'infinity' AND group_object_id = ANY($2)`,
      [directory, objectIds],
    );
  }

  currentGroups(tx: Tx, directory: string, name: string): Promise<DirectoryGroupRow[]> {
    return rows<DirectoryGroupRow>(
      tx,
      `SELECT ${GROUP} FROM groups WHERE directory = $1 AND to_date = 'infinity' AND group_name = $2`,
      [directory, name],
    );
  }

  /** Returns null if the name or the object id is taken. */
  addGroup(tx: Tx, source: Source, group: DirectoryGroup, name: string): Promise<DirectoryGroupRow | null> {
    return firstRow<DirectoryGroupRow>(
      tx,
      `INSERT INTO groups (group_name, group_mail, group_object_id, group_type, directory, created_by_user_id, modified_by_user_id)
       VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT DO NOTHING RETURNING ${GROUP}`,
      [name, group.mail, group.objectId, group.type, source.directory, source.actorId],
    );
  }

  async refreshGroup(
    tx: Tx,
    source: Source,
    stored: DirectoryGroupRow,
    group: DirectoryGroup,
  ): Promise<DirectoryGroupRow> {
    const [row] = await returning<DirectoryGroupRow>(
      tx,
      `UPDATE groups g SET group_name = n.group_name, group_mail = $3, group_type = $4,
         modified_by_user_id = $5, last_update_date = platform_now()
       FROM (SELECT c.group_id,
               CASE WHEN EXISTS (SELECT 1 FROM groups o WHERE o.directory = c.directory AND o.group_name = $2
                                 AND o.group_id <> c.group_id AND o.to_date = 'infinity')
                 THEN c.group_name ELSE $2 END AS group_name
             FROM groups c WHERE c.group_id = $1) n
       WHERE g.group_id = n.group_id
         AND (g.group_name, g.group_mail, g.group_type) IS DISTINCT FROM (n.group_name, $3::text, $4::text)
       RETURNING ${GROUP.replaceAll(/\w+/g, 'g.$&')}`,
      [stored.group_id, group.name, group.mail, group.type, source.actorId],
    );
    return row ?? stored;
  }

  /** Sets the user's memberships in groups of this directory. Memberships in other directories' groups stay. */
  async setGroupsOf(tx: Tx, source: Source, userId: number, groupIds: readonly number[]): Promise<void> {
    const ended = await returning(
      tx,
      `UPDATE group_users gu SET to_date = platform_now(), modified_by_user_id = $4, last_update_date = platform_now()
       FROM groups g
       WHERE g.group_id = gu.group_id AND g.directory = $1 AND gu.user_id = $2 AND gu.to_date = 'infinity'
         AND gu.group_id <> ALL($3::bigint[])
       RETURNING gu.group_user_id`,
      [source.directory, userId, groupIds, source.actorId],
    );
    const added = await rows(
      tx,
      `INSERT INTO group_users (group_id, user_id, created_by_user_id, modified_by_user_id)
       SELECT unnest($2::bigint[]), $1, $3, $3 ON CONFLICT DO NOTHING RETURNING group_user_id`,
      [userId, groupIds, source.actorId],
    );
    if (ended.length + added.length > 0) await notify(tx, 'session', sessionsOf(userId));
  }

  async setMembersOf(tx: Tx, source: Source, groupId: number, userIds: readonly number[]): Promise<void> {
    const ended = await returning(
      tx,
      `UPDATE group_users SET to_date = platform_now(), modified_by_user_id = $3, last_update_date = platform_now()
       WHERE group_id = $1 AND to_date = 'infinity' AND user_id <> ALL($2::bigint[]) RETURNING group_user_id`,
      [groupId, userIds, source.actorId],
    );
    const added = await rows(
      tx,
      `INSERT INTO group_users (group_id, user_id, created_by_user_id, modified_by_user_id)
       SELECT $1, unnest($2::bigint[]), $3, $3 ON CONFLICT DO NOTHING RETURNING group_user_id`,
      [groupId, userIds, source.actorId],
    );
    if (ended.length + added.length > 0) await notify(tx, 'session', EVERY_SESSION);
  }

  /** Disables the account and returns its id, or null if no enabled account has the name. */
  async disable(tx: Tx, source: Source, username: string): Promise<number | null> {
    const [row] = await returning<Pick<User, 'user_id'>>(
      tx,
      `UPDATE users SET to_date = platform_now(), modified_by_user_id = $3, last_update_date = platform_now()
       WHERE username = $1 AND directory = $2 AND to_date = 'infinity' RETURNING user_id`,
      [username.toLowerCase(), source.directory, source.actorId],
    );
    return row?.user_id ?? null;
  }
}

/** Accounts must have an e-mail address, so one without gets an address that cannot receive mail. */
function placeholderAddress(username: string): string {
  return username.includes('@') ? username : `${username}@localhost`;
}
