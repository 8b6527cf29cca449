import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../platform/persistence/columns';
import { Group } from './group.entity';
import { Tenant } from './tenant.entity';
import { User } from './user.entity';

/** Membership of a user in a group. */
@Entity('group_users')
@Index('uq_group_users_member', ['groupId', 'userId'], { unique: true, where: CURRENT })
@Index('ix_group_users_user', ['userId'])
export class GroupUser extends AuditColumns {
  @Col.identity('group_user_id', 'pk_group_users') groupUserId: string;
  @Col.bigint('group_id') groupId: string;
  @ManyToOne(() => Group)
  @JoinColumn({ name: 'group_id', foreignKeyConstraintName: 'fk_group_users_group' })
  group: Group;
  @Col.bigint('user_id') userId: string;
  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'fk_group_users_user' })
  user: User;
  /** The tenant whose ADMIN made the user a member; null where the platform or an outside directory did. */
  @Col.uuid('granted_by_tenant_id', { nullable: true }) grantedByTenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'granted_by_tenant_id', foreignKeyConstraintName: 'fk_group_users_granted_by' })
  grantedByTenant: Tenant | null;
}
