export { BillingService } from './billing.service';
export type { PricedPeriod } from './usage.repository';
export {
  dayOf,
  endOf,
  HOUR,
  lastDayOf,
  milliseconds,
  msBetween,
  rounded,
  SIX_DECIMALS,
  startOf,
  staysBetween,
} from './sums.joins';
export { type StayPosition, tenantStays } from './tenant-stays.joins';
export { pricedPeriods } from './unit-prices';
export { usageDays, type UsagePeriod } from './usage-days.joins';
