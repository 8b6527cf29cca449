import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import { BillingService, type PricedPeriod, pricedPeriods } from '../billing';
import { assertCostPeriod } from './cost-period';
import { type CostPosition, decodeCostPosition, encodeCostPosition } from './cost-position';
import {
  type CostRow,
  type CostScope,
  CostReportsRepository,
  type Kind,
  type RunCostRow,
} from './cost-reports.repository';
import type { SumsRow, UnusedRow } from './cost-sums.joins';
import type { Cost } from './dto/cost.dto';
import type { CostLine, CostPart, CostQuery, CostReport, CostSubject, CostTotal } from './dto/cost-report.dto';
import { costOf, unusedOf } from './pricing';

const NOTHING: UnusedRow = {
  ...{ node_ms: 0, ycu: '0', unpriced: 0, priced: 0, currencies: 0, currency: null, amount: '0' },
  ...{ measured_ms: 0, unused_gib_hours: '0', unused_ycu: '0', unused_amount: '0' },
};

/** Reports what a tenant's runs and nodes cost, divided by days, workspaces, clusters, users or runs. */
@Injectable()
export class CostReportsService {
  private readonly prices: readonly PricedPeriod[];

  constructor(
    private readonly repository: CostReportsRepository,
    private readonly billing: BillingService,
    config: Config,
  ) {
    this.prices = pricedPeriods(config.billing.unitPrices);
  }

  async report(scope: CostScope, query: CostQuery): Promise<CostReport> {
    const { from, until, limit } = query;
    assertCostPeriod(from, until);
    const part = query.by as CostPart;
    const after = query.after === undefined ? null : decodeCostPosition(part, query.after);
    const at = await this.billing.now();
    const period = { from, until, at };
    const found = await this.page(scope, period, part, limit + 1, after);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return {
      data: page.map((row) => this.lineOf(part, row)),
      total: this.totalOf(await this.repository.total(scope, period, this.prices)),
      as_of: at,
      result_set: {
        limit,
        // The list is not counted: a first page says if there are more than its lines.
        total_objects: after ? null : page.length,
        total_is_lower_bound: !after && last !== undefined,
        next: last === undefined ? null : encodeCostPosition(part, last),
      },
    };
  }

  private page(
    scope: CostScope,
    period: { from: string; until: string; at: Date },
    part: CostPart,
    limit: number,
    after: CostPosition | null,
  ): Promise<(CostRow | RunCostRow)[]> {
    return part === 'run'
      ? this.repository.runs(scope, period, this.prices, { limit, after })
      : this.repository.lines(scope, period, this.prices, { part, limit, after });
  }

  private lineOf(part: CostPart, row: CostRow | RunCostRow): CostLine {
    const subject: CostSubject = { id: row.id, name: row.name };
    const user = part === 'user' && row.name !== null ? { user_id: row.id, username: row.name } : null;
    const parts = 'workspace' in row ? { workspace: row.workspace, cluster: row.cluster, user: row.user } : null;
    return {
      day: part === 'day' ? row.day : null,
      workspace: part === 'workspace' ? subject : null,
      cluster: part === 'cluster' ? subject : null,
      user,
      run: part === 'run' ? subject : null,
      ...parts,
      ...this.totalOf(row.kinds),
    };
  }

  private totalOf(kinds: Partial<Record<Kind, UnusedRow>>): CostTotal {
    const { runs = NOTHING, idle, nodes } = kinds;
    const cost = (sums: SumsRow | undefined): Cost | null => (sums ? costOf(sums, this.prices) : null);
    return {
      runs: costOf(runs, this.prices),
      unused_memory: runs.measured_ms > 0 ? unusedOf(runs, this.prices) : null,
      idle: cost(idle),
      nodes: cost(nodes),
    };
  }
}
