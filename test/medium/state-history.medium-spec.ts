import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { appendState, type History } from '../../src/platform/kernel/history/state-history';
import { autocommit } from '../harness/autocommit';
import { firstRow, inTransaction, type Tx } from '../../src/platform/kernel/persistence/sql';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus, setNodeStatus } from './harness/statuses';
import { preparedDatabase } from './harness/test-api';
import { ClusterStateEntry } from '../../src/modules/execution/clusters/model/entities/cluster-state.entity';

const WRITERS = 40;
const HISTORY: History<ClusterStateEntry> = {
  entity: ClusterStateEntry,
  idColumn: 'cluster_state_id',
  subjectColumn: 'cluster_id',
};

describe('state history', () => {
  const { dataSource } = preparedDatabase();
  let tenancy: Tenancy;

  beforeAll(async () => {
    tenancy = await makeTenancy(dataSource.manager, 'history');
  });

  async function append(to: string, fails = false): Promise<void> {
    await inTransaction(dataSource, async (tx) => {
      const { clusterId } = tenancy;
      const cluster = await firstRow<{ status: string }>(
        tx,
        'SELECT status FROM clusters WHERE cluster_id = $1 FOR UPDATE',
        [clusterId],
      );
      await appendState(tx, HISTORY, clusterId, {
        from: cluster?.status ?? null,
        to,
        reason: null,
        userId: null,
        extra: { node_count: 0, workflow_job_instance_id: null },
      });
      await tx.query('UPDATE clusters SET status = $2 WHERE cluster_id = $1', [clusterId, to]);
      if (fails) throw new Error('rolled back');
    });
  }

  it('has neither gaps nor overlaps if many transactions write at once and some roll back', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: WRITERS }, (_, index) => append(index % 2 === 0 ? 'RUNNING' : 'ERROR', index % 5 === 0)),
    );
    const written = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(written).toBe(WRITERS - WRITERS / 5);
    const entries = await dataSource.query<Record<string, unknown>[]>(
      `SELECT sequence, end_time = coalesce(lead(start_time) OVER w, 'infinity') AS seamless,
         sequence = 1 OR from_status = lag(status) OVER w AS follows, start_time <= end_time AS forward
       FROM cluster_states WHERE cluster_id = $1 WINDOW w AS (ORDER BY sequence) ORDER BY sequence`,
      [tenancy.clusterId],
    );
    expect(entries).toEqual(
      // After the first entry of the new cluster.
      Array.from({ length: 1 + written }, (_, index) => ({
        sequence: index + 1,
        seamless: true,
        follows: true,
        forward: true,
      })),
    );
  });

  describe('is required by the database for each change of status', () => {
    let nodeId: number;

    beforeAll(async () => {
      nodeId = await makeNode(dataSource.manager, tenancy, 0);
    });

    beforeEach(async () => {
      await setClusterStatus(dataSource.manager, tenancy.clusterId, 'RUNNING');
      await setNodeStatus(dataSource.manager, nodeId, 'RUNNING');
    });

    const setCluster = (tx: EntityManager, status: string) =>
      tx.query('UPDATE clusters SET status = $2 WHERE cluster_id = $1', [tenancy.clusterId, status]);

    const enter = (tx: Tx, from: string | null, to: string) => {
      const extra = { node_count: 0, workflow_job_instance_id: null };
      return appendState(tx, HISTORY, tenancy.clusterId, { from, to, reason: null, userId: null, extra });
    };

    const became = (key: string, from: string, to: string, history: string) =>
      `The status of ${key} changed from ${from} to ${to} without an entry in ${history}`;

    it('for a cluster', async () => {
      const { manager } = dataSource;
      const refused = became(`cluster_id ${tenancy.clusterId}`, 'RUNNING', 'STOPPING', 'cluster_states');
      await expect(setCluster(manager, 'STOPPING')).rejects.toThrow(refused);
      await expect(manager.query(`UPDATE clusters SET status = 'STOPPING'`)).rejects.toThrow(refused);
      await setCluster(manager, 'RUNNING');
      await manager.query('UPDATE clusters SET last_active_at = now() WHERE cluster_id = $1', [tenancy.clusterId]);
    });

    it('for a node', async () => {
      const sql = `UPDATE cluster_nodes SET status = 'ERROR' WHERE node_id = $1`;
      const refused = became(`node_id ${nodeId}`, 'RUNNING', 'ERROR', 'node_states');
      await expect(dataSource.query(sql, [nodeId])).rejects.toThrow(refused);
      await dataSource.query('UPDATE cluster_nodes SET busy_slots = 0, last_seen_at = now() WHERE node_id = $1', [
        nodeId,
      ]);
    });

    it.each([
      ['clusters', 'cluster_id', 'cluster_states', ['name']],
      ['cluster_nodes', 'node_id', 'node_states', ['token', 'node_number', 'bootstrap_token_hash']],
    ])('for new %s', async (table, key, history, unique) => {
      const others = unique.map((column) => [column, column === 'token' ? randomUUID() : '7']);
      const sql = `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT copy.* FROM ${table} t
        CROSS JOIN LATERAL jsonb_populate_record(t, $1::jsonb || jsonb_build_object('${key}', nextval(pg_get_serial_sequence('${table}', '${key}')))) copy
        LIMIT 1`;
      const insert = dataSource.query(sql, [JSON.stringify(Object.fromEntries(others))]);
      await expect(insert).rejects.toThrow(
        new RegExp(`^The status of ${key} \\d+ changed from none to RUNNING without an entry in ${history}$`),
      );
    });

    it('for several changes in one transaction, each with its own entry', async () => {
      await inTransaction(dataSource, async (tx) => {
        await setCluster(tx, 'STOPPING');
        await setCluster(tx, 'STOPPED');
        await enter(tx, 'RUNNING', 'STOPPING');
        await enter(tx, 'STOPPING', 'STOPPED');
      });
      const back = inTransaction(dataSource, async (tx) => {
        await setCluster(tx, 'INITIATING');
        await setCluster(tx, 'STOPPED');
      });
      await expect(back).rejects.toThrow('from STOPPED to INITIATING without');
      const other = inTransaction(dataSource, async (tx) => {
        await setCluster(tx, 'INITIATING');
        await enter(tx, 'STOPPED', 'INITIATING');
        await setCluster(tx, 'RUNNING');
      });
      await expect(other).rejects.toThrow('without an entry in cluster_states');
    });

    it('in the same transaction, a savepoint in it included', async () => {
      const { manager } = dataSource;
      await enter(autocommit(manager), 'RUNNING', 'STOPPING');
      await expect(setCluster(manager, 'STOPPING')).rejects.toThrow('without an entry in cluster_states');
      await inTransaction(dataSource, async (tx) => {
        await setCluster(tx, 'STOPPING');
        await inTransaction(tx, (nested) => enter(nested, 'RUNNING', 'STOPPING'));
      });
    });
  });
});
