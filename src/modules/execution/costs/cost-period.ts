import { invalid } from '../../../platform/kernel/errors/domain-error';

/** Maximum length of a period, in days. */
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

/** Throws a 400 unless the period has between one day and as many as a report may have. Both days are included. */
export function assertCostPeriod(from: string, until: string): void {
  if (from > until) throw invalid('COST.INVALID_PERIOD', '"from" must not be after "until".');
  const days = (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;
  if (days > MAX_DAYS)
    throw invalid('COST.PERIOD_TOO_LONG', `"from" and "until" may be at most ${MAX_DAYS} days apart, not ${days}.`, {
      max_days: MAX_DAYS,
    });
}
