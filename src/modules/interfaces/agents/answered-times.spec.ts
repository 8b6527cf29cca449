import { AnsweredTimes } from './answered-times';

describe('the times at which a process answered agents', () => {
  let times: AnsweredTimes;
  beforeEach(() => {
    times = new AnsweredTimes(5_000);
  });

  /** Polls at each of these seconds, and returns the seconds that count by the last of them. */
  function poll(...seconds: number[]): number[] {
    const counted: number[] = [];
    for (const second of seconds) {
      const at = second * 1_000;
      if (!times.mustReach(at)) times.answered(at);
      else counted.push(...times.reached(at, at + 10).map((age) => Math.floor((at + 10 - age) / 1_000)));
    }
    return counted;
  }

  it('count all, though few reach the database', () => {
    expect([0, 1, 2, 3, 4, 5].map((second) => poll(second))).toEqual([[0], [], [], [], [], [1, 2, 3, 4, 5]]);
    expect(poll(6, 7, 8, 9, 10, 11)).toEqual([6, 7, 8, 9, 10]);
  });

  it('reach the database each second while each second counts', () => {
    poll(0);
    times.reachAlways(true);
    expect([1, 2].map((second) => poll(second))).toEqual([[1], [2]]);
    times.reachAlways(false);
    expect(poll(3, 4)).toEqual([]);
  });

  it('do not count those between a failure and the last time that the database answered', () => {
    poll(0, 1, 2, 3);
    times.failed();
    expect(poll(4, 5, 6, 9)).toEqual([4, 5, 6, 9]);
  });

  it('do not count what precedes a slow answer, or a time in which the process stood still', () => {
    poll(0, 1, 2, 3, 4);
    expect(times.reached(5_000, 6_500)).toEqual([0]);
    poll(6, 7);
    expect(poll(60)).toEqual([60]);
  });

  it('all reach the database if the interval is short', () => {
    times = new AnsweredTimes(1_000);
    expect([0, 1, 2].map((second) => poll(second))).toEqual([[0], [1], [2]]);
  });
});
