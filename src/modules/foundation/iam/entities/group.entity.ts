import { ForeignKey, Entity, Index } from 'typeorm';
import { AuditColumns, Col, CURRENT, PartOfNameIndex } from '../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../platform/http/resources/record-kind';
import { Tenant } from './tenant.entity';

@Entity('groups')
@Index('uq_groups_name', ['directory', 'group_name'], { unique: true, where: CURRENT })
@Index('uq_groups_object_id', ['directory', 'group_object_id'], {
  unique: true,
  where: `${CURRENT} AND group_object_id IS NOT NULL`,
})
@PartOfNameIndex('ix_groups_name_part', 'group_name', { where: CURRENT })
@Index('ix_groups_owner', ['owner_tenant_id'], { where: 'owner_tenant_id IS NOT NULL' })
@RecordKind({ code: 'GROUP', label: 'group' })
export class Group extends AuditColumns {
  @Col.identity('pk_groups') group_id: number;
  @Col.text() group_name: string;
  @Col.text({ nullable: true }) group_mail: string | null;
  /** The group's id in its external directory. */
  @Col.text({ nullable: true }) group_object_id: string | null;
  @Col.text({ nullable: true }) group_type: string | null;
  @Col.text({ default: 'local' }) directory: string;
  /** The tenant whose ADMINs may change the group and its members; null if the platform owns it. */
  @ForeignKey(() => Tenant, { name: 'fk_groups_owner' })
  @Col.uuid({ nullable: true })
  owner_tenant_id: string | null;
}
