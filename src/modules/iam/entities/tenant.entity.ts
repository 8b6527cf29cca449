import { Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { AuditColumns, Col, CURRENT, PartOfNameIndex } from '../../../platform/persistence/columns';

@Entity('tenants')
@Index('uq_tenants_name', ['name'], { unique: true, where: CURRENT })
@PartOfNameIndex('ix_tenants_name_part', 'name', { where: CURRENT })
export class Tenant extends AuditColumns {
  @PrimaryGeneratedColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'pk_tenants' }) tenantId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
}
