import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../platform/persistence/columns';

/** Key that seals a tenant's secrets, itself wrapped by a master key. */
@Entity('tenant_data_keys')
export class TenantDataKey {
  @PrimaryColumn({ name: 'tenant_id', type: 'uuid', primaryKeyConstraintName: 'pk_tenant_data_keys' }) tenantId: string;
  @Col.bytes('wrapped_key') wrappedKey: Buffer;
  /** Master key that wraps it; a rotation looks for the others. */
  @Col.text('master_key_id') masterKeyId: string;
  @Col.time('created_at', { default: () => 'now()' }) createdAt: Date;
}
