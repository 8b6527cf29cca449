import { Entity, Index } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_blocked_offers' };

/**
 * What a provider had none of just now: machines of a type and market in a zone, as one tenant's credentials were told. It
 * refers to no record of its tenant, since it must keep none from being deleted.
 */
@Entity('blocked_offers')
@Index('ix_blocked_offers_until', ['blocked_until'])
export class BlockedOffer {
  @Col.uuid(PRIMARY) tenant_id: string;
  @Col.bigint(PRIMARY) credentials_conf_id: number;
  @Col.text(PRIMARY) region: string;
  /** Empty for all of the region. */
  @Col.text(PRIMARY) zone: string;
  @Col.int(PRIMARY) machine_type_id: number;
  @Col.bool(PRIMARY) is_spot: boolean;
  @Col.time() blocked_until: Date;
}
