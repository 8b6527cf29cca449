import { Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { AuditColumns, Col, CURRENT, PartOfNameIndex } from '../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../platform/http/resources/record-kind';

@Entity('tenants')
@Index('uq_tenants_name', ['name'], { unique: true, where: CURRENT })
@PartOfNameIndex('ix_tenants_name_part', 'name', { where: CURRENT })
@RecordKind({ code: 'TENANT', label: 'tenant' })
export class Tenant extends AuditColumns {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_tenants' }) tenant_id: string;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
}
