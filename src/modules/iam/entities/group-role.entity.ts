import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../platform/persistence/columns';
import { Group } from './group.entity';
import { RoleRecord } from './role.entity';
import { Tenant } from './tenant.entity';

/** A role of a group in a tenant, or everywhere when no tenant is named. */
@Entity('group_roles')
@Index('uq_group_roles_in_tenant', ['groupId', 'roleId', 'tenantId'], {
  unique: true,
  where: `${CURRENT} AND tenant_id IS NOT NULL`,
})
@Index('uq_group_roles_everywhere', ['groupId', 'roleId'], { unique: true, where: `${CURRENT} AND tenant_id IS NULL` })
@Index('ix_group_roles_group', ['groupId'], { where: CURRENT })
@Index('ix_group_roles_tenant', ['tenantId'])
export class GroupRole extends AuditColumns {
  @Col.identity('group_roles_id', 'pk_group_roles') groupRolesId: string;
  @Col.bigint('group_id') groupId: string;
  @ManyToOne(() => Group)
  @JoinColumn({ name: 'group_id', foreignKeyConstraintName: 'fk_group_roles_group' })
  group: Group;
  @Col.int('role_id') roleId: number;
  @ManyToOne(() => RoleRecord)
  @JoinColumn({ name: 'role_id', foreignKeyConstraintName: 'fk_group_roles_role' })
  role: RoleRecord;
  @Col.uuid('tenant_id', { nullable: true }) tenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'tenant_id', foreignKeyConstraintName: 'fk_group_roles_tenant' })
  tenant: Tenant | null;
  /** The tenant whose ADMIN gave it; null where the platform did. */
  @Col.uuid('granted_by_tenant_id', { nullable: true }) grantedByTenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'granted_by_tenant_id', foreignKeyConstraintName: 'fk_group_roles_granted_by' })
  grantedByTenant: Tenant | null;
}
