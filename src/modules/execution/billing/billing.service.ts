import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import { invalid, notFound } from '../../../platform/kernel/errors/domain-error';
import { csvLine } from '../../../platform/kernel/files/csv';
import { fieldShapes } from '../../../platform/kernel/dto/field-shapes';
import { addDays, daysBetween, monthOf, monthsBetween } from './calendar';
import { nextDays } from './chunks';
import {
  type BilledClusterRead,
  type BilledClustersQuery,
  type BilledDateRangeQuery,
  type BilledDateRangeRead,
  BilledInvoiceRead,
  type BilledInvoiceQuery,
  type BilledMachineTypeRead,
  type BilledPartsQuery,
  type BilledTenant,
  type BilledTenantsQuery,
  type BilledUsageQuery,
  BilledUsageRead,
} from './dto/billing.dto';
import { labelsFilter } from './labels-filter';
import { readAhead } from './read-ahead';
import { pricedPeriods } from './unit-prices';
import { type LineForm, type PricedPeriod, type UsageFilter, UsageRepository } from './usage.repository';

export type TableForm = 'json' | 'csv';

const FIRST_DAY = '0001-01-01';
/** Maximum length of a period: ten years, one more than most countries require for books. */
const MAX_DAYS = 3_660;

type LinesQuery = Pick<
  BilledUsageQuery,
  'tenant_ids' | 'cloud_providers' | 'cluster_ids' | 'machine_type_ids' | 'labels'
>;
type Line = Readonly<Record<string, string | number | Record<string, string>>>;

@Injectable()
export class BillingService {
  private readonly prices: readonly PricedPeriod[];

  constructor(
    private readonly repository: UsageRepository,
    config: Config,
  ) {
    this.prices = pricedPeriods(config.billing.unitPrices);
  }

  async tenants(query: BilledTenantsQuery): Promise<BilledTenant[]> {
    const since = this.since(query);
    return since === null ? [] : this.repository.tenants({}, since);
  }

  async dateRange(query: BilledDateRangeQuery): Promise<BilledDateRangeRead> {
    const since = this.since(query);
    const range = since === null ? null : await this.repository.dateRange(filterOf(query), since);
    if (!range) throw notFound('BILLING.NOTHING_BILLED', 'Nothing was billed for these tenants.');
    return range;
  }

  async clusters(query: BilledClustersQuery): Promise<BilledClusterRead[]> {
    const since = this.since(query);
    return since === null ? [] : this.repository.clusters(filterOf(query), since);
  }

  async machineTypes(query: BilledPartsQuery): Promise<BilledMachineTypeRead[]> {
    const since = this.since(query);
    return since === null ? [] : this.repository.machineTypes(filterOf(query), since);
  }

  async labels(query: BilledPartsQuery): Promise<Record<string, string[]>> {
    const since = this.since(query);
    return since === null ? {} : this.repository.labels(filterOf(query), since);
  }

  /** Returns a list of `BilledUsageRead` as text that is generated while it is sent. Errors are thrown before. */
  usage(query: BilledUsageQuery, form: TableForm): AsyncIterable<string> {
    const { start_date: from, end_date: until } = query;
    assertPeriod(from, until, ['start_date', 'end_date']);
    const filter = filterOf(query);
    return textOf(form, BilledUsageRead, this.usageLines(filter, from, until, lineForm(form)));
  }

  /** Returns a list of `BilledInvoiceRead` in the same way. */
  async invoice(query: BilledInvoiceQuery, form: TableForm): Promise<AsyncIterable<string>> {
    const from = monthOf(query.start_month_year);
    const until = addDays(monthOf(addDays(monthOf(query.end_month_year), 31)), -1);
    assertPeriod(from, until, ['start_month_year', 'end_month_year']);
    const filter = filterOf(query);
    await this.assertPriced(filter, from, until);
    return textOf(form, BilledInvoiceRead, this.invoiceLines(filter, from, until, lineForm(form)));
  }

  /** Returns the first day that can be billed; null if there is none. */
  private since({ billing }: BilledTenantsQuery): string | null {
    return billing === 'usage' ? FIRST_DAY : (this.prices[0]?.from ?? null);
  }

  /** Returns the moment until which running nodes count now. */
  now(): Promise<Date> {
    return this.repository.now();
  }

  /** Refuses a period with unpriced usage, because an invoice without it would be wrong, and nobody would notice. */
  private async assertPriced(filter: UsageFilter, from: string, until: string): Promise<void> {
    const [first] = this.prices;
    if (!first)
      throw invalid(
        'BILLING.NO_UNIT_PRICE',
        'No unit price is configured (BILLING_UNIT_PRICES), so nothing is invoiced.',
      );
    if (first.from <= from) return;
    const before = addDays(first.from, -1);
    const period = { from, until: before < until ? before : until, at: await this.repository.now() };
    const day = await this.repository.firstDay(filter, period);
    if (day === null) return;
    throw invalid(
      'BILLING.NO_UNIT_PRICE',
      `The first unit price applies from ${first.from}, but there is usage on ${day}. Request later months, or ask the operator for an earlier price (BILLING_UNIT_PRICES).`,
      { priced_from: first.from, used_on: day },
    );
  }

  /** Reads some days at a time, so that memory does not grow with the period. */
  private async *usageLines(
    filter: UsageFilter,
    from: string,
    until: string,
    form: LineForm,
  ): AsyncGenerator<unknown[], void> {
    const at = await this.repository.now();
    let days = 1;
    for (let day = from; day <= until;) {
      const end = addDays(day, days - 1);
      const last = end < until ? end : until;
      const lines = await this.repository.usage(filter, { from: day, until: last, at }, form);
      yield lines;
      days = nextDays(days, lines.length);
      day = addDays(last, 1);
    }
  }

  private async *invoiceLines(
    filter: UsageFilter,
    from: string,
    until: string,
    form: LineForm,
  ): AsyncGenerator<unknown[], void> {
    const at = await this.repository.now();
    for (const { first, last } of monthsBetween(from, until))
      yield await this.repository.invoice(filter, { from: first, until: last, at }, this.prices, form);
  }
}

function lineForm(form: TableForm): LineForm {
  return form === 'json' ? 'json' : 'columns';
}

function filterOf(query: LinesQuery): UsageFilter {
  return {
    tenantIds: query.tenant_ids,
    cloudProviders: query.cloud_providers,
    clusterIds: query.cluster_ids,
    machineTypeIds: query.machine_type_ids,
    labels: query.labels === undefined ? undefined : labelsFilter(query.labels),
  };
}

function assertPeriod(from: string, until: string, [start, end]: [string, string]): void {
  if (from > until) throw invalid('BILLING.INVALID_PERIOD', `"${start}" must not be after "${end}".`);
  if (daysBetween(from, until) > MAX_DAYS)
    throw invalid('BILLING.PERIOD_TOO_LONG', `"${start}" and "${end}" may be at most ten years apart.`, {
      max_days: MAX_DAYS,
    });
}

/** Formats the lines as a JSON list, or as CSV with a header line. */
async function* textOf(
  form: TableForm,
  type: new () => object,
  chunks: AsyncGenerator<unknown[], void>,
): AsyncGenerator<string> {
  const columns = [...fieldShapes(type).keys()];
  let before = form === 'json' ? '[' : csvLine(columns);
  for await (const lines of readAhead(chunks)) {
    if (lines.length === 0) continue;
    if (form === 'json') {
      yield before + lines.join(',');
      before = ',';
    } else {
      yield before + (lines as Line[]).map((line) => csvLine(columns.map((column) => cellOf(line[column])))).join('');
      before = '';
    }
  }
  if (form === 'csv') yield before;
  else yield before === '[' ? '[]' : ']';
}

/** Labels are formatted as JSON, which the filter accepts. */
function cellOf(value: Line[string] | undefined): string | number {
  if (value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
