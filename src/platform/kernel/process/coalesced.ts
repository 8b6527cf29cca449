import { runForAll } from '../context/request-context';

interface Passes {
  current: Promise<void>;
  next: Promise<void> | null;
}

/**
 * Work that serves everyone who asked before it began: of many that ask for the same at once, two passes serve all, one
 * after the other.
 */
export class Coalesced<K> {
  private readonly passes = new Map<K, Passes>();

  /** @param work for one key; must not reject */
  constructor(private readonly work: (key: K) => Promise<void>) {}

  /** Resolves when a pass for the key has ended that began after this call. */
  run(key: K): Promise<void> {
    const passes = this.passes.get(key);
    if (!passes) return this.begin(key);
    passes.next ??= passes.current.then(() => this.begin(key));
    return passes.next;
  }

  private begin(key: K): Promise<void> {
    const passes: Passes = { current: Promise.resolve(), next: null };
    this.passes.set(key, passes);
    passes.current = runForAll(() => this.work(key)).then(() => {
      if (passes.next === null) this.passes.delete(key);
    });
    return passes.current;
  }
}
