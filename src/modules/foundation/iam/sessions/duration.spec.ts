import { expiryOf, parseDuration } from './duration';

describe('parseDuration', () => {
  it.each([
    ['48h', 172_800_000],
    ['1700s', 1_700_000],
    ['30 days', 2_592_000_000],
    ['1 day', 86_400_000],
    ['5m', 300_000],
    ['90 Minutes', 5_400_000],
    ['2 hours', 7_200_000],
    ['10 seconds', 10_000],
    ['7d', 604_800_000],
    [' 1 h ', 3_600_000],
    ['infinity', Infinity],
    ['Infinity', Infinity],
  ])('reads %p', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '48', 'h', '-1h', '0s', '1.5h', '2 weeks', '9999999999d', '99999 days', '1h 30m', 'infinite', 'NaN'])(
    'refuses %p',
    (text) => {
      expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'REQUEST.INVALID_DURATION' }));
    },
  );
});

describe('expiryOf', () => {
  const start = new Date('2026-01-01T00:00:00.250Z');

  it('rounds up to whole seconds', () => {
    expect(expiryOf(start, 60_000)).toEqual(new Date('2026-01-01T00:01:01Z'));
  });

  it('is null for an infinite duration', () => {
    expect(expiryOf(start, Infinity)).toBeNull();
  });
});
