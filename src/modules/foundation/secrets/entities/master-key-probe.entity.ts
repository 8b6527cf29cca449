import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** What a master key sealed when it was first seen, so that another key under the same id is recognized. */
@Entity('master_key_probes')
export class MasterKeyProbe {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_master_key_probes' }) master_key_id: string;
  @Col.bytes() sealed: Buffer;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
