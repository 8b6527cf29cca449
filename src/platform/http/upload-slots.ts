import { type DomainError, tooMany } from '../kernel/errors/domain-error';
import { KeyedSlots, type SlotLimits } from './connections/keyed-slots';

const RETRY_AFTER_SECONDS = 10;

/**
 * Bounds the concurrent uploads of one kind in this process, and always leaves half of the slots to other tenants. One more
 * is refused instead of queued, because a client whose bytes nobody reads runs into its own timeouts and those of proxies.
 */
export class UploadSlots {
  private readonly slots: KeyedSlots;
  private readonly limits: SlotLimits;

  /** @param code error code of the 429 */
  constructor(
    limit: number,
    private readonly code: string,
  ) {
    this.limits = { all: limit, perKey: Math.ceil(limit / 2) };
    this.slots = new KeyedSlots(this.limits);
  }

  async run<T>(tenantId: string, upload: () => Promise<T>): Promise<T> {
    const slot = this.slots.take(tenantId);
    if (slot === 'all')
      throw this.refusal(`This server already receives ${this.limits.all} uploads, which is its limit.`);
    if (slot === 'perKey')
      throw this.refusal(
        `This server already receives ${this.limits.perKey} uploads of your tenant, which is the limit.`,
      );
    try {
      return await upload();
    } finally {
      slot();
    }
  }

  private refusal(reason: string): DomainError {
    return tooMany(this.code, `${reason} Send the file again in a few seconds.`, RETRY_AFTER_SECONDS);
  }
}
