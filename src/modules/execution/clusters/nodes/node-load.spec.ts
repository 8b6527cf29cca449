import { NOW } from '../../../../platform/kernel/persistence/sql';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { changeOf, NO_LOAD } from './node-load';

const node = (change: Partial<ClusterNode>) =>
  ({ role: 'worker', cores: 4, busy_slots: 0, ...NO_LOAD, ...change }) as ClusterNode;
const load = (change: object) => ({ load: { pending_cores: 0, used_cores: 0, executors: 0, ...change } });

describe('what a report changes of its node', () => {
  it('is nothing where nothing is said, or nothing new', () => {
    expect(changeOf(node({}), {})).toBeNull();
    expect(changeOf(node({ used_cores: 2, executors: 1 }), load({ used_cores: 2, executors: 1 }))).toBeNull();
    expect(changeOf(node({ role: 'master', pending_cores: 3 }), load({ pending_cores: 3 }))).toBeNull();
    expect(changeOf(node({ interrupted_at: new Date() }), { interruption: { detail: '', ends_at: null } })).toBeNull();
  });

  it('is of a worker what its executors have, as far as it can be', () => {
    const told = load({ pending_cores: 9, used_cores: 100, executors: 100 });
    const columns = { used_cores: 4, executors: 4, load_at: NOW, idle_since: null };
    expect(changeOf(node({}), told)).toEqual({ columns, isNews: false });
  });

  it('is of an idle worker since when it is idle', () => {
    expect(changeOf(node({ used_cores: 1, executors: 1 }), load({}))?.columns.idle_since).toBe(NOW);
    expect(changeOf(node({}), load({}))?.columns.idle_since).toBe(NOW);
    // It has been for longer.
    expect(changeOf(node({ used_cores: 0, executors: 1 }), load({}))?.columns.idle_since).toBeUndefined();
  });

  it('is of a master what is asked for, which is news when it grows', () => {
    const master = (pending_cores: number | null) => node({ role: 'master', pending_cores });
    const told = load({ pending_cores: 5, used_cores: 3, executors: 1 });
    expect(changeOf(master(null), told)).toEqual({ columns: { pending_cores: 5, load_at: NOW }, isNews: true });
    expect(changeOf(master(2), told)?.isNews).toBe(true);
    expect(changeOf(master(6), told)?.isNews).toBe(false);
    expect(changeOf(master(null), load({}))?.isNews).toBe(false);
  });

  it('is nothing of nodes of other roles', () => {
    for (const role of ['single', 'master-and-workers'] as const)
      expect(changeOf(node({ role }), load({ pending_cores: 5, used_cores: 3, executors: 1 }))).toBeNull();
  });

  it('is its drain once it is to go and has no run, for the first time', () => {
    const drained = { drained: true };
    const isDrained = (change: Partial<ClusterNode>) => changeOf(node(change), drained);
    expect(isDrained({ draining: true })).toEqual({ columns: { drained_at: NOW }, isNews: true });
    expect(isDrained({})).toBeNull();
    expect(isDrained({ draining: true, busy_slots: 1 })).toBeNull();
    expect(isDrained({ draining: true, drained_at: new Date() })).toBeNull();
  });

  it('is the first notice of an interruption, after which it is to go', () => {
    const interruption = { detail: 'Taken back.', ends_at: null };
    const columns = { interrupted_at: NOW, interruption: 'Taken back.', draining: true };
    expect(changeOf(node({ role: 'single' }), { interruption })).toEqual({ columns, isNews: true });
  });
});
