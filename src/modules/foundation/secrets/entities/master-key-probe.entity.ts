import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** A value sealed by a master key when it was first used. It reveals a different key under the same id. */
@Entity('master_key_probes')
export class MasterKeyProbe {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_master_key_probes' }) master_key_id: string;
  @Col.bytes() sealed: Buffer;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
