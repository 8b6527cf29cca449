import type { Params } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { COUNTS, endOf, startOf } from './sums.joins';
import type { UsagePeriod } from './usage-days.joins';

/** The stay after which a list continues. A stay keeps its position when it ends. */
export interface StayPosition {
  beganAt: Date;
  nodeStateId: number;
}

interface StaysOfTenant {
  tenantId: string;
  clusterIds: readonly number[] | null;
  period: UsagePeriod;
  limit: number;
  after: StayPosition | null;
}

const STAY = `ledger_entry_id, node_state_id, tenant_id, cluster_id, cluster_name, node_id, machine_type, machine_price_ycu, is_spot,
  began_at, ended_at`;
const NEWEST_FIRST = 'ORDER BY began_at DESC, node_state_id DESC';

/**
 * Returns common table expressions up to `stays`: the newest stays in RUNNING of a tenant in a period, at most `limit`, with the part
 * within the period from `starts` to `ends`. `ended_at` is null while a node runs.
 *
 * No page reads what is older or newer than its period. Stays that began in the period are read in order from an index, as many as
 * the page has. Those that began before it and last into it are the nodes that ran at its beginning, which an index of the times
 * finds whatever ran before and since; it knows no tenant, so the planner gets no other way to them.
 */
export function tenantStays({ tenantId, clusterIds, period, limit, after }: StaysOfTenant, params: Params): string {
  const tenant = params.add(tenantId);
  const clusters = clusterIds && `${params.add(clusterIds)}::bigint[]`;
  const first = startOf(`${params.add(period.from)}::date`);
  const last = endOf(`${params.add(period.until)}::date`);
  const now = `${params.add(period.at)}::timestamptz`;
  const position = after && `(${params.add(after.beganAt)}::timestamptz, ${params.add(after.nodeStateId)}::bigint)`;
  const conditions = (alias: string) =>
    [ofTenant(alias, tenant), position && `(${alias}.began_at, ${alias}.node_state_id) < ${position}`]
      .filter(Boolean)
      .join(' AND ');
  const ofClusters = (alias: string) => (clusters ? ` AND ${alias}.cluster_id = ANY(${clusters})` : '');
  const begun = (condition: string) => `SELECT ${STAY} FROM ledger_entries l
      WHERE ${conditions('l')}${condition} AND l.began_at >= ${first} AND l.began_at < ${last} AND l.began_at < l.ended_at AND ${COUNTS}
      ${NEWEST_FIRST} LIMIT ${limit}`;
  return `lasting AS MATERIALIZED (
      SELECT ${STAY} FROM ledger_entries l
      WHERE l.began_at < l.ended_at AND tstzrange(l.began_at, l.ended_at) @> (${first}) AND ${COUNTS}),
    begun AS (${
      clusters
        ? `SELECT b.* FROM unnest(${clusters}) AS chosen CROSS JOIN LATERAL (${begun(' AND l.cluster_id = chosen')}) b`
        : `(${begun('')})`
    }),
    stays AS (
      SELECT s.*, greatest(began_at, ${first}) AS starts, least(coalesce(ended_at, ${now}), ${last}) AS ends
      FROM (
        SELECT ${STAY} FROM begun
        UNION ALL
        SELECT ${STAY} FROM lasting t WHERE ${conditions('t')}${ofClusters('t')} AND t.began_at < ${first}
        UNION ALL
        SELECT ${STAY.replace('ledger_entry_id', 'NULL').replace('ended_at', 'NULL')} FROM ledger_open_intervals o
        WHERE ${conditions('o')}${ofClusters('o')} AND o.began_at < least(${now}, ${last}) AND ${now} > ${first}) s
      ${NEWEST_FIRST} LIMIT ${limit})`;
}
