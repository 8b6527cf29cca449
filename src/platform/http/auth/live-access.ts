import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { Pump } from '../../kernel/process/pump';
import { PgListener } from '../../kernel/notifications/pg-listener';
import type { AuthenticatedRequest } from './request-principal';

/** Twice as often as what has lost its access must end. */
const EVERY_MS = 500;
/** Rest between two checks, however many wake-ups come. */
const REST_MS = 100;
const CHECK_WITHIN_MS = 5_000;
/** How long nobody is cut off although nothing can be checked: the database may just be restarting. */
const UNCHECKED_MS = 15_000;

/** Looks again at requests that it has admitted. */
export interface AccessChecker {
  /**
   * For each request why it would no longer be admitted; null if it would. The cost grows with the number of callers.
   */
  recheck(requests: readonly AuthenticatedRequest[]): Promise<(DomainError | null)[]>;
}

type End = (reason: DomainError) => void;

/**
 * Ends what stays open after the guard admitted it, streams and upgrades, once it would no longer be admitted: at the
 * wake-up `session`, and otherwise within a second, all of them in one check.
 */
@Injectable()
export class LiveAccess implements OnModuleInit, OnApplicationShutdown {
  private readonly open = new Map<AuthenticatedRequest, End>();
  private checker: AccessChecker | null = null;
  private readonly checks = new Pump(() => this.check(), {
    intervalMs: EVERY_MS,
    minPauseMs: REST_MS,
    failed: (error) => this.onFailure(error),
  });
  /** By the monotonic clock. */
  private checkedAt = 0;
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly listener: PgListener,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.stopListening = this.listener.on('session', () => this.checks.wake());
  }

  onApplicationShutdown(): void {
    this.stopListening();
    void this.checks.stop();
  }

  /**
   * The class that admits requests registers itself: it knows the providers of callers, which the platform does not.
   */
  setChecker(checker: AccessChecker): void {
    this.checker = checker;
  }

  /**
   * Watches an admitted request until the returned function is called; `end` is called once, when it is no longer
   * admitted.
   */
  watch(request: AuthenticatedRequest, end: End): () => void {
    if (this.open.size === 0) this.checkedAt = performance.now();
    this.open.set(request, end);
    this.checks.wake(EVERY_MS);
    return () => this.open.delete(request);
  }

  private async check(): Promise<void> {
    if (!this.checker || this.open.size === 0) return;
    const requests = [...this.open.keys()];
    const startedAt = performance.now();
    const refusals = await within(CHECK_WITHIN_MS, this.checker.recheck(requests));
    this.checkedAt = startedAt;
    requests.forEach((request, index) => this.endIf(request, refusals[index] ?? null));
  }

  private onFailure(error: unknown): void {
    if (performance.now() - this.checkedAt < UNCHECKED_MS) return;
    this.logger.error({ err: error, open: this.open.size }, 'Open streams are ended: their access cannot be checked');
    const text = 'Your access could not be checked. Send the request again later.';
    for (const request of [...this.open.keys()]) {
      this.endIf(request, new DomainError('unavailable', 'AUTH.UNCHECKED', text));
    }
  }

  private endIf(request: AuthenticatedRequest, reason: DomainError | null): void {
    const end = this.open.get(request);
    if (!end || !reason) return;
    this.open.delete(request);
    end(reason);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Nothing came of a check of access for ${ms / 1000} seconds`)),
      ms,
    ).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
