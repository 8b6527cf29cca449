import { MAX_WARM_DRIVERS } from '../../../../config/compute.config';
import { NOW } from '../../../../platform/kernel/persistence/sql';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { changeOf, NO_LOAD } from './node-load';

const node = (change: Partial<ClusterNode>) =>
  ({ role: 'worker', cores: 4, busy_slots: 0, warm_starts: 0, cold_starts: 0, ...NO_LOAD, ...change }) as ClusterNode;
const load = (change: object) => ({ load: { pending_cores: 0, used_cores: 0, executors: 0, ...change } });

describe('the changes of a node by a report', () => {
  it('are null if the report says nothing, or nothing new', () => {
    expect(changeOf(node({}), {})).toBeNull();
    expect(changeOf(node({ used_cores: 2, executors: 1 }), load({ used_cores: 2, executors: 1 }))).toBeNull();
    expect(changeOf(node({ role: 'master', pending_cores: 3 }), load({ pending_cores: 3 }))).toBeNull();
    expect(changeOf(node({ interrupted_at: new Date() }), { interruption: { detail: '', ends_at: null } })).toBeNull();
  });

  it('hold the cores of a worker that its executors have, capped by its own', () => {
    const report = load({ pending_cores: 9, used_cores: 100, executors: 100 });
    const columns = { used_cores: 4, executors: 4, load_at: NOW, idle_since: null };
    expect(changeOf(node({}), report)).toEqual({ columns, needsScalingDecision: false });
  });

  it('hold since when a worker is idle', () => {
    expect(changeOf(node({ used_cores: 1, executors: 1 }), load({}))?.columns.idle_since).toBe(NOW);
    expect(changeOf(node({}), load({}))?.columns.idle_since).toBe(NOW);
    // The worker was idle before.
    expect(changeOf(node({ used_cores: 0, executors: 1 }), load({}))?.columns.idle_since).toBeUndefined();
  });

  it('hold the requested cores of a master, and need a scaling decision if they grow', () => {
    const master = (pending_cores: number | null) => node({ role: 'master', pending_cores });
    const report = load({ pending_cores: 5, used_cores: 3, executors: 1 });
    expect(changeOf(master(null), report)).toEqual({
      columns: { pending_cores: 5, load_at: NOW },
      needsScalingDecision: true,
    });
    expect(changeOf(master(2), report)?.needsScalingDecision).toBe(true);
    expect(changeOf(master(6), report)?.needsScalingDecision).toBe(false);
    expect(changeOf(master(null), load({}))?.needsScalingDecision).toBe(false);
  });

  it('are null for nodes of other roles', () => {
    for (const role of ['single', 'master-and-workers'] as const)
      expect(changeOf(node({ role }), load({ pending_cores: 5, used_cores: 3, executors: 1 }))).toBeNull();
  });

  it('hold the warm drivers of a node that runs drivers, capped by what the platform ever wants', () => {
    const columnsOf = (change: Partial<ClusterNode>, report: object) => changeOf(node(change), report)?.columns;
    for (const role of ['single', 'master', 'master-and-workers'] as const)
      expect(columnsOf({ role }, { warm_drivers: 1 })).toEqual({ warm_drivers: 1 });
    expect(columnsOf({ role: 'single' }, { warm_drivers: 1_000 })).toEqual({ warm_drivers: MAX_WARM_DRIVERS });
    expect(columnsOf({ role: 'single', warm_drivers: 1 }, {})).toEqual({ warm_drivers: null });
    expect(columnsOf({ role: 'single', warm_drivers: 1 }, { warm_drivers: 1 })).toBeUndefined();
    expect(columnsOf({ role: 'worker' }, { warm_drivers: 1 })).toBeUndefined();
  });

  it('add the starts of its runs', () => {
    const single = node({ role: 'single', warm_starts: 5, cold_starts: 7 });
    expect(changeOf(single, { starts: { warm: 1, cold: 2 } })).toEqual({
      columns: { warm_starts: 6, cold_starts: 9 },
      needsScalingDecision: false,
    });
    expect(changeOf(single, { starts: { warm: 0, cold: 1 } })?.columns).toEqual({ cold_starts: 8 });
    expect(changeOf(single, { starts: { warm: 0, cold: 0 } })).toBeNull();
  });

  it('hold the end of the drain once, if the node is draining and has no run', () => {
    const drained = { drained: true };
    const isDrained = (change: Partial<ClusterNode>) => changeOf(node(change), drained);
    expect(isDrained({ draining: true })).toEqual({ columns: { drained_at: NOW }, needsScalingDecision: true });
    expect(isDrained({})).toBeNull();
    expect(isDrained({ draining: true, busy_slots: 1 })).toBeNull();
    expect(isDrained({ draining: true, drained_at: new Date() })).toBeNull();
  });

  it('hold the first notice of an interruption, after which the node drains', () => {
    const interruption = { detail: 'Taken back.', ends_at: null };
    const columns = { interrupted_at: NOW, interruption: 'Taken back.', draining: true };
    expect(changeOf(node({ role: 'single' }), { interruption })).toEqual({ columns, needsScalingDecision: true });
  });
});
