import { DomainError } from '../errors/domain-error';

const RETRY_AFTER_SECONDS = 10;

/**
 * Bounds the uploads of one kind that this process has under way, and leaves half of them to other tenants, whoever asks
 * for how many. One too many is refused rather than kept waiting: a client whose bytes nobody takes runs into time
 * limits of its own and of the proxies in between.
 */
export class UploadSlots {
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  private readonly ofOneTenant: number;

  /** @param code error code of the refusal */
  constructor(
    private readonly limit: number,
    private readonly code: string,
  ) {
    this.ofOneTenant = Math.ceil(limit / 2);
  }

  async run<T>(tenantId: string, upload: () => Promise<T>): Promise<T> {
    const own = this.takenBy.get(tenantId) ?? 0;
    if (this.taken >= this.limit) throw this.refusal(`As many uploads as this server takes at once (${this.limit})`);
    if (own >= this.ofOneTenant) throw this.refusal(`As many uploads as a tenant has at once (${this.ofOneTenant})`);
    this.change(tenantId, 1);
    try {
      return await upload();
    } finally {
      this.change(tenantId, -1);
    }
  }

  private change(tenantId: string, by: 1 | -1): void {
    const own = (this.takenBy.get(tenantId) ?? 0) + by;
    this.taken += by;
    if (own === 0) this.takenBy.delete(tenantId);
    else this.takenBy.set(tenantId, own);
  }

  private refusal(what: string): DomainError {
    return new DomainError('rate-limited', this.code, `${what} are under way. Send it again in some seconds.`, {
      retry_after_seconds: RETRY_AFTER_SECONDS,
    });
  }
}
