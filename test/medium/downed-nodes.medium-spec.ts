import { randomUUID } from 'node:crypto';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
  type NodeRef,
  type ProviderNodeState,
} from '../../libs/compute-drivers/compute-driver';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import type { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { ClusterReconciler } from '../../src/modules/execution/clusters/provisioning/cluster-reconciler';
import { DownedNodeReconciler } from '../../src/modules/execution/clusters/provisioning/downed-node-reconciler';
import type { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { Installation } from '../../src/platform/kernel/installation/installation';
import { createLogger, type Logger } from '../../src/platform/kernel/logging/logger';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { makeNode, makeTenancy } from './harness/records';
import { setNodeStatus } from './harness/statuses';
import { preparedDatabase } from './harness/test-api';

// Real: PostgreSQL. Left out: the machines.
describe('nodes that a driver reports as down', () => {
  const { config, dataSource } = preparedDatabase();
  const { signal } = new AbortController();

  /** Adds a node of a running cluster whose agent has just reported. */
  async function newNode(name: string): Promise<{ id: number; token: string }> {
    const id = await makeNode(dataSource.manager, await makeTenancy(dataSource.manager, name), 0);
    await dataSource.query('UPDATE cluster_nodes SET last_seen_at = now() WHERE node_id = $1', [id]);
    const sql = 'SELECT token::text FROM cluster_nodes WHERE node_id = $1';
    const [row] = await dataSource.query<{ token: string }[]>(sql, [id]);
    return { id, token: row?.token ?? '' };
  }

  async function statusOf(id: number): Promise<string | undefined> {
    const [row] = await dataSource.query<{ status: string }[]>('SELECT status FROM cluster_nodes WHERE node_id = $1', [
      id,
    ]);
    return row?.status;
  }

  function reconcilerOf(driver: ComputeDriver, logger = createLogger('test', 'silent')): DownedNodeReconciler {
    const facts = {
      read: () => Promise.resolve({}),
      withDriver: (_facts: object, _caller: object, call: (one: ComputeDriver, context: DriverContext) => unknown) =>
        Promise.resolve(call(driver, {} as DriverContext)),
    } as unknown as ClusterSnapshots;
    const drivers = { serves: () => true, withoutCredentials: () => Promise.resolve([driver]) } as unknown as Drivers;
    const nodes = new ClusterNodesRepository(dataSource);
    const lifecycle = makeLifecycle(dataSource);
    const installation = new Installation(dataSource);
    const clusters = new ClusterReconciler(dataSource, nodes, lifecycle, facts, drivers, config, installation, logger);
    return new DownedNodeReconciler(nodes, drivers, clusters, config);
  }

  it('are restarted or declared lost at once, and only if they should run', async () => {
    const [failed, gone, stopping] = [await newNode('failed'), await newNode('gone'), await newNode('stopping')];
    const interrupted = await newNode('interrupted');
    await setNodeStatus(dataSource.manager, stopping.id, 'STOPPING');
    const orphan = randomUUID();
    const states = new Map<string, ProviderNodeState>([
      [failed.token, 'failed'],
      [gone.token, 'gone'],
      [interrupted.token, 'interrupted'],
      [stopping.token, 'failed'],
      [orphan, 'failed'],
    ]);
    const revived: string[] = [];
    const driver = {
      describe: (refs: NodeRef[]) => Promise.resolve(refs.map((ref) => ({ state: states.get(ref.nodeToken) }))),
      onSite: {
        listDownNodes: () => Promise.resolve([...states.keys()]),
        revive: (ref: NodeRef) => Promise.resolve(void revived.push(ref.nodeToken)),
      },
    } as unknown as ComputeDriver;
    const reconciler = reconcilerOf(driver);
    await reconciler.reconcile(signal);
    expect(revived).toEqual([failed.token]);
    const ids = [failed, gone, interrupted, stopping].map(({ id }) => id);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['RUNNING', 'ERROR', 'ERROR', 'STOPPING']);
    // A node that goes down repeatedly is not started in every pass.
    await reconciler.reconcile(signal);
    expect(revived).toEqual([failed.token]);
  });

  it('are declared lost with the reason if they can never be restarted', async () => {
    const [replaced, busy] = [await newNode('replaced'), await newNode('busy')];
    const driver = {
      describe: () => Promise.resolve([{ state: 'failed' }]),
      onSite: {
        listDownNodes: () => Promise.resolve([replaced.token, busy.token]),
        revive: ({ nodeToken }: NodeRef) => {
          const kind = nodeToken === replaced.token ? 'invalid' : 'transient';
          return Promise.reject(new ComputeDriverError('TEST', 'Spark 3.5.3 was replaced.', { kind }));
        },
      },
    } as unknown as ComputeDriver;
    await expect(reconcilerOf(driver).reconcile(signal)).rejects.toThrow(`Node ${busy.id}: Spark 3.5.3 was replaced.`);
    expect(await Promise.all([replaced, busy].map(({ id }) => statusOf(id)))).toEqual(['ERROR', 'RUNNING']);
    const sql = 'SELECT reason FROM node_states WHERE node_id = $1 ORDER BY node_state_id DESC LIMIT 1';
    const [last] = await dataSource.query<{ reason: string }[]>(sql, [replaced.id]);
    expect(last?.reason).toContain('it cannot be started again: Spark 3.5.3 was replaced.');
  });

  it('are not started if a stop has begun meanwhile; the log gives the reason for a start', async () => {
    const [down, stopped] = [await newNode('down'), await newNode('stopped')];
    const started: string[] = [];
    const fault = new ComputeDriverError('TEST', 'the host has failed', { kind: 'transient' });
    const driver = {
      describe: async ([ref]: NodeRef[]) => {
        if (ref?.nodeToken === stopped.token) await setNodeStatus(dataSource.manager, stopped.id, 'STOPPING');
        return [{ state: 'stopped', fault }];
      },
      start: (ref: NodeRef) => Promise.resolve(void started.push(ref.nodeToken)),
      onSite: { listDownNodes: () => Promise.resolve([down.token, stopped.token]) },
    } as unknown as ComputeDriver;
    const warn = jest.fn();
    await reconcilerOf(driver, { warn } as unknown as Logger).reconcile(signal);
    expect(started).toEqual([down.token]);
    expect(warn.mock.calls).toMatchObject([[{ state: 'stopped', fault: 'the host has failed' }, expect.any(String)]]);
  });
});
