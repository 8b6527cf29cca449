import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { ComputeDriver, OnSite } from '../../libs/compute-drivers/compute-driver';
import { FOLDER_IDS_FILE, LocalFolder } from '../../libs/compute-drivers/local/local-folder';
import { LOCAL_ENDPOINT } from '../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.joins';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import type { ClusterOperation } from '../../src/modules/execution/clusters/model/cluster-state';
import { ClusterReconciler } from '../../src/modules/execution/clusters/provisioning/cluster-reconciler';
import { DestroyClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/destroy-cluster.workflow';
import { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { StartClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/start-cluster.workflow';
import { StopClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/stop-cluster.workflow';
import { CredentialsConfsService } from '../../src/modules/infrastructure/environments/credentials/credentials-confs.service';
import { Step, type StepOutcome, type Workflow } from '../../src/platform/background/workflows/workflow-definition';
import { beginOperation, runStep } from './harness/cluster-workflow';
import { WorkerApp } from './harness/worker-app';
import { makeTenancy } from './harness/records';
import { ScriptedProvider } from './harness/scripted-provider';
import { setClusterStatus, setNodeStatus } from './harness/statuses';

/** The driver of a worker. Its folder is real, and so are its responses about the place of a node. */
interface Site {
  folder: LocalFolder;
  provider: ScriptedProvider;
}

// Real: the worker's services, PostgreSQL and the folders. Left out: the processes of nodes.
describe('workers with different folders of local nodes', () => {
  const app = new WorkerApp();
  let dataSource: DataSource;
  let root: string;
  let clusterId: number;
  let tenantId: string;
  let mine: Site;
  let theirs: Site;
  let made = 0;

  beforeAll(async () => {
    ({ dataSource } = app);
    app.get(Drivers).serves = () => true;
    app.get(CredentialsConfsService).reveal = () => Promise.resolve({ values: {} } as never);
    await dataSource.query(
      `INSERT INTO answered_seconds SELECT date_trunc('second', now()) - s * interval '1 second' FROM generate_series(0, 600) s`,
    );
  });

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'local-folders-'));
    [mine, theirs] = [site('mine'), site('theirs')];
    made += 1;
    ({ clusterId, tenantId } = await makeTenancy(dataSource.manager, `tenant ${made}`));
    await dataSource.query(`UPDATE cloud_envs SET endpoint = $1`, [LOCAL_ENDPOINT]);
    await setClusterStatus(dataSource.manager, clusterId, 'STOPPED');
    at(mine);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function site(name: string): Site {
    const folder = new LocalFolder(join(root, name));
    const provider = new ScriptedProvider();
    const onSite = {
      reference: (token: string) => folder.reference(token),
      assertHere: (references: readonly string[]) => folder.assertHolds(references),
    };
    return { folder, provider: Object.assign(provider, { onSite }) };
  }

  /** Makes this worker do everything from now on. */
  function at({ provider }: Site): void {
    const drivers = app.get(Drivers);
    drivers.forEnvironment = () => Promise.resolve(provider as unknown as ComputeDriver);
    drivers.withoutCredentials = () => Promise.resolve([]);
  }

  const begin = (operation: ClusterOperation) => beginOperation(app, { clusterId, tenantId }, operation);

  const nodes = () => app.get(ClusterNodesRepository).ofCluster(clusterId);

  /** Adds a node of a running cluster that was created here and whose agent has been silent for `silence`. */
  async function runsAt(where: Site, silence: string): Promise<void> {
    at(where);
    const context = await begin('start');
    expect(await runStep(app.get(StartClusterWorkflow), 'plan-nodes', context)).toEqual(Step.done);
    expect(await runStep(app.get(StartClusterWorkflow), 'provision-nodes', context)).toEqual(Step.done);
    await setClusterStatus(dataSource.manager, clusterId, 'RUNNING');
    for (const { node_id, token } of await nodes()) {
      await setNodeStatus(dataSource.manager, node_id, 'RUNNING');
      await dataSource.query(
        `UPDATE cluster_nodes SET agent_id = 'a', last_seen_at = now() - $2::interval, provider_ref = $3 WHERE node_id = $1`,
        [node_id, silence, await where.folder.reference(token)],
      );
    }
  }

  const reconcile = () => app.get(ClusterReconciler).reconcile(new AbortController().signal);
  const statuses = async () => (await nodes()).map(({ status }) => status);
  const elsewhere = (outcome: StepOutcome) => {
    expect(outcome).toMatchObject({
      kind: 'wait',
      problem: { message: expect.stringContaining('COMPUTE_LOCAL_DIR') },
    });
  };
  const calls = ({ provider }: Site) => [...provider.specs, ...provider.started, ...provider.destroyed].length;

  it('never declare silent nodes of each other gone, but lost once their leases have expired', async () => {
    await runsAt(theirs, '1 minute');
    at(mine);
    mine.provider.state = 'gone';
    await reconcile();
    expect(await statuses()).toEqual(['RUNNING']);
    await dataSource.query(`UPDATE cluster_nodes SET last_seen_at = now() - interval '4 minutes'`);
    await reconcile();
    expect(await statuses()).toEqual(['ERROR']);
  });

  it.each([
    ['stop', 'stop-nodes', StopClusterWorkflow],
    ['destroy', 'destroy-nodes', DestroyClusterWorkflow],
  ] as const)('leave a %s to the worker that has the nodes', async (operation, name, Class) => {
    await runsAt(theirs, '0');
    const context = await begin(operation);
    const workflow = app.get<Workflow<'cluster'>>(Class);
    await runStep(workflow, 'announce', context);
    at(mine);
    elsewhere(await runStep(workflow, name, context));
    expect([calls(mine), await statuses()]).toEqual([0, [operation === 'stop' ? 'STOPPING' : 'DESTROYING']]);
    at(theirs);
    expect(await runStep(workflow, name, context)).toEqual(Step.done);
  });

  it('leave a start to the worker that has the disks or was about to create the nodes', async () => {
    at(theirs);
    const context = await begin('start');
    await runStep(app.get(StartClusterWorkflow), 'plan-nodes', context);
    theirs.provider.provision = () => Promise.reject(new Error('the worker is gone'));
    await expect(runStep(app.get(StartClusterWorkflow), 'provision-nodes', context)).rejects.toThrow('is gone');
    at(mine);
    elsewhere(await runStep(app.get(StartClusterWorkflow), 'provision-nodes', context));
    expect(calls(mine)).toBe(0);
  });

  it('leave a start to the first worker that recorded its folder, if both were about to create the nodes', async () => {
    const { onSite } = mine.provider as unknown as { onSite: OnSite };
    onSite.reference = async (token) => {
      const first = await theirs.folder.reference(token);
      await dataSource.query('UPDATE cluster_nodes SET provider_ref = $2 WHERE token = $1', [token, first]);
      return mine.folder.reference(token);
    };
    const context = await begin('start');
    await runStep(app.get(StartClusterWorkflow), 'plan-nodes', context);
    elsewhere(await runStep(app.get(StartClusterWorkflow), 'provision-nodes', context));
    expect(calls(mine)).toBe(0);
    at(theirs);
    expect(await runStep(app.get(StartClusterWorkflow), 'provision-nodes', context)).toEqual(Step.done);
  });

  it('count the nodes of a lost folder as gone once another folder has replaced it', async () => {
    await runsAt(theirs, '0');
    const context = await begin('destroy');
    const destroy = () => runStep(app.get(DestroyClusterWorkflow), 'destroy-nodes', context);
    at(mine);
    elsewhere(await destroy());
    const [file, lost] = [mine, theirs].map(({ folder }) => join(folder.dir, FOLDER_IDS_FILE)) as [string, string];
    writeFileSync(file, readFileSync(file, 'utf8') + readFileSync(lost, 'utf8'));
    expect(await destroy()).toEqual(Step.done);
    expect(await nodes()).toEqual([]);
  });

  it('keep working with nodes that an earlier release created', async () => {
    await runsAt(theirs, '1 minute');
    await dataSource.query(`UPDATE cluster_nodes SET provider_ref = 'local:' || token WHERE cluster_id = $1`, [
      clusterId,
    ]);
    at(mine);
    const context = await begin('stop');
    await runStep(app.get(StopClusterWorkflow), 'announce', context);
    expect(await runStep(app.get(StopClusterWorkflow), 'stop-nodes', context)).toEqual(Step.done);
  });
});
