const DAY_MS = 86_400_000;

/** Days are UTC and texts such as `2026-01-31`, which sort like time. */
const millisecondsOf = (day: string) => Date.parse(`${day}T00:00:00Z`);

export function addDays(day: string, days: number): string {
  return new Date(millisecondsOf(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the number of days from one day to another, both included. */
export function daysBetween(from: string, until: string): number {
  return (millisecondsOf(until) - millisecondsOf(from)) / DAY_MS + 1;
}

/** Returns the months from one day to another, each with its first and last day. */
export function monthsBetween(from: string, until: string): { first: string; last: string }[] {
  const months: { first: string; last: string }[] = [];
  for (let first = monthOf(from); first <= until; first = nextMonth(first))
    months.push({ first, last: addDays(nextMonth(first), -1) });
  return months;
}

export function monthOf(day: string): string {
  return `${day.slice(0, 7)}-01`;
}

function nextMonth(first: string): string {
  return monthOf(addDays(first, 31));
}
