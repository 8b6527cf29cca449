/** Lines that are read at once, more or less. */
const LINES = 8_000;
/** A period without lines is passed in steps of this many days. */
const MAX_DAYS = 366;

/** How many days to read next, after so many days had so many lines. The first time it is a single one. */
export function nextDays(days: number, lines: number): number {
  const fitting = lines === 0 ? MAX_DAYS : Math.floor((days * LINES) / lines);
  return Math.max(1, Math.min(fitting, days * 8, MAX_DAYS));
}
