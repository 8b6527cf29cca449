import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { Retention } from '../../../../platform/background/workflows/retention';
import type { BlockedOffer } from '../model/entities/blocked-offer.entity';

/** A request for machines of a type in a region, with the credentials that it is made with. */
export type RegionOffer = Pick<
  BlockedOffer,
  'tenant_id' | 'credentials_conf_id' | 'region' | 'machine_type_id' | 'is_spot'
>;

/** More zones than any region has. */
const MAX_ZONES = 100;

/** Removes offers whose block has expired. An index serves the query. */
export const AGED_OFFERS: Retention = {
  name: 'blocked-offers',
  retentionDays: 0,
  rows: [
    {
      table: 'blocked_offers',
      key: '(tenant_id, credentials_conf_id, region, zone, machine_type_id, is_spot)',
      ended: `SELECT tenant_id, credentials_conf_id, region, zone, machine_type_id, is_spot FROM blocked_offers
            WHERE blocked_until < platform_now() - $1 * interval '1 day' ORDER BY blocked_until`,
    },
  ],
};

/** Offers for which providers had no capacity minutes ago. A block holds for the tenant whose request was refused only. */
@Injectable()
export class BlockedOffersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Blocks the offer in a zone, or in the whole region (null), for `forMs` milliseconds from now. */
  async block(tx: Tx, offer: RegionOffer, zone: string | null, forMs: number): Promise<void> {
    await tx.query(
      `INSERT INTO blocked_offers AS b
         (tenant_id, credentials_conf_id, region, zone, machine_type_id, is_spot, blocked_until)
       VALUES ($1, $2, $3, $4, $5, $6, platform_now() + $7 * interval '1 millisecond')
       ON CONFLICT ON CONSTRAINT pk_blocked_offers
         DO UPDATE SET blocked_until = greatest(b.blocked_until, excluded.blocked_until)`,
      [...keyOf(offer), zone ?? '', offer.machine_type_id, offer.is_spot, forMs],
    );
  }

  /** The zones in which the offer is blocked now; 'all' for the whole region. */
  async zones(offer: RegionOffer): Promise<ReadonlySet<string> | 'all'> {
    const found = await rows<Pick<BlockedOffer, 'zone'>>(
      this.dataSource.manager,
      `SELECT zone FROM blocked_offers b WHERE ${ofTenant('b', '$1')} AND credentials_conf_id = $2 AND region = $3
         AND machine_type_id = $4 AND is_spot = $5 AND blocked_until > platform_now() LIMIT ${MAX_ZONES}`,
      [...keyOf(offer), offer.machine_type_id, offer.is_spot],
    );
    const zones = new Set(found.map(({ zone }) => zone));
    return zones.has('') ? 'all' : zones;
  }
}

function keyOf({ tenant_id, credentials_conf_id, region }: RegionOffer) {
  return [tenant_id, credentials_conf_id, region];
}
