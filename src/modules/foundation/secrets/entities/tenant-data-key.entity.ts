import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** The key that seals a tenant's secrets, wrapped by a master key. */
@Entity('tenant_data_keys')
export class TenantDataKey {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_tenant_data_keys' }) tenant_id: string;
  @Col.bytes() wrapped_key: Buffer;
  /** The wrapping master key. A rotation rewraps keys with another id. */
  @Col.text() master_key_id: string;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
