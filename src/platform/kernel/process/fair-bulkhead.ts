import { type DomainError, overloaded } from '../errors/domain-error';

export interface BulkheadLimits {
  /** Error code of a refusal. */
  code: string;
  /** Pieces of work under way at once. */
  atOnce: number;
  /** Pieces of work that may wait. */
  waiting: number;
  /** How many of them may be one party's. */
  waitingOfOne: number;
  /** The longest wait, milliseconds. */
  patienceMs: number;
}

interface Waiter {
  enter(): void;
  refuse(): void;
}

/**
 * Bounds how much of a scarce resource is used at once, and how many wait for it. Parties take turns, and in a full
 * queue the party with the most entries loses a place to one with fewer: one that asks for a lot keeps only itself
 * waiting. What finds no place, or waits too long, is a 503 that says when to try again.
 */
export class FairBulkhead {
  private running = 0;
  private waiting = 0;
  /** Who waits, by party; the party whose turn is next comes first. */
  private readonly lines = new Map<string, Waiter[]>();

  constructor(private readonly limits: BulkheadLimits) {}

  /** Whether nothing is under way, and hence nothing waits. */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /** @param party whose work it is: an address, a user */
  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    if (!this.takeFree()) await this.turnOf(party);
    try {
      return await work();
    } finally {
      this.passOn();
    }
  }

  /** Takes a place for work that ends when the returned function is called. */
  async enter(party: string): Promise<() => void> {
    if (!this.takeFree()) await this.turnOf(party);
    let isInside = true;
    return () => {
      if (isInside) this.passOn();
      isInside = false;
    };
  }

  private takeFree(): boolean {
    if (this.running >= this.limits.atOnce) return false;
    this.running += 1;
    return true;
  }

  private turnOf(party: string): Promise<void> {
    const line = this.lines.get(party) ?? [];
    const { waiting, waitingOfOne, patienceMs } = this.limits;
    const hasPlace = line.length < waitingOfOne && (this.waiting < waiting || this.takesPlaceFromLongest(line.length));
    if (!hasPlace) return Promise.reject(this.refusal());
    this.lines.set(party, line);
    return new Promise((resolve, reject) => {
      const leave = (then: () => void) => {
        clearTimeout(timer);
        this.remove(party, waiter);
        then();
      };
      const waiter = { enter: () => leave(resolve), refuse: () => leave(() => reject(this.refusal())) };
      const timer = setTimeout(waiter.refuse, patienceMs);
      line.push(waiter);
      this.waiting += 1;
    });
  }

  /** A place that became free goes to the party whose turn it is, which then comes last. */
  private passOn(): void {
    const [next] = this.lines;
    if (!next) {
      this.running -= 1;
      return;
    }
    const [party, line] = next;
    line[0]?.enter();
    if (line.length === 0) return;
    this.lines.delete(party);
    this.lines.set(party, line);
  }

  /**
   * Refuses the last entry of the longest queue in favour of a party with `length` in its own, if that makes them more
   * equal.
   */
  private takesPlaceFromLongest(length: number): boolean {
    let longest: Waiter[] = [];
    for (const line of this.lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= length + 1) return false;
    longest.at(-1)?.refuse();
    return true;
  }

  private remove(party: string, waiter: Waiter): void {
    const line = this.lines.get(party) ?? [];
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) this.lines.delete(party);
    this.waiting -= 1;
  }

  private refusal(): DomainError {
    const { code, patienceMs } = this.limits;
    return overloaded(code, 'The server is overloaded at the moment.', Math.ceil(patienceMs / 1000));
  }
}
