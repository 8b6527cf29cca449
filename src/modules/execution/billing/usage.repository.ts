import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  Conditions,
  finds,
  firstRow,
  keyedAdvisoryLock,
  Params,
  returning,
  rows,
  type Tx,
} from '../../../platform/kernel/persistence/sql';
import type { BilledClusterRead, BilledDateRangeRead, BilledMachineTypeRead, BilledTenant } from './dto/billing.dto';
import { dayOf, HOUR, lastDayOf, rounded, SIX_DECIMALS, startOf } from './sums.joins';
import type { UsageDay } from './entities/usage-day.entity';
import {
  GROUP,
  KEY,
  LATEST_NAMES,
  NAMES,
  STALE,
  SUMS,
  sumsOfLedger,
  usageDays,
  type UsagePeriod,
} from './usage-days.joins';

/** Advisory lock of a cluster whose sums are being renewed. */
const SUM_LOCK = 7_203_107;

const SECONDS = (ms: string) => `div(2 * ${ms}::numeric + 1000, 2000)::bigint`;

/** Criteria of usage. Absent ones do not filter. */
export interface UsageFilter {
  tenantIds?: readonly string[];
  cloudProviders?: readonly string[];
  clusterIds?: readonly number[];
  machineTypeIds?: readonly number[];
  /** Pairs that the labels must have, as the text of a JSON object. */
  labels?: string;
}

/** A price of compute units until the day on which the next one replaces it; infinity for the last one. */
export interface PricedPeriod {
  from: string;
  until: string;
  price: string;
  currency: string;
  /** Decimals of the amount. */
  decimals: number;
}

export interface UsageLine {
  usage_date: string;
  tenant_id: string;
  tenant_name: string;
  cluster_id: number;
  cluster_name: string;
  cloud_provider: string;
  machine_type_id: number;
  machine_type: string;
  labels: Record<string, string>;
  node_count: number;
  running_seconds: number;
  ycu: string;
}

/** The form of a line: the text of a JSON object, in which numbers are exact, or columns. */
export type LineForm = 'json' | 'columns';

/** Daily sums of the ledger. They are stored for settled days, and computed on reading for the others. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the moment until which open intervals count now. */
  async now(): Promise<Date> {
    const row = await firstRow<{ at: Date }>(
      this.dataSource.manager,
      `SELECT date_trunc('milliseconds', platform_clock()) AS at`,
    );
    return row?.at ?? new Date();
  }

  /** Returns one line per day, tenant, cluster, machine type and labels, in this order. */
  async usage(filter: UsageFilter, period: UsagePeriod, form: LineForm): Promise<unknown[]> {
    const { condition, params } = conditionOf(filter);
    const days = usageDays(condition, period, params);
    return this.lines(
      `WITH ${days}
       SELECT usage_date, tenant_id, tenant_name, cluster_id, cluster_name, cloud_provider, machine_type_id, machine_type,
         labels, node_count, ${SECONDS('running_ms')} AS running_seconds, ${rounded('ycu_ms', HOUR, SIX_DECIMALS)} AS ycu
       FROM days ORDER BY ${KEY}`,
      params,
      form,
    );
  }

  /** Returns one line per tenant, cluster, machine type, labels and price in the month of the period. */
  async invoice(
    filter: UsageFilter,
    period: UsagePeriod,
    prices: readonly PricedPeriod[],
    form: LineForm,
  ): Promise<unknown[]> {
    const { condition, params } = conditionOf(filter);
    const days = usageDays(condition, period, params);
    const column = (value: (price: PricedPeriod) => string) => params.add(prices.map(value));
    const powers = column(({ decimals }) => `1${'0'.repeat(decimals)}`);
    const units = column(({ decimals }) => (decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`));
    return this.lines(
      `WITH ${days},
       prices AS (SELECT * FROM unnest(${column(({ from }) => from)}::date[], ${column(({ until }) => until)}::date[],
         ${column(({ price }) => price)}::numeric[], ${column(({ currency }) => currency)}::text[], ${powers}::numeric[],
         ${units}::numeric[]) AS p (from_date, until_date, unit_price, currency, power, unit)),
       sold AS (
         SELECT ${GROUP}, unit_price, currency, power, unit, max(node_count) AS node_count, sum(running_ms) AS running_ms,
           sum(ycu_ms) AS ycu_ms, ${LATEST_NAMES}
         FROM days JOIN prices ON usage_date >= from_date AND usage_date < until_date
         GROUP BY ${GROUP}, unit_price, currency, power, unit)
       SELECT date_trunc('month', ${params.add(period.from)}::date::timestamp)::date AS month_year, tenant_id, tenant_name,
         cluster_id, cluster_name, cloud_provider, machine_type_id, machine_type, labels, node_count,
         ${SECONDS('running_ms')} AS running_seconds, ${rounded('ycu_ms', HOUR, SIX_DECIMALS)} AS ycu,
         trim_scale(unit_price) AS unit_price,
         ${rounded('ycu_ms * unit_price', HOUR, { power: 'power', unit: 'unit' })} AS amount, currency
       FROM sold ORDER BY ${GROUP}, currency, unit_price`,
      params,
      form,
    );
  }

  /** Returns the first day of the period with usage; null if there is none. */
  async firstDay(filter: UsageFilter, period: UsagePeriod): Promise<string | null> {
    const { condition, params } = conditionOf(filter);
    const days = usageDays(condition, period, params);
    const sql = `WITH ${days} SELECT min(usage_date) AS day FROM days`;
    return (await firstRow<{ day: string | null }>(this.dataSource.manager, sql, params.values))?.day ?? null;
  }

  async tenants(filter: UsageFilter, since: string): Promise<BilledTenant[]> {
    return this.queryGroups(
      filter,
      since,
      `SELECT tenant_id, b.name, t.description
       FROM (SELECT DISTINCT ON (tenant_id) tenant_id, tenant_name AS name FROM billed ORDER BY tenant_id, named_at DESC) b
         LEFT JOIN tenants t USING (tenant_id) ORDER BY b.name, tenant_id`,
    );
  }

  async clusters(filter: UsageFilter, since: string): Promise<BilledClusterRead[]> {
    return this.queryGroups(
      filter,
      since,
      `SELECT DISTINCT ON (cluster_id) cluster_id, cluster_name AS name, tenant_id, cloud_provider
       FROM billed ORDER BY cluster_id, named_at DESC`,
    );
  }

  async machineTypes(filter: UsageFilter, since: string): Promise<BilledMachineTypeRead[]> {
    return this.queryGroups(
      filter,
      since,
      `SELECT DISTINCT ON (machine_type_id) machine_type_id, machine_type AS name, cloud_provider
       FROM billed ORDER BY machine_type_id, named_at DESC`,
    );
  }

  async labels(filter: UsageFilter, since: string): Promise<Record<string, string[]>> {
    const found = await this.queryGroups<{ key: string; used: string[] }>(
      filter,
      since,
      `SELECT key, array_agg(DISTINCT value ORDER BY value) AS used FROM billed CROSS JOIN LATERAL jsonb_each_text(labels)
       GROUP BY key ORDER BY key`,
    );
    return Object.fromEntries(found.map(({ key, used }) => [key, used]));
  }

  /** Returns the first and last day with usage; null if there is none. */
  async dateRange(filter: UsageFilter, since: string): Promise<BilledDateRangeRead | null> {
    const [range] = await this.queryGroups<BilledDateRangeRead>(
      filter,
      since,
      'SELECT min(first_date) AS start_date, max(last_date) AS end_date FROM billed HAVING count(*) > 0',
    );
    return range ?? null;
  }

  /** A condition that is true if {@link staleClusters} would return a cluster. */
  readonly hasStale = (): string => finds('SELECT cluster_id FROM stale_usage');

  async staleClusters(limit: number): Promise<number[]> {
    const stale = await rows<{ cluster_id: number }>(
      this.dataSource.manager,
      `SELECT DISTINCT cluster_id FROM stale_usage LIMIT ${limit}`,
    );
    return stale.map(({ cluster_id }) => cluster_id);
  }

  /**
   * Renews the sums of a cluster from the first stale day on. An entry that is added meanwhile leaves a mark that this
   * transaction does not see, and so does not remove.
   */
  async renew(tx: Tx, clusterId: number): Promise<void> {
    await keyedAdvisoryLock(tx, SUM_LOCK, String(clusterId));
    const marks = await returning<{ from_date: string }>(
      tx,
      'DELETE FROM stale_usage WHERE cluster_id = $1 RETURNING from_date',
      [clusterId],
    );
    const [first] = marks.map(({ from_date }) => from_date).sort();
    if (first === undefined) return;
    await tx.query('DELETE FROM usage_days WHERE cluster_id = $1 AND usage_date >= $2', [clusterId, first]);
    await tx.query(
      `WITH scope AS (SELECT $1::bigint AS cluster_id, $2::date AS from_date), ${sumsOfLedger(`DATE '9999-12-31'`)}
       INSERT INTO usage_days (${KEY}, ${NAMES}, ${SUMS}) SELECT ${KEY}, ${NAMES}, ${SUMS} FROM fresh`,
      [clusterId, first],
    );
    await tx.query('DELETE FROM usage_groups WHERE cluster_id = $1', [clusterId]);
    await tx.query(
      `INSERT INTO usage_groups (${GROUP}, ${NAMES}, first_date, last_date)
       SELECT ${GROUP}, ${LATEST_NAMES}, min(usage_date), max(usage_date) FROM usage_days
       WHERE cluster_id = $1 GROUP BY ${GROUP}`,
      [clusterId],
    );
  }

  async markStale(tx: Tx, clusterId: number): Promise<void> {
    await tx.query(`INSERT INTO stale_usage (cluster_id, from_date) VALUES ($1, '0001-01-01')`, [clusterId]);
  }

  /** Returns how many sums of the cluster differ from the ledger, except for sums that are known to be stale. */
  async wrongSums(clusterId: number): Promise<number> {
    const columns = `${KEY}, ${NAMES}, ${SUMS}`;
    const found = await firstRow<{ wrong: number }>(
      this.dataSource.manager,
      `WITH scope AS (SELECT $1::bigint AS cluster_id, DATE '0001-01-01' AS from_date), ${sumsOfLedger(`DATE '9999-12-31'`)},
         kept AS (SELECT ${columns} FROM usage_days WHERE cluster_id = $1),
         stale AS (SELECT min(from_date) AS from_date FROM stale_usage WHERE cluster_id = $1)
       SELECT count(*) AS wrong FROM (
         (SELECT ${columns} FROM fresh EXCEPT SELECT ${columns} FROM kept)
         UNION ALL (SELECT ${columns} FROM kept EXCEPT SELECT ${columns} FROM fresh)) d, stale
       WHERE stale.from_date IS NULL OR d.usage_date < stale.from_date`,
      [clusterId],
    );
    return found?.wrong ?? 0;
  }

  private async lines(sql: string, params: Params, form: LineForm): Promise<unknown[]> {
    if (form === 'columns') return rows(this.dataSource.manager, sql, params.values);
    const asText = `SELECT row_to_json(line)::text AS text FROM (${sql}) AS line`;
    return (await rows<{ text: string }>(this.dataSource.manager, asText, params.values)).map(({ text }) => text);
  }

  /** Selects from `billed`, the usage since the day by tenant, cluster, machine type and labels. */
  private async queryGroups<T>(filter: UsageFilter, since: string, select: string): Promise<T[]> {
    const { condition, params } = conditionOf(filter);
    const first = `${params.add(since)}::date`;
    const now = `${params.add(await this.now())}::timestamptz`;
    const sql = `WITH ${STALE},
      scope AS (SELECT cluster_id, greatest(from_date, ${first}) AS from_date FROM stale),
      ${sumsOfLedger(`DATE '9999-12-31'`)},
      unsettled AS (
        SELECT ${KEY}, ${NAMES} FROM usage_days t JOIN stale USING (cluster_id)
        WHERE t.usage_date >= ${first} AND t.usage_date < stale.from_date AND ${condition}
        UNION ALL SELECT ${KEY}, ${NAMES} FROM fresh t WHERE ${condition}),
      billed AS (
        SELECT ${GROUP}, ${NAMES}, last_date, CASE WHEN first_date >= ${first} THEN first_date ELSE
          (SELECT min(d.usage_date) FROM usage_days d WHERE d.cluster_id = t.cluster_id AND d.usage_date >= ${first}
             AND d.machine_type_id = t.machine_type_id AND d.labels_key = t.labels_key) END AS first_date
        FROM usage_groups t WHERE last_date >= ${first} AND ${condition}
          AND NOT EXISTS (SELECT 1 FROM stale WHERE stale.cluster_id = t.cluster_id)
        UNION ALL
        SELECT ${GROUP}, ${LATEST_NAMES}, max(usage_date), min(usage_date) FROM unsettled GROUP BY ${GROUP}
        UNION ALL
        SELECT ${GROUP}, ${NAMES.replace('named_at', 't.began_at')}, ${lastDayOf(now)},
          greatest(${dayOf('t.began_at')}, ${first})
        FROM ledger_open_intervals t WHERE t.began_at < ${now} AND ${now} > ${startOf(first)} AND ${condition})
      ${select}`;
    return rows<T>(this.dataSource.manager, sql, params.values);
  }
}

/** Returns the filter as a condition on a table with the alias `t`. */
function conditionOf(filter: UsageFilter): { condition: string; params: Params } {
  const { tenantIds, cloudProviders, clusterIds, machineTypeIds, labels } = filter;
  const conditions = new Conditions<UsageDay>()
    .only('tenant_id', tenantIds)
    .only('cloud_provider', cloudProviders)
    .only('cluster_id', clusterIds)
    // Ids may exceed the range of the column. Such machine types do not exist.
    .addIf(machineTypeIds !== undefined, 't.machine_type_id = ANY(?::bigint[])', machineTypeIds)
    .addIf(labels !== undefined, 't.labels @> ?::jsonb', labels);
  const params = new Params();
  params.addAll(conditions.params);
  return { condition: conditions.sql, params };
}
