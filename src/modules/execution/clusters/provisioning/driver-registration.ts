import type { ComputeDriver } from '../../../../../libs/compute-drivers/compute-driver';

/** A driver as this worker has it. */
export interface DriverRegistration {
  /** What keeps this worker from using it; null if nothing does. */
  disabled(): string | null;
  /**
   * Whether another worker can use the driver now, if this one cannot; absent for drivers that do not depend on the
   * worker.
   */
  isHeldElsewhere?(): Promise<boolean>;
  /**
   * What keeps machines at this endpoint from becoming nodes; null if nothing does. They can be removed all the same.
   */
  cutOff(endpoint: string | null): string | null;
  /** Whether its nodes isolate different tenants from each other. */
  keepsTenantsApart: boolean;
  /** Makes it at its first use, and imports what its provider's library is: those are large. */
  make(): Promise<ComputeDriver>;
}
