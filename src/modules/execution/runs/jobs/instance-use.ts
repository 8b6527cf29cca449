/** Asks the domain of kernels which notebook instances do nothing. The answer is SQL about the row of a run that is RUNNING. */
export abstract class InstanceUse {
  /** SQL condition that the instance has had neither work nor a client for the time. @param time interval, as SQL */
  abstract isIdle(run: string, time: string): string;
}
