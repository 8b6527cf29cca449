import { CLUSTER_STATUSES, isResizable } from '../model/cluster-state';
import { assertAllowed, assertResizable } from './operation-rules';

describe('an operation on a cluster in another state', () => {
  it.each([
    ['start', 'start needs STOPPED.'],
    ['stop', 'stop needs RUNNING, RESIZING_UP or RESIZING_DOWN.'],
  ] as const)('%s is refused with the states that it needs', (operation, rule) => {
    const refused = () => assertAllowed(operation, { name: 'c', status: 'DESTROYED' });
    expect(refused).toThrow(`The cluster "c" is DESTROYED: ${rule}`);
  });

  it.each(CLUSTER_STATUSES.filter((status) => !isResizable(status)))(
    'a resize is refused in %s, with what to do instead',
    (status) => {
      const refused = () => assertResizable({ name: 'c', status });
      expect(refused).toThrow(/: resize needs RUNNING, RESIZING_UP or RESIZING_DOWN\. (Wait|Start|Change) .*\.$/);
    },
  );
});
