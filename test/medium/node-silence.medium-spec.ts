import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { setClock } from './harness/clock';
import { makeNode, makeTenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';

const SILENCE = { ms: 35_000, answeredSeconds: 10, lostAfterSeconds: 195 };

// Real: PostgreSQL. Left out: the processes that record seconds and the reconciler. The tests write times into rows.
describe('the silence of a node', () => {
  const { dataSource } = preparedDatabase();
  let nodes: ClusterNodesRepository;
  let nodeId: number;

  beforeAll(async () => {
    await setClock(dataSource, new Date());
    nodes = new ClusterNodesRepository(dataSource);
    nodeId = await makeNode(dataSource.manager, await makeTenancy(dataSource.manager, 'mine'), 0);
  });

  beforeEach(() => dataSource.query('DELETE FROM answered_seconds'));

  const silentFor = (seconds: number) =>
    dataSource.query(
      `UPDATE cluster_nodes SET last_seen_at = platform_now() - $1 * interval '1 second' WHERE node_id = $2`,
      [seconds, nodeId],
    );

  /** Seconds in which the platform answered, counted back from now. */
  const answered = (from: number, to: number) =>
    dataSource.query(
      `INSERT INTO answered_seconds SELECT date_trunc('second', platform_now()) - s * interval '1 second'
       FROM generate_series($1::integer, $2::integer) s ON CONFLICT DO NOTHING`,
      [from, to],
    );

  const judged = async () => (await nodes.findSilent(SILENCE)).map(({ node_id, is_lost }) => ({ node_id, is_lost }));
  const silent = { node_id: expect.any(Number), is_lost: false };
  const lost = { node_id: expect.any(Number), is_lost: true };

  it('marks it lost once the lease and its margin have passed while the platform answered', async () => {
    await answered(0, 600);
    await silentFor(30);
    expect(await judged()).toEqual([]);
    await silentFor(40);
    expect(await judged()).toEqual([silent]);
    await silentFor(190);
    expect(await judged()).toEqual([silent]);
    await silentFor(200);
    expect(await judged()).toEqual([lost]);
  });

  it('does not count while the platform did not answer at all', async () => {
    await silentFor(100_000);
    expect(await judged()).toEqual([]);
    await answered(100_001, 100_600);
    expect(await judged()).toEqual([]);
  });

  it('counts only seconds in which the platform answered', async () => {
    await silentFor(4_000);
    await answered(3_900, 4_600);
    expect(await judged()).toEqual([silent]);
    await answered(0, 8);
    await answered(3_850, 3_899);
    expect(await judged()).toEqual([silent]);
    await answered(3_800, 3_849);
    expect(await judged()).toEqual([lost]);
  });

  it('gives nodes time to return after an outage of the platform', async () => {
    await answered(1_000, 2_000);
    await silentFor(1_005);
    expect(await judged()).toEqual([]);
    await answered(0, 3);
    expect(await judged()).toEqual([]);
    await answered(0, 10);
    expect(await judged()).toEqual([silent]);
  });

  it('is reported to the process that records the seconds, which are counted back from now', async () => {
    await silentFor(30);
    expect(await nodes.recordAnsweredSeconds([], SILENCE.ms)).toBe(false);
    await silentFor(40);
    expect(await nodes.recordAnsweredSeconds([30_000, 20_000, 0], SILENCE.ms)).toBe(true);
    const ages = `extract(epoch FROM date_trunc('second', platform_now()) - second)::integer AS age`;
    expect(await dataSource.query(`SELECT ${ages} FROM answered_seconds ORDER BY second`)).toEqual([
      { age: 30 },
      { age: 20 },
      { age: 0 },
    ]);
  });

  it('records a second once, and keeps only the seconds that are needed', async () => {
    await Promise.all(Array.from({ length: 5 }, () => nodes.recordAnsweredSeconds([0, 1, 2], SILENCE.ms)));
    const count = async () => (await dataSource.query('SELECT count(*)::integer AS n FROM answered_seconds'))[0].n;
    expect(await count()).toBe(1);
    await answered(0, 500);
    await nodes.deleteAnsweredSeconds(255);
    expect(await count()).toBe(256);
  });
});
