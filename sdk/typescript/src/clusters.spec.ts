import { ClusterFailed, Conflict } from './face.ts';
import { caught, ok, page, refused, TestPlatform, withoutPauses } from './testing/platform.ts';

describe('Clusters', () => {
  let platform: TestPlatform;

  beforeEach(() => {
    withoutPauses();
    platform = new TestPlatform();
  });

  const cluster = (cluster_status: string) => ok({ cluster_id: 4, name: 'c', cluster_status });

  it('start one, and wait for it', async () => {
    platform.answers = [ok({}), cluster('INITIATING'), cluster('RUNNING')];
    expect(await platform.client().clusters.start('c').wait()).toMatchObject({
      cluster_id: 4,
      cluster_status: 'RUNNING',
    });
    expect(platform.bodies[0]).toBe('{"cluster_name":"c"}');
  });

  it('start one without a wait', async () => {
    platform.answers = [ok({})];
    await platform.client().cluster(4).start();
    expect(platform.bodies).toEqual(['{"cluster_id":4}']);
  });

  it('resize one', async () => {
    platform.answers = [ok({ instances_to_add: 2 })];
    expect(await platform.client().cluster('c').resize({ max_instances: 6 })).toMatchObject({ instances_to_add: 2 });
    expect(platform.bodies).toEqual(['{"cluster_name":"c","max_instances":6}']);
  });

  it('throw a refusal whether it is awaited or waited for', async () => {
    platform.handler = () => refused(409, 'CLUSTER.INVALID_STATE');
    const { clusters } = platform.client();
    expect(await caught(Promise.resolve(clusters.stop(4)))).toBeInstanceOf(Conflict);
    expect(await caught(clusters.stop(4).wait())).toBeInstanceOf(Conflict);
  });

  it('throw the reason if a cluster comes to rest elsewhere', async () => {
    platform.answers = [ok({}), cluster('ERROR'), page([{ reason: 'The quota is used up.' }])];
    const failure = await caught(platform.client().clusters.start(4).wait());
    expect(failure).toBeInstanceOf(ClusterFailed);
    expect(failure.message).toBe('Cluster 4 is ERROR: The quota is used up.');
  });

  it('create one and return what `get` does', async () => {
    platform.answers = [ok({ cluster_id: '4' }), cluster('STOPPED')];
    const created = await platform.client().clusters.create({ name: 'c' } as never);
    expect(created).toMatchObject({ cluster_id: 4, cluster_status: 'STOPPED' });
    expect(platform.requests[1]?.url).toMatch(/\?cluster_id=4$/);
  });
});
