import { assertAllowed } from './operation-rules';

describe('an operation on a cluster in another state', () => {
  it.each([
    ['start', 'start needs STOPPED.'],
    ['stop', 'stop needs RUNNING, RESIZING_UP or RESIZING_DOWN.'],
  ] as const)('%s is refused with the states that it needs', (operation, rule) => {
    const refused = () => assertAllowed(operation, { name: 'c', status: 'DESTROYED' });
    expect(refused).toThrow(`The cluster "c" is DESTROYED: ${rule}`);
  });
});
