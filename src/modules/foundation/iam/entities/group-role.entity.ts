import { ForeignKey, Entity, Index } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../../platform/kernel/persistence/columns';
import { Group } from './group.entity';
import { RoleRecord } from './role.entity';
import { Tenant } from './tenant.entity';

/** A role that a group holds in a tenant, or platform-wide if `tenant_id` is null. */
@Entity('group_roles')
@Index('uq_group_roles_in_tenant', ['group_id', 'role_id', 'tenant_id'], {
  unique: true,
  where: `${CURRENT} AND tenant_id IS NOT NULL`,
})
@Index('uq_group_roles_everywhere', ['group_id', 'role_id'], {
  unique: true,
  where: `${CURRENT} AND tenant_id IS NULL`,
})
@Index('ix_group_roles_group', ['group_id'], { where: CURRENT })
@Index('ix_group_roles_tenant', ['tenant_id'])
export class GroupRole extends AuditColumns {
  @Col.identity('pk_group_roles') group_roles_id: number;
  @ForeignKey(() => Group, { name: 'fk_group_roles_group' })
  @Col.bigint()
  group_id: number;
  @ForeignKey(() => RoleRecord, { name: 'fk_group_roles_role' })
  @Col.int()
  role_id: number;
  @ForeignKey(() => Tenant, { name: 'fk_group_roles_tenant' })
  @Col.uuid({ nullable: true })
  tenant_id: string | null;
  /** The tenant whose ADMIN granted the role; null if the platform granted it. */
  @ForeignKey(() => Tenant, { name: 'fk_group_roles_granted_by' })
  @Col.uuid({ nullable: true })
  granted_by_tenant_id: string | null;
}
