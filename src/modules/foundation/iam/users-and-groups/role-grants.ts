import { Injectable } from '@nestjs/common';
import { auditSubject } from '../../../../platform/http/audit/audited-request';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { Role } from '../../../../platform/kernel/auth/roles';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { RolesRepository } from '../roles/roles.repository';
import { actingTenant } from './admin-reach';
import { DirectoryRepository } from './directory.repository';
import { assertPlace, placeAtCreation, type RolePlace } from './role-place';

/** A role and the tenant it is held in; null is everywhere. */
export interface PlacedRole {
  roleId: number;
  role: Role;
  tenantId: string | null;
}

/** Which roles can be given or taken where. */
@Injectable()
export class RoleGrants {
  constructor(
    private readonly roles: RolesRepository,
    private readonly directory: DirectoryRepository,
  ) {}

  /** Throws unless role and place exist and fit; the tenant cannot be deleted before `tx` ends. */
  async placed(tx: Tx, roleId: number, place: RolePlace): Promise<PlacedRole> {
    const { role } = await this.roles.get(roleId, tx);
    return this.held(tx, roleId, role, place);
  }

  /**
   * The roles that are named in the call that creates who gets them; the audit log's row of the call names them, too. The
   * tenant that will own what is made cannot be deleted before `tx` ends, named or not.
   */
  async placedAtCreation(tx: Tx, caller: Principal, roleIds: readonly number[]): Promise<PlacedRole[]> {
    if (roleIds.length > 0) auditSubject('role_ids', roleIds.join(','));
    const owner = actingTenant(caller);
    if (owner !== null) await this.directory.holdTenant(tx, owner);
    const placed: PlacedRole[] = [];
    for (const roleId of roleIds) {
      const { role } = await this.roles.get(roleId, tx);
      placed.push(await this.held(tx, roleId, role, placeAtCreation(caller, role)));
    }
    return placed;
  }

  private async held(tx: Tx, roleId: number, role: Role, place: RolePlace): Promise<PlacedRole> {
    assertPlace(role, place);
    const { tenantId } = place;
    if (tenantId !== null) await this.directory.holdTenant(tx, tenantId);
    return { roleId, role, tenantId };
  }
}
