import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { Pump } from '../../kernel/process/pump';
import { PgListener } from '../../kernel/notifications/pg-listener';
import type { AuthenticatedRequest } from './request-principal';

/** A request must end within a second after its caller has lost access, so it is checked twice as often. */
const CHECK_INTERVAL_MS = 500;
/** Shortest pause between two checks, however many notifications come. */
const MIN_PAUSE_MS = 100;
const CHECK_TIMEOUT_MS = 5_000;
/** Requests continue for this long although checks fail, because the database may be restarting. */
const MAX_UNCHECKED_MS = 15_000;

/** Rechecks requests that it has admitted. */
export interface AccessChecker {
  /** Returns for each request why it would no longer be admitted, or null. The cost grows with the number of callers. */
  recheck(requests: readonly AuthenticatedRequest[]): Promise<(DomainError | null)[]>;
}

type End = (reason: DomainError) => void;

/**
 * Ends streams and upgrades whose callers have lost access. One check covers all of them: at the notification `session`, and
 * otherwise within a second.
 */
@Injectable()
export class LiveAccess implements OnModuleInit, OnApplicationShutdown {
  private readonly open = new Map<AuthenticatedRequest, End>();
  private checker: AccessChecker | null = null;
  private readonly checks = new Pump(() => this.check(), {
    intervalMs: CHECK_INTERVAL_MS,
    minPauseMs: MIN_PAUSE_MS,
    failed: (error) => this.onFailure(error),
  });
  /** Time of the last check by the monotonic clock. */
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

  /** The guard registers itself, because it injects the authenticators, which the platform does not know. */
  setChecker(checker: AccessChecker): void {
    this.checker = checker;
  }

  /**
   * Watches an admitted request until the returned function is called. Calls `end` once when the request is no longer
   * admitted.
   */
  watch(request: AuthenticatedRequest, end: End): () => void {
    if (this.open.size === 0) this.checkedAt = performance.now();
    this.open.set(request, end);
    this.checks.wake(CHECK_INTERVAL_MS);
    return () => this.open.delete(request);
  }

  private async check(): Promise<void> {
    if (!this.checker || this.open.size === 0) return;
    const requests = [...this.open.keys()];
    const startedAt = performance.now();
    const refusals = await withTimeout(CHECK_TIMEOUT_MS, this.checker.recheck(requests));
    this.checkedAt = startedAt;
    requests.forEach((request, index) => this.endIf(request, refusals[index] ?? null));
  }

  private onFailure(error: unknown): void {
    if (performance.now() - this.checkedAt < MAX_UNCHECKED_MS) return;
    this.logger.error(
      { err: error, open: this.open.size },
      'Access could not be checked, so all open streams and WebSockets are ended',
    );
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

async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The access check did not end within ${ms / 1000} seconds`)), ms).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
