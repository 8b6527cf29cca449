import { addDays, daysBetween, monthsBetween } from './calendar';

describe('the calendar of billing', () => {
  it('counts over months, leap days and years', () => {
    expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
    expect(daysBetween('2026-01-01', '2026-12-31')).toBe(365);
    expect(daysBetween('2026-01-01', '2026-01-01')).toBe(1);
  });

  it('lists the months of a period, whatever its days', () => {
    expect(monthsBetween('2026-12-31', '2027-02-01')).toEqual([
      { first: '2026-12-01', last: '2026-12-31' },
      { first: '2027-01-01', last: '2027-01-31' },
      { first: '2027-02-01', last: '2027-02-28' },
    ]);
  });
});
