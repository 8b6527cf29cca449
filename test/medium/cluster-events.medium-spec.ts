import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { ClusterSubscriber, type ClusterTransitioned } from '../../src/modules/execution/clusters';
import type { ClusterStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { type Tx, inTransaction } from '../../src/platform/kernel/persistence/sql';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { TestApi, preparedDatabase } from './harness/test-api';

// Real: PostgreSQL and the transitions. Left out: the requests and workflows that cause them.
describe('a transition of a cluster', () => {
  const { dataSource } = preparedDatabase();
  let tenancy: Tenancy;
  let made = 0;

  beforeEach(async () => {
    made += 1;
    tenancy = await makeTenancy(dataSource.manager, `tenant-${made}`);
  });

  class Listener extends ClusterSubscriber {
    readonly domain = 'runs';

    constructor(readonly on: ClusterSubscriber['on']) {
      super();
    }
  }

  const change = { reason: 'Why', userId: null, workflowInstanceId: null };

  async function become(to: ClusterStatus, subscribers?: ClusterSubscriber[]): Promise<void> {
    const lifecycle = makeLifecycle(dataSource, subscribers);
    await inTransaction(dataSource, async (tx) => {
      const cluster = await lifecycle.lockOrThrow(tx, tenancy.clusterId);
      await lifecycle.transition(tx, cluster, { to, ...change });
    });
  }

  async function one<T>(sql: string): Promise<T | undefined> {
    const [row] = await dataSource.query<T[]>(sql, [tenancy.clusterId]);
    return row;
  }

  const status = async () =>
    (await one<{ status: string }>('SELECT status FROM clusters WHERE cluster_id = $1'))?.status;
  const entries = async () =>
    (await one<{ count: number }>('SELECT count(*) FROM cluster_states WHERE cluster_id = $1'))?.count;
  const dispatches = async () =>
    (
      await one<{ count: number }>(
        `SELECT count(*) FROM outbox_messages WHERE job_name = 'job.dispatch' AND payload->>'cluster_id' = $1::text`,
      )
    )?.count;

  it('is published within its transaction, with its details', async () => {
    const told: [ClusterTransitioned, ClusterStatus | undefined][] = [];
    const clusterTransitioned = async (tx: Tx, event: ClusterTransitioned) => {
      const [row] = await tx.query<{ status: ClusterStatus }[]>('SELECT status FROM clusters WHERE cluster_id = $1', [
        event.clusterId,
      ]);
      told.push([event, row?.status]);
    };
    await become('STOPPING', [new Listener({ clusterTransitioned })]);
    const { tenantId, clusterId } = tenancy;
    const entry = await one<{ cluster_state_id: number }>(
      'SELECT max(cluster_state_id)::int AS cluster_state_id FROM cluster_states WHERE cluster_id = $1',
    );
    const event = { tenantId, clusterId, from: 'RUNNING', to: 'STOPPING', reason: 'Why', workflowInstanceId: null };
    expect(told).toEqual([[{ ...event, stateId: entry?.cluster_state_id }, 'STOPPING']]);
  });

  it('is rolled back if a subscriber fails', async () => {
    const clusterTransitioned = () => Promise.reject(new Error('not this one'));
    await expect(become('STOPPING', [new Listener({ clusterTransitioned })])).rejects.toThrow('not this one');
    expect([await status(), await entries()]).toEqual(['RUNNING', 1]);
  });

  it('schedules the waiting runs at the end of an operation, not at its start', async () => {
    await become('STOPPING');
    expect(await dispatches()).toBe(0);
    await become('STOPPED');
    expect(await dispatches()).toBe(1);
  });

  it('of a node is published, too', async () => {
    const told: unknown[] = [];
    const nodeTransitioned = (_tx: Tx, event: unknown) => Promise.resolve(void told.push(event));
    const lifecycle = makeLifecycle(dataSource, [new Listener({ nodeTransitioned })]);
    const nodeId = await makeNode(dataSource.manager, tenancy, 0);
    const [node] = await dataSource.query('SELECT * FROM cluster_nodes WHERE node_id = $1', [nodeId]);
    await inTransaction(dataSource, (tx) => lifecycle.transitionNode(tx, node, { to: 'ERROR', ...change }));
    expect(told).toEqual([expect.objectContaining({ nodeId, from: 'RUNNING', to: 'ERROR', reason: 'Why' })]);
  });

  it('is impossible in a process without all subscribers', async () => {
    await expect(TestApi.start([IamModule, ClustersApiModule])).rejects.toThrow(
      'The domain runs does not subscribe to the events of clusters',
    );
    expect(() => makeLifecycle(dataSource, [new Listener({}), new Listener({})])).toThrow(
      'The domain runs subscribes twice to the events of clusters',
    );
  });
});
