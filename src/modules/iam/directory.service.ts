import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/auth/roles';
import type { Tx } from '../../platform/persistence/sql';
import { DirectoryRepository } from './directory.repository';

/** What other domains ask about users. */
@Injectable()
export class DirectoryService {
  constructor(private readonly directory: DirectoryRepository) {}

  /** Roles of the user in the tenant, directly or through groups, and those held everywhere. */
  async rolesOf(tx: Tx, userId: number, tenantId: string): Promise<ReadonlySet<Role>> {
    return new Set((await this.directory.rolesOf(userId, tenantId, tx)).map(({ role }) => role));
  }

  async groupIdsOf(tx: Tx, userId: number): Promise<number[]> {
    return (await this.directory.groupsOf(userId, tx)).map(({ group_id }) => group_id);
  }
}
