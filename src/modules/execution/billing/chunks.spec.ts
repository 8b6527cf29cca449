import { nextDays } from './chunks';

describe('nextDays', () => {
  it('grows in steps while there is little to read', () => {
    expect(nextDays(1, 0)).toBe(8);
    expect(nextDays(8, 3)).toBe(64);
    expect(nextDays(300, 0)).toBe(366);
  });

  it('reads about as many lines each time', () => {
    expect(nextDays(1, 1_000)).toBe(8);
    expect(nextDays(8, 16_000)).toBe(4);
  });

  it('never reads less than a day', () => {
    expect(nextDays(1, 1_000_000)).toBe(1);
  });
});
