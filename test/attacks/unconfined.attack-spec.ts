import { createCluster, describeEstate, startCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { clientOf, createTenant, createUser } from '../e2e/harness/people';
import { PlatformUnderTest, readRuntime } from '../e2e/harness/platform';
import { ordinaryUser } from './harness/users';

const PYTHON = { job_type: 'Python3', command: 'hello.py' };

// Real: API, worker, agents and Spark, run by an ordinary user of a machine without confinement of jobs.
describe('a tenant whose jobs could read the secrets of the platform', () => {
  let platform: PlatformUnderTest;

  beforeAll(async () => {
    const user = ordinaryUser(readRuntime());
    const env = { COMPUTE_LOCAL_BUBBLEWRAP: 'none' };
    platform = await PlatformUnderTest.start({ name: 'attacks-unconfined', user, env });
  });

  afterAll(() => platform?.close());

  it('gets no local nodes, while the tenant of the installation does', async () => {
    const { sparkVersion } = platform.runtime;
    const admin = await platform.admin();
    const mine = await createCluster(admin, await describeEstate(admin, sparkVersion), 'mine');
    await startCluster(admin, mine);
    expect(platform.workerLog()).toContain('only the first tenant can use local nodes');

    await createUser(platform, 'stranger', 'ADMIN', [await createTenant(platform, 'stranger')]);
    const stranger = await clientOf(platform, 'stranger');
    const theirs = await createCluster(stranger, await describeEstate(stranger, sparkVersion), 'theirs');
    const refused = await stranger.request('POST', '/cluster/start', { json: { cluster_id: theirs } });
    refused.expectError(400, 'CLUSTER.LOCAL_NODES_NOT_SHARED');

    const desk = await JobDesk.open(stranger, 'theirs');
    await desk.upload('hello.py', 'print("hello")');
    const jobConfId = await desk.describe(theirs, 'hello', PYTHON);
    const run = await stranger.request('POST', `${desk.path}/job`, { json: { job_conf_id: jobConfId } });
    run.expectError(400, 'CLUSTER.LOCAL_NODES_NOT_SHARED');
    expect(await platform.sql(`SELECT 1 FROM cluster_nodes WHERE cluster_id = ${theirs}`)).toEqual([]);
    expect(await platform.sql(`SELECT 1 FROM runs`)).toEqual([]);
  });
});
