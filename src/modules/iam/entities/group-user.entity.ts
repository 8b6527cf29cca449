import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../platform/persistence/columns';
import { Group } from './group.entity';
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
}
