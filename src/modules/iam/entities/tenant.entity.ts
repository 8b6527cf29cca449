import { Entity, Index, PrimaryColumn } from 'typeorm';
import { AuditColumns, Col, CURRENT } from '../../../platform/persistence/columns';

@Entity('tenants')
@Index('uq_tenants_name', ['name'], { unique: true, where: CURRENT })
export class Tenant extends AuditColumns {
  @PrimaryColumn({
    name: 'tenant_id',
    type: 'uuid',
    default: () => 'gen_random_uuid()',
    primaryKeyConstraintName: 'pk_tenants',
  })
  tenantId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
}
