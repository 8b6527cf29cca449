import '../../../../database/entities';
import { logOwnerTables } from './log-owner-tables';

describe('logOwnerTables', () => {
  it('returns nodes and runs with the columns that log sweepers use', () => {
    expect(logOwnerTables().toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual([
      { kind: 'node', table: 'cluster_nodes', key: 'node_id', endedAt: 'to_date' },
      { kind: 'run', table: 'runs', key: 'run_id', endedAt: 'ended_at' },
    ]);
  });
});
