import { whyNotStopped } from './run-states';

describe('a run', () => {
  it('can be stopped until it ends', () => {
    expect([whyNotStopped('SUBMITTED'), whyNotStopped('RUNNING')]).toEqual([null, null]);
    expect(whyNotStopped('KILLING')).toBe('The run is being ended: it is KILLING.');
    expect(whyNotStopped('DONE')).toBe('The run has ended: it is DONE.');
  });
});
