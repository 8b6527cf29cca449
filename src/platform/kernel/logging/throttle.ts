/** Lets one of many similar log lines pass per interval. */
export class Throttle {
  private passedAt = -Infinity;
  private leftOut = 0;

  constructor(private readonly intervalMs: number) {}

  /** Returns the number of lines left out since the last one if this one passes, else null. */
  pass(): number | null {
    const now = Date.now();
    if (now - this.passedAt < this.intervalMs) {
      this.leftOut += 1;
      return null;
    }
    const { leftOut } = this;
    this.passedAt = now;
    this.leftOut = 0;
    return leftOut;
  }
}
