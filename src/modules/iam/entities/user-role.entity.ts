import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../platform/persistence/columns';
import { User } from './user.entity';
import { RoleRecord } from './role.entity';
import { Tenant } from './tenant.entity';

/** A role of a user in a tenant, or everywhere when no tenant is named. */
@Entity('user_roles')
@Index('uq_user_roles_in_tenant', ['userId', 'roleId', 'tenantId'], {
  unique: true,
  where: `${CURRENT} AND tenant_id IS NOT NULL`,
})
@Index('uq_user_roles_everywhere', ['userId', 'roleId'], { unique: true, where: `${CURRENT} AND tenant_id IS NULL` })
@Index('ix_user_roles_user', ['userId'], { where: CURRENT })
@Index('ix_user_roles_tenant', ['tenantId'])
export class UserRole extends AuditColumns {
  @Col.identity('user_roles_id', 'pk_user_roles') userRolesId: string;
  @Col.bigint('user_id') userId: string;
  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'fk_user_roles_user' })
  user: User;
  @Col.int('role_id') roleId: number;
  @ManyToOne(() => RoleRecord)
  @JoinColumn({ name: 'role_id', foreignKeyConstraintName: 'fk_user_roles_role' })
  role: RoleRecord;
  @Col.uuid('tenant_id', { nullable: true }) tenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'tenant_id', foreignKeyConstraintName: 'fk_user_roles_tenant' })
  tenant: Tenant | null;
  /** The tenant whose ADMIN gave it; null where the platform did. */
  @Col.uuid('granted_by_tenant_id', { nullable: true }) grantedByTenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'granted_by_tenant_id', foreignKeyConstraintName: 'fk_user_roles_granted_by' })
  grantedByTenant: Tenant | null;
}
