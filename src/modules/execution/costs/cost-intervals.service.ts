import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { decodePosition, encodePosition } from '../../../platform/kernel/dto/keyset-page';
import { BillingService, type PricedPeriod, pricedPeriods, type StayPosition } from '../billing';
import { CostIntervalsRepository, type IntervalRow } from './cost-intervals.repository';
import { assertCostPeriod } from './cost-period';
import type { CostInterval, CostIntervals, CostIntervalsQuery } from './dto/cost-intervals.dto';
import { costOf } from './pricing';

/** The only order of the list, as its positions name it, with the moment until which the first page counts. */
const ORDER = '-running_since';

/** Lists the intervals of the ledger that add up to what the nodes of a tenant cost. */
@Injectable()
export class CostIntervalsService {
  private readonly prices: readonly PricedPeriod[];

  constructor(
    private readonly repository: CostIntervalsRepository,
    private readonly billing: BillingService,
    config: Config,
  ) {
    this.prices = pricedPeriods(config.billing.unitPrices);
  }

  async list(scope: TenantScope, query: CostIntervalsQuery): Promise<CostIntervals> {
    const { from, until, limit, cluster_ids: clusterIds = null } = query;
    assertCostPeriod(from, until);
    const after = query.after === undefined ? null : positionOf(query.after);
    const now = await this.billing.now();
    // Every page counts until the same moment, so that all of them add up to the total of the first.
    const at = after && after.at < now ? after.at : now;
    const [period, owned] = [
      { from, until, at },
      { ...scope, clusterIds },
    ];
    const found = await this.repository.page(owned, period, this.prices, { limit: limit + 1, after });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return {
      data: page.map((row) => this.intervalOf(row)),
      total: costOf(await this.repository.total(owned, period, this.prices), this.prices),
      as_of: at,
      result_set: {
        limit,
        // The list is not counted: a first page says if there are more than its intervals.
        total_objects: after ? null : page.length,
        total_is_lower_bound: !after && last !== undefined,
        next: last ? textOf(last, at) : null,
      },
    };
  }

  private intervalOf(row: IntervalRow): CostInterval {
    return {
      ledger_entry_id: row.ledger_entry_id,
      node_state_id: row.node_state_id,
      cluster_id: row.cluster_id,
      cluster_name: row.cluster_name,
      node_id: row.node_id,
      machine_type: row.machine_type,
      machine_price_ycu: Number(row.machine_price_ycu),
      is_spot: row.is_spot,
      running_since: row.began_at,
      running_until: row.ended_at,
      from_date: row.starts,
      to_date: row.ends,
      unit_price: row.unit_price === null ? null : Number(row.unit_price),
      cost: costOf(row, this.prices),
    };
  }
}

/** Positions are in microseconds; the ledger counts in milliseconds. */
function textOf({ began_at: beganAt, node_state_id: id }: IntervalRow, at: Date): string {
  return encodePosition(`${ORDER}@${at.getTime()}`, { key: beganAt.getTime() * 1_000, id });
}

function positionOf(text: string): StayPosition & { at: Date } {
  const [order = '', at] = /^-running_since@(\d{1,15})(?= )/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const { key, id } = decodePosition(order, text);
  return { beganAt: new Date(Math.floor(key / 1_000)), nodeStateId: id, at: new Date(Number(at)) };
}
