import { Entity, Index } from 'typeorm';
import { AuditColumns, Col, CURRENT, PartOfNameIndex } from '../../../platform/persistence/columns';

@Entity('groups')
@Index('uq_groups_name', ['directory', 'groupName'], { unique: true, where: CURRENT })
@Index('uq_groups_object_id', ['directory', 'groupObjectId'], {
  unique: true,
  where: `${CURRENT} AND group_object_id IS NOT NULL`,
})
@PartOfNameIndex('ix_groups_name_part', 'groupName', { where: CURRENT })
export class Group extends AuditColumns {
  @Col.identity('group_id', 'pk_groups') groupId: string;
  @Col.text('group_name') groupName: string;
  @Col.text('group_mail', { nullable: true }) groupMail: string | null;
  /** Id in the directory that the group comes from. */
  @Col.text('group_object_id', { nullable: true }) groupObjectId: string | null;
  @Col.text('group_type', { nullable: true }) groupType: string | null;
  @Col.text('directory', { default: 'local' }) directory: string;
}
