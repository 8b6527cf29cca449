import { goingOnWithout } from './probes';

describe('goingOnWithout', () => {
  it('says what a process that works goes on without, and nothing but the fault of one that does not', () => {
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
