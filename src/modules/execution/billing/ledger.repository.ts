import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { columnsOf } from '../../../platform/kernel/persistence/entity-table';
import { finds, firstRow, returning, rows, type Tx } from '../../../platform/kernel/persistence/sql';
import { OpenInterval } from './entities/open-interval.entity';
import { COUNTS, dayOf, milliseconds } from './sums.joins';

const BATCH_SIZE = 1000;

const COLUMNS = columnsOf(OpenInterval);
const INTERVAL = COLUMNS.join(', ');
const ofAlias = (alias: string) => COLUMNS.map((column) => `${alias}.${column}`).join(', ');

/** Stays in RUNNING according to the node histories. Open stays end in infinity. */
const STAYS = `SELECT s.node_state_id, n.node_id, n.machine_price_ycu::numeric AS machine_price_ycu, n.is_spot,
    ${milliseconds('s.start_time')} AS began_at, ${milliseconds('s.end_time')} AS ended_at, n.tenant_id,
    t.name AS tenant_name, n.cluster_id, c.name AS cluster_name, p.name AS cloud_provider, m.machine_type_id,
    m.name AS machine_type, n.labels, md5(n.labels::text)::uuid AS labels_key, c.max_parallel_jobs AS slots
  FROM node_states s JOIN cluster_nodes n ON n.node_id = s.node_id JOIN tenants t USING (tenant_id)
    JOIN clusters c ON c.cluster_id = n.cluster_id
    JOIN machine_types m ON m.machine_type_id = n.machine_type_id
    JOIN cloud_providers p ON p.cloud_provider_id = m.cloud_provider_id
  WHERE s.status = 'RUNNING'`;

/** Stays of a cluster according to the ledger: entries that count, and open intervals. */
const BOOKED = `SELECT l.ledger_entry_id, ${ofAlias('l')}, l.ended_at FROM ledger_entries l
    WHERE l.cluster_id = $1 AND ${COUNTS}
  UNION ALL SELECT NULL, ${ofAlias('o')}, 'infinity' FROM ledger_open_intervals o WHERE o.cluster_id = $1`;

/** Returns the columns that must be equal in history and ledger. Names may have changed since. */
const facts = (alias: string) =>
  `(${['node_id', 'began_at', 'ended_at', 'machine_type_id', 'machine_price_ycu', 'is_spot', 'labels_key']
    .map((column) => `${alias}.${column}`)
    .join(', ')})`;

/** Stays that are not booked exactly once with the facts of the history. */
const DIFFERENCES = `SELECT coalesce(h.node_state_id, b.node_state_id) AS node_state_id, b.ledger_entry_id,
    coalesce(h.node_id, b.node_id) AS node_id, h.began_at AS history_began_at, h.ended_at AS history_ended_at,
    b.began_at AS ledger_began_at, b.ended_at AS ledger_ended_at
  FROM (${STAYS} AND s.cluster_id = $1) h
    FULL JOIN (SELECT *, count(*) OVER (PARTITION BY node_state_id) AS times FROM (${BOOKED}) every) b
      ON b.node_state_id = h.node_state_id
  WHERE h.node_state_id IS NULL OR b.node_state_id IS NULL OR b.times > 1 OR ${facts('h')} IS DISTINCT FROM ${facts('b')}`;

/** Inserts entries from `source`, and marks the sums of their clusters as stale from the first affected day. */
const book = (source: string) => `booked AS (
    INSERT INTO ledger_entries (${INTERVAL}, ended_at, kind)
    SELECT ${INTERVAL}, ended_at, 'interval' FROM (${source}) AS source
    ON CONFLICT DO NOTHING RETURNING cluster_id, began_at)
  INSERT INTO stale_usage (cluster_id, from_date) SELECT cluster_id, ${dayOf('min(began_at)')} FROM booked GROUP BY cluster_id
  RETURNING cluster_id`;

/** A stay that differs between the ledger and the node's history. The times are null on the side without it. */
export interface LedgerDifference {
  node_state_id: number;
  node_id: number;
  history_began_at: Date | null;
  /** Infinity while the node is in RUNNING. */
  history_ended_at: Date | number | null;
  ledger_began_at: Date | null;
  ledger_ended_at: Date | number | null;
}

const MISSED_ENDS = `SELECT o.node_state_id, ${milliseconds('s.end_time')} AS ended_at FROM ledger_open_intervals o
  JOIN node_states s ON s.node_state_id = o.node_state_id WHERE s.end_time < 'infinity'`;

const MISSED_BEGINNINGS = `SELECT n.node_id FROM cluster_nodes n WHERE n.to_date = 'infinity' AND n.status = 'RUNNING'
  AND NOT EXISTS (SELECT 1 FROM ledger_open_intervals o WHERE o.node_id = n.node_id)`;

/** Rows of the ledger. Entries are only added (ADR 0040). */
@Injectable()
export class LedgerRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Opens the interval of a node that entered RUNNING with this history entry. */
  async open(tx: Tx, nodeStateId: number): Promise<void> {
    await tx.query(
      `WITH opened AS (
         INSERT INTO ledger_open_intervals (${INTERVAL}) SELECT ${INTERVAL} FROM (${STAYS} AND s.node_state_id = $1) stay
         RETURNING cluster_id, began_at)
       INSERT INTO stale_usage (cluster_id, from_date) SELECT cluster_id, ${dayOf('began_at')} FROM opened`,
      [nodeStateId],
    );
  }

  /**
   * Books the stay of a node that left RUNNING with this history entry. If a process of a release without ledger never
   * opened the interval, the history provides it.
   */
  async close(tx: Tx, nodeId: number, nodeStateId: number): Promise<void> {
    const booked = await rows(
      tx,
      `WITH closed AS (DELETE FROM ledger_open_intervals WHERE node_id = $1 RETURNING ${INTERVAL}), ${book(
        `SELECT ${ofAlias('closed')}, ${milliseconds('s.start_time')} AS ended_at
         FROM closed JOIN node_states s ON s.node_state_id = $2`,
      )}`,
      [nodeId, nodeStateId],
    );
    if (booked.length > 0) return;
    await tx.query(
      `WITH ${book(
        `${STAYS} AND s.node_id = $1
         AND s.sequence = (SELECT sequence - 1 FROM node_states WHERE node_state_id = $2)`,
      )}`,
      [nodeId, nodeStateId],
    );
  }

  /** A condition that is true if {@link catchUp} would book something. */
  readonly hasMissed = (): string => `(${finds(MISSED_ENDS)} OR ${finds(MISSED_BEGINNINGS)})`;

  /**
   * Books transitions by processes of a release without ledger: nodes that left or entered RUNNING. Returns their
   * number.
   */
  async catchUp(tx: Tx): Promise<number> {
    const closed = await rows(
      tx,
      `WITH missed AS (${MISSED_ENDS} LIMIT ${BATCH_SIZE}),
         closed AS (DELETE FROM ledger_open_intervals o USING missed WHERE o.node_state_id = missed.node_state_id
           RETURNING ${ofAlias('o')}, missed.ended_at),
         ${book('SELECT * FROM closed')}`,
    );
    const opened = await rows(
      tx,
      `WITH missed AS (${MISSED_BEGINNINGS} LIMIT ${BATCH_SIZE}),
         opened AS (INSERT INTO ledger_open_intervals (${INTERVAL})
           SELECT ${INTERVAL} FROM (${STAYS} AND s.end_time = 'infinity' AND s.node_id IN (SELECT node_id FROM missed)) stay
           ON CONFLICT DO NOTHING RETURNING cluster_id, began_at)
       INSERT INTO stale_usage (cluster_id, from_date) SELECT cluster_id, ${dayOf('began_at')} FROM opened
       RETURNING cluster_id`,
    );
    return closed.length + opened.length;
  }

  /** Returns the next cluster by id with a history, entries or sums; null after the last one. */
  async nextCluster(after: number): Promise<number | null> {
    const tables = ['node_states', 'ledger_entries', 'ledger_open_intervals', 'usage_days'];
    const next = await firstRow<{ cluster_id: number | null }>(
      this.dataSource.manager,
      `SELECT least(${tables.map((table) => `(SELECT min(cluster_id) FROM ${table} WHERE cluster_id > $1)`).join(', ')})
         AS cluster_id`,
      [after],
    );
    return next?.cluster_id ?? null;
  }

  /** Returns differences between ledger and histories of the cluster, and their number. */
  async differences(clusterId: number, limit: number): Promise<{ total: number; some: LedgerDifference[] }> {
    const found = await rows<LedgerDifference & { total: number }>(
      this.dataSource.manager,
      `SELECT *, count(*) OVER () AS total FROM (${DIFFERENCES}) d ORDER BY node_state_id LIMIT ${limit}`,
      [clusterId],
    );
    return { total: found[0]?.total ?? 0, some: found.map(({ total: _, ...difference }) => difference) };
  }

  /** Adds entries until the ledger equals the histories of the cluster. Returns the number of entries. */
  async correct(tx: Tx, clusterId: number, reason: string): Promise<number> {
    // Nodes are locked first, in the same order as by transitions.
    await tx.query('SELECT 1 FROM cluster_nodes WHERE cluster_id = $1 ORDER BY node_number, node_id FOR UPDATE', [
      clusterId,
    ]);
    const reversed = await rows(
      tx,
      `INSERT INTO ledger_entries (${INTERVAL}, ended_at, kind, reverses_id, reason)
       SELECT ${ofAlias('l')}, l.ended_at, 'reversal', l.ledger_entry_id, $2
       FROM ledger_entries l WHERE l.ledger_entry_id IN (SELECT ledger_entry_id FROM (${DIFFERENCES}) d)
       RETURNING ledger_entry_id`,
      [clusterId, reason],
    );
    await returning(
      tx,
      `DELETE FROM ledger_open_intervals WHERE node_state_id IN
         (SELECT node_state_id FROM (${DIFFERENCES}) d WHERE ledger_ended_at = 'infinity')`,
      [clusterId],
    );
    await tx.query(
      `INSERT INTO ledger_open_intervals (${INTERVAL}) SELECT ${INTERVAL} FROM (${STAYS} AND s.cluster_id = $1
         AND s.end_time = 'infinity') stay ON CONFLICT DO NOTHING`,
      [clusterId],
    );
    const added = await rows(
      tx,
      `INSERT INTO ledger_entries (${INTERVAL}, ended_at, kind, reason)
       SELECT ${INTERVAL}, ended_at, 'correction', $2 FROM (${STAYS} AND s.cluster_id = $1 AND s.end_time < 'infinity') stay
       WHERE node_state_id IN (SELECT node_state_id FROM (${DIFFERENCES}) d) RETURNING ledger_entry_id`,
      [clusterId, reason],
    );
    await tx.query(`INSERT INTO stale_usage (cluster_id, from_date) VALUES ($1, '0001-01-01')`, [clusterId]);
    return reversed.length + added.length;
  }
}
