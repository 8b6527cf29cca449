import { type DomainError, overloaded } from '../errors/domain-error';

export interface BulkheadLimits {
  /** Error code of the 503. */
  code: string;
  /** Tasks that may run at once. */
  maxConcurrent: number;
  /** Tasks that may wait. */
  maxQueued: number;
  /** Tasks of one party that may wait. */
  maxQueuedPerParty: number;
  /** The longest wait, milliseconds. */
  queueTimeoutMs: number;
}

interface Waiter {
  enter(): void;
  refuse(): void;
}

/**
 * Bounds the tasks that use a scarce resource at once, and those that wait for it. Parties take turns, and in a full queue
 * the party with the most tasks loses a place to one with fewer, so a party with many tasks delays only itself. A task
 * that finds no place, or waits too long, is refused with a 503 that says when to try again.
 */
export class FairBulkhead {
  private running = 0;
  private queued = 0;
  /** Waiting tasks by party. The party whose turn is next comes first. */
  private readonly queues = new Map<string, Waiter[]>();

  constructor(private readonly limits: BulkheadLimits) {}

  /** True if nothing runs, so that nothing waits either. */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /** @param party owner of the task, such as an address or a user */
  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    if (!this.tryAcquire()) await this.waitInQueue(party);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Waits for a place, which the returned function gives back. */
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
    if (!hasPlace) return Promise.reject(this.overloadError());
    this.queues.set(party, queue);
    return new Promise((resolve, reject) => {
      const leave = (then: () => void) => {
        clearTimeout(timer);
        this.remove(party, waiter);
        then();
      };
      const waiter = { enter: () => leave(resolve), refuse: () => leave(() => reject(this.overloadError())) };
      const timer = setTimeout(waiter.refuse, queueTimeoutMs);
      queue.push(waiter);
      this.queued += 1;
    });
  }

  /** Gives a free place to the party whose turn it is, which then comes last. */
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

  /** Refuses the last task of the longest queue if that is longer by more than one than a queue of `length` tasks. */
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

  private overloadError(): DomainError {
    const { code, queueTimeoutMs } = this.limits;
    return overloaded(
      code,
      'The server is overloaded. Send the request again later.',
      Math.ceil(queueTimeoutMs / 1000),
    );
  }
}
