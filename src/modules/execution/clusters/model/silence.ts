import type { Config } from '../../../../config/config';

/** Limits of the silence of a node: when it counts as silent, and when as lost. */
export interface Silence {
  /** Silence by the clock, milliseconds. */
  ms: number;
  /**
   * Seconds of silence in which the platform answered agents. At other times, the platform itself may have been silent.
   */
  answeredSeconds: number;
  /** Number of such seconds after which the node is lost. */
  lostAfterSeconds: number;
}

/** Silence after which a node is checked, long before it counts as lost; milliseconds. */
const SILENT_AFTER_MS = 35_000;
/** Time within that silence in which the platform itself must have answered, so that agents can reconnect after an outage. */
const RECONNECT_GRACE_MS = 10_000;

export function silenceLimits({ leaseMs, leaseMarginMs }: Pick<Config['agent'], 'leaseMs' | 'leaseMarginMs'>): Silence {
  const ms = Math.min(SILENT_AFTER_MS, leaseMs / 2);
  const answeredSeconds = Math.ceil(Math.min(RECONNECT_GRACE_MS, ms) / 1000);
  return { ms, answeredSeconds, lostAfterSeconds: Math.ceil((leaseMs + leaseMarginMs) / 1000) };
}
