/** Says which notebook instances are idle. The notebooks domain implements it, since it knows the kernels. */
export abstract class InstanceUse {
  /**
   * Returns an SQL condition: the instance has had neither work nor a client for this time.
   * @param run alias of a row of `runs` that is RUNNING
   * @param time SQL interval
   */
  abstract isIdle(run: string, time: string): string;
}
