import { ForeignKey, Entity, Index } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../../platform/kernel/persistence/columns';
import { User } from './user.entity';
import { RoleRecord } from './role.entity';
import { Tenant } from './tenant.entity';

/** A role that a user holds in a tenant, or platform-wide if `tenant_id` is null. */
@Entity('user_roles')
@Index('uq_user_roles_in_tenant', ['user_id', 'role_id', 'tenant_id'], {
  unique: true,
  where: `${CURRENT} AND tenant_id IS NOT NULL`,
})
@Index('uq_user_roles_everywhere', ['user_id', 'role_id'], { unique: true, where: `${CURRENT} AND tenant_id IS NULL` })
@Index('ix_user_roles_user', ['user_id'], { where: CURRENT })
@Index('ix_user_roles_tenant', ['tenant_id'])
export class UserRole extends AuditColumns {
  @Col.identity('pk_user_roles') user_roles_id: number;
  @ForeignKey(() => User, { name: 'fk_user_roles_user' })
  @Col.bigint()
  user_id: number;
  @ForeignKey(() => RoleRecord, { name: 'fk_user_roles_role' })
  @Col.int()
  role_id: number;
  @ForeignKey(() => Tenant, { name: 'fk_user_roles_tenant' })
  @Col.uuid({ nullable: true })
  tenant_id: string | null;
  /** The tenant whose ADMIN granted the role; null if the platform granted it. */
  @ForeignKey(() => Tenant, { name: 'fk_user_roles_granted_by' })
  @Col.uuid({ nullable: true })
  granted_by_tenant_id: string | null;
}
