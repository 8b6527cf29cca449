import { Pump } from './pump';

/**
 * Work that serves everyone who asked before it began: of many that ask for the same at once, two passes serve all, one
 * after the other.
 */
export class Coalesced<K> {
  private readonly pumps = new Map<K, Pump>();

  /** @param work for one key; must not reject */
  constructor(private readonly work: (key: K) => Promise<void>) {}

  /** Resolves when a pass for the key has ended that began after this call. */
  async run(key: K): Promise<void> {
    const pump = this.pumps.get(key) ?? new Pump(() => this.work(key));
    this.pumps.set(key, pump);
    await pump.run();
    if (pump.isIdle) this.pumps.delete(key);
  }
}
