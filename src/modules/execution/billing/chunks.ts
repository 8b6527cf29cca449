const LINES_PER_READ = 8_000;
/** Maximum number of days that are read at once, which limits the steps through a period without lines. */
const MAX_DAYS = 366;

/** Returns the number of days to read next, after `days` days had `lines` lines. The first read is a single day. */
export function nextDays(days: number, lines: number): number {
  const fitting = lines === 0 ? MAX_DAYS : Math.floor((days * LINES_PER_READ) / lines);
  return Math.max(1, Math.min(fitting, days * 8, MAX_DAYS));
}
