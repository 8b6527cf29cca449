import { Inject, Injectable } from '@nestjs/common';
import type {
  DirectoryGroup,
  DirectoryGroupWithMembers,
  DirectoryUser,
} from '../../../../../libs/directories/directory';
import { Config } from '../../../../config/config';
import { forbidden } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import {
  type AccountRow,
  type DirectoryGroupRow,
  ExternalAccountsRepository,
  type Source,
} from './external-accounts.repository';

/**
 * Stores the accounts and groups of an external directory. It matches an account by the directory's id, and by user
 * name only if the directory has no ids. A person never gets the account of somebody else who has the same user name.
 */
@Injectable()
export class ExternalAccounts {
  constructor(
    private readonly config: Config,
    private readonly repository: ExternalAccountsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Stores or refreshes a user with its groups. Throws 403 if the user name belongs to another account. */
  async save(tx: Tx, source: Source, person: DirectoryUser): Promise<AccountRow> {
    const [account] = await this.saveAccounts(tx, source, [person]);
    if (!account) {
      throw forbidden(
        'AUTH.NAME_TAKEN',
        `The user name ${person.username.toLowerCase()} already belongs to another account here. Have one of the two renamed.`,
      );
    }
    if (person.groups !== null) {
      const groups = await this.saveGroups(tx, source, person.groups);
      const groupIds = groups.map(({ group_id }) => group_id);
      await this.repository.setGroupsOf(tx, source, account.user_id, groupIds);
    }
    return account;
  }

  /** Refreshes and returns the account of a user who logs in; null if it is disabled. */
  async admit(tx: Tx, person: DirectoryUser): Promise<AccountRow | null> {
    const account = await this.save(tx, { directory: this.config.auth.directory, actorId: null }, person);
    return account.to_date instanceof Date ? null : account;
  }

  /** Stores or refreshes a group and its members. It skips members whose user name belongs to another account. */
  async saveGroup(tx: Tx, source: Source, directoryGroup: DirectoryGroupWithMembers): Promise<DirectoryGroupRow> {
    const [group] = await this.saveGroups(tx, source, [directoryGroup.group]);
    if (!group) throw new Error(`The group ${directoryGroup.group.qualifiedName} could not be stored`);
    const accounts = await this.saveAccounts(tx, source, directoryGroup.members);
    const userIds = accounts.flatMap((account) => (account === null ? [] : [account.user_id]));
    if (userIds.length < directoryGroup.members.length) {
      const skipped = directoryGroup.members.length - userIds.length;
      this.logger.warn(
        { group: group.group_name, skipped },
        'Group members skipped: other accounts use their user names',
      );
    }
    await this.repository.setMembersOf(tx, source, group.group_id, userIds);
    return group;
  }

  /** Returns one entry per person, in order; null if another account uses the user name. */
  private async saveAccounts(tx: Tx, source: Source, people: readonly DirectoryUser[]): Promise<(AccountRow | null)[]> {
    const known = new KnownAccounts(source.directory, await this.repository.accountsOf(tx, source, people));
    const saved: (AccountRow | null)[] = [];
    for (const person of people) saved.push(await this.saveAccount(tx, source, person, known));
    return saved;
  }

  private async saveAccount(
    tx: Tx,
    source: Source,
    person: DirectoryUser,
    known: KnownAccounts,
  ): Promise<AccountRow | null> {
    const account = known.accountOf(person);
    if (account) return this.repository.refreshAccount(tx, source, account, person);
    if (known.hasName(person.username)) return null;
    const added = await this.repository.addAccount(tx, source, person);
    if (added) return added;
    // A concurrent login of the same person may have inserted the account.
    const current = new KnownAccounts(source.directory, await this.repository.accountsOf(tx, source, [person]));
    return current.accountOf(person);
  }

  private async saveGroups(tx: Tx, source: Source, groups: readonly DirectoryGroup[]): Promise<DirectoryGroupRow[]> {
    const objectIds = groups.map(({ objectId }) => objectId);
    const stored = await this.repository.groupsByObjectId(tx, source, objectIds);
    const byId = new Map(stored.map((group) => [group.group_object_id, group]));
    const saved: DirectoryGroupRow[] = [];
    // Insert in a fixed order, or two logins with the same new groups could deadlock.
    for (const group of groups.toSorted((a, b) => (a.objectId < b.objectId ? -1 : 1))) {
      const known = byId.get(group.objectId);
      saved.push(
        known ? await this.repository.refreshGroup(tx, source, known, group) : await this.addGroup(tx, source, group),
      );
    }
    return saved;
  }

  private async addGroup(tx: Tx, source: Source, group: DirectoryGroup): Promise<DirectoryGroupRow> {
    for (const name of [group.name, group.qualifiedName, group.objectId]) {
      const added = await this.repository.addGroup(tx, source, group, name);
      if (added) return added;
      // Either a concurrent login inserted this group, or another group uses the name.
      const [stored] = await this.repository.groupsByObjectId(tx, source, [group.objectId]);
      if (stored) return stored;
    }
    throw new Error(`The group ${group.qualifiedName} cannot be stored: its names are all used by other groups`);
  }
}

/** Looks up the account that belongs to a directory user. */
class KnownAccounts {
  private readonly byExternalId = new Map<string, AccountRow>();
  private readonly byName: Map<string, AccountRow>;

  constructor(
    private readonly directory: string,
    accounts: readonly AccountRow[],
  ) {
    this.byName = new Map(accounts.map((account) => [account.username, account]));
    for (const account of accounts) {
      if (account.directory === directory && account.external_id !== null) {
        this.byExternalId.set(account.external_id, account);
      }
    }
  }

  accountOf({ externalId, username }: DirectoryUser): AccountRow | null {
    if (externalId !== null) return this.byExternalId.get(externalId) ?? null;
    const namesake = this.byName.get(username.toLowerCase());
    return namesake?.directory === this.directory ? namesake : null;
  }

  hasName(username: string): boolean {
    return this.byName.has(username.toLowerCase());
  }
}
