import { mainActionOf, reasonOf } from './cluster-states';
import { CLUSTER_STATUSES } from './clusters-search';

describe('the actions of a cluster', () => {
  it('are what the API takes in its state', () => {
    const allowed = (action: 'start' | 'stop' | 'destroy' | 'restore' | 'resize') =>
      CLUSTER_STATUSES.filter((status) => reasonOf(action, status) === null);
    expect(allowed('start')).toEqual(['STOPPED']);
    expect(allowed('stop')).toEqual(['RUNNING']);
    expect(allowed('destroy')).toEqual(['RUNNING', 'STOPPED', 'ERROR']);
    expect(allowed('restore')).toEqual(['DESTROYED']);
    expect(allowed('resize')).toEqual(['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN']);
  });

  it('say when a state that forbids them is over', () => {
    expect(reasonOf('stop', 'INITIATING')).toBe('The cluster is INITIATING. It can be stopped when it is RUNNING.');
    expect(reasonOf('start', 'ERROR')).toMatch(/Destroy it, and set it up again/);
  });

  it('come one after the other', () => {
    expect(Object.fromEntries(CLUSTER_STATUSES.map((status) => [status, mainActionOf(status)]))).toEqual({
      INITIATING: 'stop',
      RUNNING: 'stop',
      RESIZING_UP: 'stop',
      RESIZING_DOWN: 'stop',
      STOPPING: 'start',
      STOPPED: 'start',
      ERROR: 'start',
      DESTROYING: 'restore',
      DESTROYED: 'restore',
    });
  });
});
