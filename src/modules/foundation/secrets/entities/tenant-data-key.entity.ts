import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** Key that seals a tenant's secrets, itself wrapped by a master key. */
@Entity('tenant_data_keys')
export class TenantDataKey {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_tenant_data_keys' }) tenant_id: string;
  @Col.bytes() wrapped_key: Buffer;
  /** Master key that wraps it; a rotation looks for the others. */
  @Col.text() master_key_id: string;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
