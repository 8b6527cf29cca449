import { type DomainError, overloaded } from '../errors/domain-error';

export interface BulkheadLimits {
  /** Error code of a overload. */
  code: string;
  /** Pieces of work under way at once. */
  maxConcurrent: number;
  /** Pieces of work that may wait. */
  maxQueued: number;
  /** How many of them may be one party's. */
  maxQueuedPerParty: number;
  /** The longest wait, milliseconds. */
  queueTimeoutMs: number;
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
  private queued = 0;
  /** Who waits, by party; the party whose turn is next comes first. */
  private readonly queues = new Map<string, Waiter[]>();

  constructor(private readonly limits: BulkheadLimits) {}

  /** Whether nothing is under way, and hence nothing waits. */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /** @param party whose work it is: an address, a user */
  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    if (!this.tryAcquire()) await this.waitInQueue(party);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Takes a place for work that ends when the returned function is called. */
  async acquire(party: string): Promise<() => void> {
    if (!this.tryAcquire()) await this.waitInQueue(party);
    let isInside = true;
    return () => {
      if (isInside) this.release();
      isInside = false;
    };
  }

  private tryAcquire(): boolean {
    if (this.running >= this.limits.maxConcurrent) return false;
    this.running += 1;
    return true;
  }

  private waitInQueue(party: string): Promise<void> {
    const queue = this.queues.get(party) ?? [];
    const { maxQueued, maxQueuedPerParty, queueTimeoutMs } = this.limits;
    const hasPlace =
      queue.length < maxQueuedPerParty && (this.queued < maxQueued || this.displaceFromLongest(queue.length));
    if (!hasPlace) return Promise.reject(this.overload());
    this.queues.set(party, queue);
    return new Promise((resolve, reject) => {
      const leave = (then: () => void) => {
        clearTimeout(timer);
        this.remove(party, waiter);
        then();
      };
      const waiter = { enter: () => leave(resolve), refuse: () => leave(() => reject(this.overload())) };
      const timer = setTimeout(waiter.refuse, queueTimeoutMs);
      queue.push(waiter);
      this.queued += 1;
    });
  }

  /** A place that became free goes to the party whose turn it is, which then comes last. */
  private release(): void {
    const [next] = this.queues;
    if (!next) {
      this.running -= 1;
      return;
    }
    const [party, queue] = next;
    queue[0]?.enter();
    if (queue.length === 0) return;
    this.queues.delete(party);
    this.queues.set(party, queue);
  }

  /**
   * Refuses the last entry of the longest queue in favour of a party with `length` in its own, if that makes them more
   * equal.
   */
  private displaceFromLongest(length: number): boolean {
    let longest: Waiter[] = [];
    for (const queue of this.queues.values()) if (queue.length > longest.length) longest = queue;
    if (longest.length <= length + 1) return false;
    longest.at(-1)?.refuse();
    return true;
  }

  private remove(party: string, waiter: Waiter): void {
    const queue = this.queues.get(party) ?? [];
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) this.queues.delete(party);
    this.queued -= 1;
  }

  private overload(): DomainError {
    const { code, queueTimeoutMs } = this.limits;
    return overloaded(code, 'The server is overloaded at the moment.', Math.ceil(queueTimeoutMs / 1000));
  }
}
