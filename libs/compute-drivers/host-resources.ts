/** Resources of a host that runs nodes, and their use. */
export interface HostResources {
  name: string;
  /** Logical processors. */
  cores: number;
  /** Share of processor time in use, 0 to 1. */
  cpuUsage: number;
  memoryBytes: number;
  memoryUsedBytes: number;
  diskBytes: number;
  diskUsedBytes: number;
}
