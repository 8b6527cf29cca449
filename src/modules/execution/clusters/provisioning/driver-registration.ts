import type { ComputeDriver } from '../../../../../libs/compute-drivers/compute-driver';

/** A driver, and the limits of its use by this worker. */
export interface DriverRegistration {
  /** Returns why this worker cannot use the driver; null if it can. */
  disabledReason(): string | null;
  /** True if another worker can use the driver now. Absent for drivers that every worker can use. */
  isHeldElsewhere?(): Promise<boolean>;
  /** Returns why machines at this endpoint cannot become nodes; null if they can. Existing machines can still be removed. */
  unreachableReason(endpoint: string | null): string | null;
  isolatesTenants: boolean;
  /** Creates the driver at its first use. The SDKs of providers are large, so they are imported here. */
  make(): Promise<ComputeDriver>;
}
