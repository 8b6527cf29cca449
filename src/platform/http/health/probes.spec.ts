import { goingOnWithout } from './probes';

describe('goingOnWithout', () => {
  it('adds what a ready process works without, and only the fault of one that is not ready', () => {
    expect(goingOnWithout({ ready: true, message: 'OK' }, 'No nodes.')).toEqual({
      ready: true,
      message: 'OK. No nodes.',
    });
    const [works, fails] = [
      { ready: true, message: 'OK' },
      { ready: false, message: 'Stopping' },
    ];
    expect([goingOnWithout(works, null), goingOnWithout(fails, 'No nodes.')]).toEqual([works, fails]);
  });
});
