import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { notify } from '../../../../platform/kernel/notifications/pg-listener';
import { LockoutProtection } from '../roles/lockout-protection';
import { SessionsRepository, sessionsOf } from '../sessions/sessions.repository';
import { groupRead, userRead } from '../users-and-groups/directory-responses';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import type { GroupRead, UserRead } from '../users-and-groups/dto/directory.dto';
import { partyOf } from '../users-and-groups/passwords';
import { ExternalAccounts } from './external-accounts';
import { type DirectoryGroupRow, ExternalAccountsRepository, type Source } from './external-accounts.repository';
import { LoginDirectory } from './login-directory';
import { type Tx } from '../../../../platform/kernel/persistence/sql';

/** Refreshes accounts and groups from the LDAP server. With another directory it returns the stored records. */
@Injectable()
export class DirectorySyncService {
  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly directory: DirectoryRepository,
    private readonly repository: ExternalAccountsRepository,
    private readonly accounts: ExternalAccounts,
    private readonly loginDirectory: LoginDirectory,
    private readonly lockout: LockoutProtection,
    private readonly sessions: SessionsRepository,
  ) {}

  /** If the directory no longer has the user, its account is disabled and its sessions and tokens end. */
  async syncUser(principal: Principal, username: string): Promise<UserRead> {
    const stored = await this.directory.userByName(username);
    if (this.config.auth.directory !== 'ldap' || stored?.directory === 'local') {
      if (!stored) throw notFound('USER.NOT_FOUND', `There is no user named ${username}.`);
      return userRead(stored);
    }
    const source = this.sourceFor(principal);
    const person = await this.loginDirectory.findUser(partyOf(principal), username);
    if (person) return userRead(await this.change((tx) => this.accounts.save(tx, source, person)));
    const disabled =
      stored !== null &&
      (await this.change(async (tx) => {
        const userId = await this.repository.disable(tx, source, username);
        if (userId === null) return false;
        await this.sessions.endAllForUser(tx, userId);
        await notify(tx, 'session', sessionsOf(userId));
        return true;
      }));
    const consequence = disabled ? ' The account here is disabled.' : '';
    throw notFound('USER.NOT_FOUND', `The directory has no user named ${username}.${consequence}`);
  }

  /** If the directory no longer has the group, its members are removed. Its roles stay in case the group returns. */
  async syncGroup(principal: Principal, groupName: string): Promise<GroupRead> {
    const source = this.sourceFor(principal);
    if (source.directory !== 'ldap') return groupRead(await this.storedGroup(groupName));
    const found = await this.loginDirectory.findGroup(partyOf(principal), groupName);
    if (found) return groupRead(await this.change((tx) => this.accounts.saveGroup(tx, source, found)));
    const isEmptied = await this.change(async (tx) => {
      const gone = await this.repository.currentGroups(tx, source.directory, groupName);
      for (const { group_id } of gone) await this.repository.setMembersOf(tx, source, group_id, []);
      return gone.length > 0;
    });
    const consequence = isEmptied ? ' The group here has no members any more.' : '';
    throw notFound('GROUP.NOT_FOUND', `The directory has no group named ${groupName}.${consequence}`);
  }

  private async storedGroup(name: string): Promise<DirectoryGroupRow> {
    const { directory } = this.config.auth;
    const [group] = await this.transactions.read((tx) => this.repository.currentGroups(tx, directory, name));
    if (!group) throw notFound('GROUP.NOT_FOUND', `There is no group named ${name}.`);
    return group;
  }

  /** Memberships follow the directory, except that a sync must not remove the last PLATFORM ADMIN. */
  private change<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.transactions.run((tx) => this.lockout.keepPlatformAdmin(tx, () => fn(tx)));
  }

  private sourceFor(principal: Principal): Source {
    return { directory: this.config.auth.directory, actorId: principal.userId };
  }
}
