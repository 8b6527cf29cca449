import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { firstRow, Params, rows } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import {
  msBetween,
  type PricedPeriod,
  startOf,
  type StayPosition,
  tenantStays,
  usageDays,
  type UsagePeriod,
} from '../billing';
import { PRICED, pricesOf, SUMS, type SumsRow } from './cost-sums.joins';

export interface IntervalsScope extends TenantScope {
  /** Null for all clusters of the tenant. */
  clusterIds: readonly number[] | null;
}

/** A stay within a period. Decimals are texts. */
export interface IntervalRow extends SumsRow {
  ledger_entry_id: number | null;
  node_state_id: number;
  cluster_id: number;
  cluster_name: string;
  node_id: number;
  machine_type: string;
  machine_price_ycu: string;
  is_spot: boolean;
  began_at: Date;
  ended_at: Date | null;
  starts: Date;
  ends: Date;
  /** Null if the stay has no price, or several. */
  unit_price: string | null;
}

const SINGLE_PRICE = `CASE WHEN count(*) = 1 THEN min(unit_price) END AS unit_price`;

/** Reads the intervals of the ledger of a tenant. */
@Injectable()
export class CostIntervalsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the stays in a period that follow the position, those that began last first. */
  async page(
    { tenantId, clusterIds }: IntervalsScope,
    period: UsagePeriod,
    prices: readonly PricedPeriod[],
    { limit, after }: { limit: number; after: StayPosition | null },
  ): Promise<IntervalRow[]> {
    const params = new Params();
    // Each price follows the one before, so a stay has one part for each price, and one before the first.
    return rows<IntervalRow>(
      this.dataSource.manager,
      `WITH ${pricesOf(prices, params)},
         spans AS (
           SELECT * FROM prices
           UNION ALL SELECT '-infinity', coalesce(min(priced_from), 'infinity'), NULL, NULL FROM prices),
         ${tenantStays({ tenantId, clusterIds, period, limit, after }, params)}
       SELECT s.*, priced.* FROM stays s CROSS JOIN LATERAL (
         SELECT ${SUMS}, ${SINGLE_PRICE}
         FROM (
           SELECT ms, ms * s.machine_price_ycu AS ycu_ms, unit_price, currency
           FROM spans CROSS JOIN LATERAL (
             SELECT ${msBetween(`greatest(s.starts, ${startOf('priced_from')})`, `least(s.ends, ${startOf('priced_until')})`)} AS ms) part
           WHERE ${startOf('priced_from')} < s.ends AND ${startOf('priced_until')} > s.starts) parts) priced
       ORDER BY s.began_at DESC, s.node_state_id DESC`,
      params.values,
    );
  }

  /** Returns the sum of all stays in a period, from their sums by day. */
  async total(
    { tenantId, clusterIds }: IntervalsScope,
    period: UsagePeriod,
    prices: readonly PricedPeriod[],
  ): Promise<SumsRow> {
    const params = new Params();
    const clusters = clusterIds ? ` AND t.cluster_id = ANY(${params.add(clusterIds)}::bigint[])` : '';
    const days = usageDays(`${ofTenant('t', params.add(tenantId))}${clusters}`, period, params);
    const found = await firstRow<SumsRow>(
      this.dataSource.manager,
      `WITH ${pricesOf(prices, params)}, ${days}
       SELECT ${SUMS} FROM (SELECT usage_date, running_ms AS ms, ycu_ms FROM days) t ${PRICED}`,
      params.values,
    );
    return found!;
  }
}
