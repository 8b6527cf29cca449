/** Which notebook instances do nothing, asked of the domain of their kernels: SQL about the row of a run that runs. */
export abstract class InstanceUse {
  /** Condition that it has had neither work nor a client for so long. @param time SQL of an interval */
  abstract isIdle(run: string, time: string): string;
}
