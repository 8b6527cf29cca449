import { eventually } from '../harness/eventually';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, type Estate, reachStatus, stateReason } from './harness/estate';
import { JobDesk } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

/** The id of the workflow type `cosi_start`. */
const START = 2;

// Real: API and worker. Left out: nodes, which are never created.
describe('a cluster whose provider has no driver in this release', () => {
  let platform: SharedPlatform;
  let client: ApiClient;
  let estate: Estate;

  beforeAll(async () => {
    platform = await SharedPlatform.join('e2e', 'without-driver');
    client = await platform.admin();
    const endpoint = 'http://pve.example.org:8006';
    estate = await describeEstate(client, platform.runtime.sparkVersion, 'elsewhere', endpoint);
  });

  afterAll(() => platform?.close());

  it('is not started, neither by a request nor by a run', async () => {
    const clusterId = await createCluster(client, estate, 'not-started');
    const started = await client.request('POST', '/cluster/start', { json: { cluster_id: clusterId } });
    started.expectError(400, 'CLUSTER.PROVIDER_UNSUPPORTED');
    const desk = await JobDesk.open(client, 'desk');
    await desk.upload('job.py', 'print("hello")');
    const jobConfId = await desk.describe(clusterId, 'job', { job_type: 'Python3', command: 'job.py' });
    const run = await client.request('POST', `${desk.path}/job`, { json: { job_conf_id: jobConfId } });
    run.expectError(400, 'CLUSTER.PROVIDER_UNSUPPORTED');
    const begun = 'SELECT 1 FROM runs WHERE tenant_id = $1 UNION ALL SELECT 1 FROM workflow_jobs WHERE tenant_id = $1';
    expect(await platform.sql(begun, [platform.tenantId])).toEqual([]);
    expect((await client.get('/cluster', { cluster_id: clusterId })).cluster_status).toBe('STOPPED');
  });

  it('is destroyed, and then disabled', async () => {
    const clusterId = await createCluster(client, estate, 'destroyed');
    await destroyCluster(client, clusterId);
    await client.put('/cluster/disable', { cluster_id: clusterId });
  });

  /** Leaves what an older release left after a start that it could not undo: a planned node, and perhaps its machine. */
  async function leaveInStart(clusterId: number, machine: string | null): Promise<void> {
    await platform.sql(
      `WITH job AS (
         INSERT INTO workflow_jobs (workflow_type_id, tenant_id, cluster_id)
         SELECT ${START}, tenant_id, cluster_id FROM clusters WHERE cluster_id = $1 RETURNING workflow_job_id
       ), instance AS (
         INSERT INTO workflow_job_instances (workflow_job_id, job_name, state, step_index, failure, due_at, deadline_at, correlation_id)
         SELECT workflow_job_id, 'cluster.start', 'EXECUTING', 4, '{"step": "await-nodes", "message": "No answer"}', now(),
           now() + interval '1 hour', 'test' FROM job RETURNING workflow_job_instance_id
       ), node AS (
         INSERT INTO cluster_nodes (tenant_id, cluster_id, node_number, role, status, token, cores, memory_mb, provider_ref,
           machine_type_id, machine_price_ycu, is_spot, labels)
         SELECT tenant_id, cluster_id, 0, 'worker', 'INITIATING', gen_random_uuid(), 4, 16384, $2::text,
           machine_type_id, machine_price_ycu, is_spot_instance, labels
         FROM clusters JOIN cluster_confs USING (tenant_id, cluster_conf_id) JOIN machine_types USING (machine_type_id)
         WHERE cluster_id = $1 RETURNING node_id
       ), node_entry AS (
         INSERT INTO node_states (node_id, cluster_id, sequence, status, start_time)
         SELECT node_id, $1, 1, 'INITIATING', now() FROM node
       ), left_state AS (
         UPDATE cluster_states SET end_time = now() WHERE cluster_id = $1 AND end_time = 'infinity'
         RETURNING status, sequence
       ), cluster_entry AS (
         INSERT INTO cluster_states (cluster_id, sequence, from_status, status, start_time, node_count)
         SELECT $1, sequence + 1, status, 'INITIATING', now(), 1 FROM left_state
       )
       UPDATE clusters SET status = 'INITIATING', workflow_job_instance_id = instance.workflow_job_instance_id
       FROM instance WHERE cluster_id = $1`,
      [clusterId, machine],
    );
  }

  const reasonOfError = async (clusterId: number) => {
    await reachStatus(client, clusterId, 'ERROR');
    return stateReason(client, clusterId);
  };

  it('ends a start that cannot be undone', async () => {
    const clusterId = await createCluster(client, estate, 'planned');
    await leaveInStart(clusterId, null);
    expect(await reasonOfError(clusterId)).toBe('Step await-nodes failed: No answer');
    await destroyCluster(client, clusterId);
  });

  it('names the machines that it leaves at the provider', async () => {
    const clusterId = await createCluster(client, estate, 'made');
    await leaveInStart(clusterId, 'machine-7');
    const reason = await reasonOfError(clusterId);
    expect(reason).toContain('The clean-up failed: This release has no compute driver');
    expect(reason).toContain('Left at the provider: node 0 (machine-7)');
    const logged = () =>
      platform
        .workerLog()
        .split('\n')
        .filter((line) => line.includes('cleanup') && line.includes(`"cluster_id":${clusterId},`));
    await eventually(() => logged().length === 1, { what: 'a line in the log' });

    await client.post('/cluster/destroy', { cluster_id: clusterId });
    expect(await reasonOfError(clusterId)).toContain('The provider may still have node 0 (machine-7)');
  });
});
