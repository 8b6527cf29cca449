import { Entity, Index } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_blocked_offers' };

/**
 * An offer without capacity: machines of a type and market in a zone, as the provider reported for one tenant's
 * credentials. It refers to no record of its tenant, because it must not keep any from being deleted.
 */
@Entity('blocked_offers')
@Index('ix_blocked_offers_until', ['blocked_until'])
export class BlockedOffer {
  @Col.uuid(PRIMARY) tenant_id: string;
  @Col.bigint(PRIMARY) credentials_conf_id: number;
  @Col.text(PRIMARY) region: string;
  /** Empty for the whole region. */
  @Col.text(PRIMARY) zone: string;
  @Col.int(PRIMARY) machine_type_id: number;
  @Col.bool(PRIMARY) is_spot: boolean;
  @Col.time() blocked_until: Date;
}
