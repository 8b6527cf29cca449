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
 * Accounts and groups as an external directory has them. A person is known by the directory's id of it, or by the user
 * name where the directory gives none; nobody is given the account of somebody else for having its name.
 */
@Injectable()
export class ExternalAccounts {
  constructor(
    private readonly config: Config,
    private readonly repository: ExternalAccountsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Stores or refreshes the person with its groups; throws 403 when the user name is another account's. */
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

  /** The account of somebody who has logged in, up to date; null when it is disabled. */
  async admit(tx: Tx, person: DirectoryUser): Promise<AccountRow | null> {
    const account = await this.save(tx, { directory: this.config.auth.directory, actorId: null }, person);
    return account.to_date instanceof Date ? null : account;
  }

  /** Stores or refreshes the group and its members; whose user name is another account's is left out. */
  async saveGroup(tx: Tx, source: Source, found: DirectoryGroupWithMembers): Promise<DirectoryGroupRow> {
    const [group] = await this.saveGroups(tx, source, [found.group]);
    if (!group) throw new Error('A group was neither found nor stored');
    const accounts = await this.saveAccounts(tx, source, found.members);
    const userIds = accounts.flatMap((account) => (account === null ? [] : [account.user_id]));
    if (userIds.length < found.members.length) {
      const leftOut = found.members.length - userIds.length;
      this.logger.warn({ group: group.group_name, leftOut }, 'Members were left out: their user names are taken');
    }
    await this.repository.setMembersOf(tx, source, group.group_id, userIds);
    return group;
  }

  /** In the order of the people; null for whom the user name is taken. */
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
    const own = known.ownOf(person);
    if (own) return this.repository.refreshAccount(tx, source, own, person);
    if (known.hasName(person.username)) return null;
    const added = await this.repository.addAccount(tx, source, person);
    if (added) return added;
    // Another login of the same person may have been first.
    const again = new KnownAccounts(source.directory, await this.repository.accountsOf(tx, source, [person]));
    return again.ownOf(person);
  }

  private async saveGroups(tx: Tx, source: Source, groups: readonly DirectoryGroup[]): Promise<DirectoryGroupRow[]> {
    const objectIds = groups.map(({ objectId }) => objectId);
    const stored = await this.repository.groupsByObjectId(tx, source, objectIds);
    const byId = new Map(stored.map((group) => [group.group_object_id, group]));
    const saved: DirectoryGroupRow[] = [];
    // Always in the same order: two logins with new groups in common must not wait for each other.
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
      // Another login may have been first; else the name is that of another group.
      const [stored] = await this.repository.groupsByObjectId(tx, source, [group.objectId]);
      if (stored) return stored;
    }
    throw new Error(`No name of the group ${group.qualifiedName} is free`);
  }
}

/** Finds whose account is whose. */
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

  ownOf({ externalId, username }: DirectoryUser): AccountRow | null {
    if (externalId !== null) return this.byExternalId.get(externalId) ?? null;
    const namesake = this.byName.get(username.toLowerCase());
    return namesake?.directory === this.directory ? namesake : null;
  }

  hasName(username: string): boolean {
    return this.byName.has(username.toLowerCase());
  }
}
