/** Returns the day (UTC) of a moment, as SQL. */
export const dayOf = (moment: string) => `((${moment}) AT TIME ZONE 'UTC')::date`;
export const startOf = (day: string) => `(${day})::timestamp AT TIME ZONE 'UTC'`;
export const endOf = (day: string) => `((${day}) + 1)::timestamp AT TIME ZONE 'UTC'`;
/** Returns the last day of something that ends at this moment. */
export const lastDayOf = (end: string) => dayOf(`${end} - interval '1 microsecond'`);
export const msBetween = (from: string, to: string) => `(extract(epoch FROM ${to} - ${from}) * 1000)::bigint`;

/** Cuts a moment to milliseconds, in which the ledger counts. */
export const milliseconds = (time: string) => `date_trunc('milliseconds', ${time})`;

/** Condition that an entry `l` of the ledger counts: it is neither a reversal nor reversed. */
export const COUNTS = `l.kind <> 'reversal'
    AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.reverses_id = l.ledger_entry_id)`;

/** Columns of {@link staysBetween}. */
const STAY = 'node_state_id, tenant_id, cluster_id, node_id, machine_price_ycu, machine_type, is_spot, slots, began_at';

/**
 * Returns SQL for the stays of a node in RUNNING that overlap a time, by SQL expressions: entries of the ledger, and open
 * intervals, whose `ended_at` is infinity.
 */
export const staysBetween = (of: Record<'node' | 'from' | 'until', string>) => `
  SELECT ${STAY}, ended_at FROM ledger_entries l
  WHERE l.node_id = ${of.node} AND l.ended_at > ${of.from} AND l.began_at < ${of.until} AND l.began_at < l.ended_at AND ${COUNTS}
  UNION ALL
  SELECT ${STAY}, 'infinity' FROM ledger_open_intervals o WHERE o.node_id = ${of.node} AND o.began_at < ${of.until}`;

/**
 * Returns a quotient of non-negative numerics, rounded half up to a number of decimals. A division alone would first
 * round to some number of digits, which may lift it over the half.
 */
export const rounded = (dividend: string, divisor: string, decimals: { power: string; unit: string }) =>
  `trim_scale(div(2 * ${dividend} * ${decimals.power} + ${divisor}, 2 * ${divisor}) * ${decimals.unit})`;

/** `ycu_ms` of an hour with one compute unit. */
export const HOUR = '3600000::numeric';
export const SIX_DECIMALS = { power: '1000000', unit: '0.000001' };
