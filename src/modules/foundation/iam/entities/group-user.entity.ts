import { ForeignKey, Entity, Index } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../../platform/kernel/persistence/columns';
import { Group } from './group.entity';
import { Tenant } from './tenant.entity';
import { User } from './user.entity';

@Entity('group_users')
@Index('uq_group_users_member', ['group_id', 'user_id'], { unique: true, where: CURRENT })
@Index('ix_group_users_user', ['user_id'])
export class GroupUser extends AuditColumns {
  @Col.identity('pk_group_users') group_user_id: number;
  @ForeignKey(() => Group, { name: 'fk_group_users_group' })
  @Col.bigint()
  group_id: number;
  @ForeignKey(() => User, { name: 'fk_group_users_user' })
  @Col.bigint()
  user_id: number;
  /** The tenant whose ADMIN added the user; null if the platform or an external directory did. */
  @ForeignKey(() => Tenant, { name: 'fk_group_users_granted_by' })
  @Col.uuid({ nullable: true })
  granted_by_tenant_id: string | null;
}
