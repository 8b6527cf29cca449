import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { AuditColumns, Col, CURRENT, PartOfNameIndex } from '../../../platform/persistence/columns';
import { Tenant } from './tenant.entity';

@Entity('groups')
@Index('uq_groups_name', ['directory', 'groupName'], { unique: true, where: CURRENT })
@Index('uq_groups_object_id', ['directory', 'groupObjectId'], {
  unique: true,
  where: `${CURRENT} AND group_object_id IS NOT NULL`,
})
@PartOfNameIndex('ix_groups_name_part', 'groupName', { where: CURRENT })
@Index('ix_groups_owner', ['ownerTenantId'], { where: 'owner_tenant_id IS NOT NULL' })
export class Group extends AuditColumns {
  @Col.identity('group_id', 'pk_groups') groupId: string;
  @Col.text('group_name') groupName: string;
  @Col.text('group_mail', { nullable: true }) groupMail: string | null;
  /** Id in the directory that the group comes from. */
  @Col.text('group_object_id', { nullable: true }) groupObjectId: string | null;
  @Col.text('group_type', { nullable: true }) groupType: string | null;
  @Col.text('directory', { default: 'local' }) directory: string;
  /** The tenant whose ADMINs may change the group and who is in it; null for one of the platform. */
  @Col.uuid('owner_tenant_id', { nullable: true }) ownerTenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'owner_tenant_id', foreignKeyConstraintName: 'fk_groups_owner' })
  ownerTenant: Tenant | null;
}
