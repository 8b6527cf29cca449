/** What a machine that runs nodes has, and how much of it is in use. */
export interface HostResources {
  name: string;
  /** Logical processors. */
  cores: number;
  /** Share of the processors' time in use, 0 to 1. */
  cpuUsage: number;
  memoryBytes: number;
  memoryUsedBytes: number;
  diskBytes: number;
  diskUsedBytes: number;
}
