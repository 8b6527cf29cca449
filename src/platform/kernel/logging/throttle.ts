/** Lets one of many alike log lines pass in so many milliseconds. */
export class Throttle {
  private passedAt = -Infinity;
  private leftOut = 0;

  constructor(private readonly everyMs: number) {}

  /** How many were left out since the last line, if this one passes; else null. */
  pass(): number | null {
    const now = Date.now();
    if (now - this.passedAt < this.everyMs) {
      this.leftOut += 1;
      return null;
    }
    const { leftOut } = this;
    this.passedAt = now;
    this.leftOut = 0;
    return leftOut;
  }
}
