/** Minimum memory of a Spark driver; with less, it does not start or cannot do useful work; MiB. */
export const MIN_DRIVER_MB = 512;
/** Memory for the system and the agent of a node; on a small machine, a quarter of its memory if that is less; MiB. */
const RESERVED_MB = 1024;

/** Returns the driver memory of each parallel job that does not set its own; MiB. */
export function driverMemoryMb(machineMb: number, parallelJobs: number): number {
  return Math.floor((machineMb - Math.min(RESERVED_MB, machineMb / 4)) / parallelJobs);
}
