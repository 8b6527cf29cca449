import type { Cost, CostLine } from 'managed-spark/types';
import { csvOfLines } from './costs-csv';

const cost = (ms: number, amount: number | null): Cost => ({
  node_ms: ms,
  ycu: ms / 1000,
  pricing: amount === null ? 'NO_PRICE' : 'PRICED',
  amount,
  currency: amount === null ? null : 'USD',
});
const NOTHING = {
  ...{ day: null, workspace: null, cluster: null, user: null, run: null },
  ...{ unused_memory: null, idle: null, nodes: null },
};

describe('the lines of costs as CSV', () => {
  it('have what is idle, and all digits', () => {
    const line: CostLine = {
      ...NOTHING,
      day: '2026-05-11',
      runs: cost(3_600_000, 0.000034),
      idle: cost(1, 0),
      nodes: cost(3_600_001, 0.000034),
      unused_memory: { measured_ms: 3_500_000, gib_hours: 0.25, ycu: 0.1, amount: 0.000003 },
    };
    expect(csvOfLines('day', [line], true).split('\r\n')).toEqual([
      'day,runs_node_ms,runs_ycu,runs_amount,idle_node_ms,idle_ycu,idle_amount,nodes_node_ms,nodes_ycu,nodes_amount,unused_memory_measured_ms,unused_memory_gib_hours,unused_memory_ycu,unused_memory_amount,currency',
      '2026-05-11,3600000,3600,0.000034,1,0.001,0,3600001,3600.001,0.000034,3500000,0.25,0.1,0.000003,USD',
      '',
    ]);
  });

  it('name whose a run is, as text that no spreadsheet calculates, and leave out what has no price', () => {
    const line: CostLine = {
      ...NOTHING,
      run: { id: 17, name: '=1+1' },
      workspace: { id: 3, name: 'a,b' },
      cluster: { id: 2, name: 'etl' },
      runs: cost(5, null),
    };
    expect(csvOfLines('run', [line], false)).toBe(`17,'=1+1,3,"a,b",2,etl,,,5,0.005,,,,,,,,,,,,\r\n`);
  });
});
