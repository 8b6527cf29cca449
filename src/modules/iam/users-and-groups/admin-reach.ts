import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../platform/auth/principal';
import { forbidden } from '../../../platform/errors/domain-error';
import type { Tx } from '../../../platform/persistence/sql';
import { WorkspaceUsageService } from '../../workspace-usage/workspace-usage.service';
import { GroupsRepository } from './groups.repository';
import { UsersRepository } from './users.repository';

/**
 * Which accounts and groups an administrator may change: PLATFORM ADMIN all, ADMIN those that count in no other tenant
 * than the selected one and nowhere platform-wide. Whoever sets a password or a membership could use it elsewhere.
 */
@Injectable()
export class AdminReach {
  constructor(
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
    private readonly workspaces: WorkspaceUsageService,
  ) {}

  /** Throws a 403 when the account holds a role outside the caller's tenant. */
  async assertUser(tx: Tx, caller: Principal, userId: number): Promise<void> {
    if (caller.roles.has('PLATFORM ADMIN')) return;
    const tenantId = tenantOf(caller);
    if (await this.users.holdBeyond(tx, [userId], tenantId)) {
      throw outOfReach('The account holds a platform-wide role or a role in another tenant.');
    }
  }

  /** Throws a 403 when a group holds a role, or a permission on a workspace, outside the caller's tenant. */
  async assertGroups(tx: Tx, caller: Principal, groupIds: readonly number[]): Promise<void> {
    if (caller.roles.has('PLATFORM ADMIN')) return;
    const tenantId = tenantOf(caller);
    const beyond =
      (await this.groups.holdBeyond(tx, groupIds, tenantId)) ||
      (await this.workspaces.reachBeyond(tx, groupIds, tenantId));
    if (beyond) throw outOfReach('The group holds a platform-wide role, or a role or permission in another tenant.');
  }
}

/** An ADMIN is one in the selected tenant. */
function tenantOf(caller: Principal): string {
  if (caller.tenantId === null) throw new Error('An ADMIN without a selected tenant was admitted');
  return caller.tenantId;
}

function outOfReach(reason: string): Error {
  return forbidden('AUTH.PLATFORM_ADMIN_REQUIRED', `${reason} Only a PLATFORM ADMIN may change it.`);
}
