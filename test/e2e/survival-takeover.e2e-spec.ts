import { eventually } from '../harness/eventually';
import { createCluster, describeEstate, reachStatus } from './harness/estate';
import { PlatformUnderTest } from './harness/platform';
import { endedWorkflow, expectNoStrayNodes, expectSound, holdNode, nodeOf } from './harness/survival';

/** So long that no lease ends during the test. */
const LEASE_MS = 600_000;

interface Instance {
  id: number;
  worker: string | null;
  is_leased: boolean;
}

describe('kill -9 of one of two workers', () => {
  let platform: PlatformUnderTest;
  const undo: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const env = { WORKFLOW_LEASE_MS: String(LEASE_MS) };
    platform = await PlatformUnderTest.start({ name: 'survival-takeover', env });
  });

  afterAll(async () => {
    for (const one of undo.reverse()) await one();
    await platform?.close();
  });

  const workers = () => platform.sql<{ id: string }>('SELECT worker_id::text AS id FROM workers ORDER BY worker_id');

  /** Returns the instance of the cluster's current operation while the step is open. */
  async function held(clusterId: number, step: string): Promise<Instance | null> {
    const [found] = await platform.sql<Instance>(
      `SELECT i.workflow_job_instance_id AS id, split_part(i.lease_owner, ':', 1) AS worker,
         i.lease_until > now() AS is_leased
       FROM workflow_job_instances i JOIN clusters c USING (workflow_job_instance_id)
       JOIN workflow_steps s ON s.workflow_job_instance_id = i.workflow_job_instance_id
       WHERE c.cluster_id = $1 AND s.name = $2 AND s.ended_at IS NULL`,
      [clusterId, step],
    );
    return found ?? null;
  }

  it('during a start: the other one continues it before the lease ends', async () => {
    const client = await platform.admin();
    const estate = await describeEstate(client, platform.runtime.sparkVersion);
    const clusterId = await createCluster(client, estate, 'taken-over');
    const ask = (operation: string) => client.post(`/cluster/${operation}`, { cluster_id: clusterId });
    await ask('start');
    await reachStatus(client, clusterId, 'RUNNING');
    await ask('stop');
    await reachStatus(client, clusterId, 'STOPPED');
    await endedWorkflow(platform, clusterId);

    const release = await holdNode(platform, (await nodeOf(platform, clusterId)).token);
    undo.push(release);
    await ask('start');
    const before = await eventually(() => held(clusterId, 'provision-nodes'), { what: 'the step that waits' });
    undo.push(await platform.startSecondWorker());
    await eventually(async () => (await workers()).length === 2, { timeoutMs: 180_000, what: 'the second worker' });
    const [killed, other] = (await workers()).map(({ id }) => id);
    expect(before).toMatchObject({ worker: killed, is_leased: true });
    const [{ until } = { until: new Date(0) }] = await platform.sql<{ until: Date }>(
      'SELECT lease_until AS until FROM workflow_job_instances WHERE workflow_job_instance_id = $1',
      [before?.id],
    );

    await platform.killWorker();
    await eventually(async () => (await held(clusterId, 'provision-nodes'))?.worker === other, {
      timeoutMs: 180_000,
      what: 'the takeover',
    });
    const [clock] = await platform.sql<{ is_before: boolean }>('SELECT now() < $1::timestamptz AS is_before', [until]);
    expect(clock).toEqual({ is_before: true });
    expect(await workers()).toEqual([{ id: other }]);
    await release();
    undo.shift();

    await reachStatus(client, clusterId, 'RUNNING');
    const { state, steps } = await endedWorkflow(platform, clusterId);
    expect(state).toBe('DONE');
    expect(steps.filter(({ name }) => name === 'provision-nodes').map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'done',
    ]);
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'STOPPING', 'STOPPED', 'INITIATING', 'RUNNING'];
    await expectSound(platform, clusterId, { history, nodes: 1 });
    await ask('destroy');
    await reachStatus(client, clusterId, 'DESTROYED');
    await expectNoStrayNodes(platform);
  });
});
