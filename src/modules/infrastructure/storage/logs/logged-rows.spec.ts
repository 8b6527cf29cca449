import '../../../../database/entities';
import { loggedRows } from './logged-rows';

describe('Rows with logs', () => {
  it('are nodes and runs, with the columns that the sweepers of logs write', () => {
    expect(loggedRows().toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual([
      { kind: 'node', table: 'cluster_nodes', key: 'node_id', endedAt: 'to_date' },
      { kind: 'run', table: 'runs', key: 'run_id', endedAt: 'ended_at' },
    ]);
  });
});
