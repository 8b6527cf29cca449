import type { ComputeDriver } from '../../../../libs/compute-drivers/compute-driver';

/** A driver as this worker has it. */
export interface DriverRegistration {
  /** What keeps this worker from using it for an environment with this endpoint; null if nothing does. */
  disabled(endpoint: string | null): string | null;
  /** Whether its nodes isolate different tenants from each other. */
  keepsTenantsApart: boolean;
  /** Makes it at its first use, and imports what its provider's library is: those are large. */
  make(): Promise<ComputeDriver>;
}
