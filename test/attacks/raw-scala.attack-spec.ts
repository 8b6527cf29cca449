import { createCluster, describeEstate, startCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest } from '../e2e/harness/platform';

const LINES = '//\n'.repeat(53_000);

// Real: API, worker, agents and Spark. The lease is short: an agent that is busy with one run's code loses its node.
describe('raw Scala of 160 KB', () => {
  let platform: PlatformUnderTest;

  beforeAll(async () => {
    platform = await PlatformUnderTest.start({
      name: 'attacks-raw-scala',
      env: { AGENT_LEASE_MS: '15000', AGENT_LEASE_MARGIN_MS: '1000' },
    });
  });

  afterAll(() => platform?.close());

  it('keeps no agent from its node', async () => {
    const admin = await platform.admin();
    const clusterId = await createCluster(admin, await describeEstate(admin, platform.runtime.sparkVersion), 'scala');
    await startCluster(admin, clusterId);
    const desk = await JobDesk.open(admin, 'scala');
    const rawScalaCode = `${LINES}println("hello")\n${'println()\n'.repeat(10)}`;
    const job = await desk.complete(clusterId, 'scala', { job_type: 'RAW_SCALA', rawScalaCode });
    expect([job.job_status, await desk.log(job.job_id)]).toEqual(['DONE', `hello\n${'\n'.repeat(10)}`]);
  });
});
