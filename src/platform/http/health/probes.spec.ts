import { withDegradation } from './probes';

describe('withDegradation', () => {
  it('adds the problem to the message of a ready process, but not to that of one that is not ready', () => {
    expect(withDegradation({ ready: true, message: 'OK' }, 'No nodes.')).toEqual({
      ready: true,
      message: 'OK. No nodes.',
    });
    const [works, fails] = [
      { ready: true, message: 'OK' },
      { ready: false, message: 'Stopping' },
    ];
    expect([withDegradation(works, null), withDegradation(fails, 'No nodes.')]).toEqual([works, fails]);
  });
});
