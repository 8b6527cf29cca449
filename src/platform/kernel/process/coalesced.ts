import { Pump } from './pump';

/**
 * Runs work once for all callers that came before it began: many simultaneous callers for one key are served by two passes,
 * one after the other.
 */
export class Coalesced<K> {
  private readonly pumps = new Map<K, Pump>();

  /** @param work does the work of one key; must not reject */
  constructor(private readonly work: (key: K) => Promise<void>) {}

  /** Resolves when a pass of the key that began after this call has ended. */
  async run(key: K): Promise<void> {
    const pump = this.pumps.get(key) ?? new Pump(() => this.work(key));
    this.pumps.set(key, pump);
    await pump.run();
    if (pump.isIdle) this.pumps.delete(key);
  }
}
