/** Below this a driver of Spark does not start, or does nothing useful; MiB. */
export const MIN_DRIVER_MB = 512;
/** What system and agent of a node keep: so much, or a quarter of a small machine; MiB. */
const KEPT_MB = 1024;

/** Memory of each of the jobs that a machine may run at once, as far as none of them names its own; MiB. */
export function driverMemoryMb(machineMb: number, parallelJobs: number): number {
  return Math.floor((machineMb - Math.min(KEPT_MB, machineMb / 4)) / parallelJobs);
}
