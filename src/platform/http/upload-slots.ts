import { type DomainError, tooMany } from '../kernel/errors/domain-error';
import { KeyedSlots, type SlotLimits } from './connections/keyed-slots';

const RETRY_AFTER_SECONDS = 10;

/**
 * Bounds the uploads of one kind that this process has under way, and always leaves half of the slots to other tenants.
 * One too many is refused rather than kept waiting: a client whose bytes nobody reads runs into its own time limits and
 * those of the proxies in between.
 */
export class UploadSlots {
  private readonly slots: KeyedSlots;
  private readonly limits: SlotLimits;

  /** @param code error code of the refusal */
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
      throw this.refusal(`Too many uploads are under way on this server (at most ${this.limits.all} at once).`);
    if (slot === 'perKey')
      throw this.refusal(`Too many uploads of your tenant are under way (at most ${this.limits.perKey} at once).`);
    try {
      return await upload();
    } finally {
      slot();
    }
  }

  private refusal(what: string): DomainError {
    return tooMany(this.code, `${what} Send it again in a few seconds.`, RETRY_AFTER_SECONDS);
  }
}
