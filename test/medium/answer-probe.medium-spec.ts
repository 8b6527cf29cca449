import { eventually } from '../harness/eventually';
import { ClusterNodesService } from '../../src/modules/execution/clusters';
import { makeNode, makeTenancy } from './harness/records';
import { wholeApi } from './harness/test-api';

// Real: the API, which polls itself over its port, and PostgreSQL.
describe('a process that serves agents', () => {
  const api = wholeApi({ AGENT_LEASE_MS: '180000' });

  const recorded = async () => {
    const [row] = await api.database.query<{ count: number; span: number }[]>(
      `SELECT count(*) AS count, extract(epoch FROM max(second) - min(second))::integer AS span FROM answered_seconds`,
    );
    return row ?? { count: 0, span: 0 };
  };

  it('records the seconds in which it answers, at once while a node is silent, and else some together', async () => {
    const record = jest.spyOn(api.app.get(ClusterNodesService), 'recordAnsweredSeconds');
    await eventually(async () => (await recorded()).count >= 10, { what: 'ten seconds' });
    const { count, span } = await recorded();
    // A machine that is busy may miss a second.
    expect(count).toBeGreaterThan(span - 4);
    expect(record.mock.calls.length).toBeLessThanOrEqual(6);

    const nodeId = await makeNode(api.database.manager, await makeTenancy(api.database.manager, 'silent'), 0);
    const sql = `UPDATE cluster_nodes SET last_seen_at = now() - interval '1 minute' WHERE node_id = $1`;
    await api.database.query(sql, [nodeId]);
    record.mockClear();
    await eventually(() => record.mock.calls.length >= 5, { what: 'records' });
    expect(record.mock.calls.slice(2).map(([ages]) => ages)).toEqual(record.mock.calls.slice(2).map(() => [0]));
  });
});
