import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { Config } from '../../../../config/config';
import { tooMany } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';
import { SessionsRepository } from '../sessions/sessions.repository';
import { LoginDelays } from './login-delays';

/** Pending SSO logins are not failures, and many people share an address, so their limit is higher. */
const PENDING_LOGINS_PER_ATTEMPT = 10;

/** The delay grows by this much for every further `LOGIN_ATTEMPTS` failures of a user name. */
const DELAY_STEP_MS = 250;
const MAX_DELAY_MS = 5_000;

/** Bounds the session lookups, so that a flood of logins cannot take all database connections. */
const LOOKUP_LIMITS = {
  code: 'AUTH.BUSY',
  maxConcurrent: 2,
  maxQueued: 64,
  maxQueuedPerParty: 32,
  queueTimeoutMs: 5_000,
};

/** Must exceed the pauses of a busy process: a count that times out lets one guess through. */
const COMMAND_TIMEOUT_MS = 2_000;

export interface LoginCandidate {
  username: string;
  /** From {@link clientNetwork}. */
  network: string;
}

interface Delay {
  /** Zero unless the user name has failed often. */
  ms: number;
  /** True if the account has recently logged in from this network. Then a correct password is not delayed. */
  isFamiliar: boolean;
}

const NO_DELAY: Delay = { ms: 0, isFamiliar: false };

/**
 * Limits login attempts across all API pods. It counts failed logins by network, by user name, and by both together,
 * and pending SSO logins by network. After too many failures, a network, or a user name from one network, is refused.
 * A user name that fails from many networks is only delayed; otherwise anybody could lock out anybody. If Redis is
 * down, logins are not limited, so that a Redis outage locks nobody out.
 *
 * Nothing here depends on whether the account exists, so responses do not reveal it.
 */
@Injectable()
export class LoginLimiter implements OnApplicationShutdown {
  private readonly redis: Redis;
  private readonly pairs: RateLimiterRedis;
  private readonly networks: RateLimiterRedis;
  private readonly names: RateLimiterRedis;
  private readonly pendingLogins: RateLimiterRedis;
  private readonly delays = new LoginDelays();
  private readonly lookups = new FairBulkhead(LOOKUP_LIMITS);

  constructor(
    private readonly config: Config,
    private readonly sessions: SessionsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.redis = new Redis(config.redis.url, {
      keyPrefix: `${config.redis.prefix}:login:`,
      maxRetriesPerRequest: 1,
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: (times) => Math.min(times * 100, 2000),
    });
    // The caller of each command logs its failure.
    this.redis.on('error', () => undefined);
    const { loginAttempts, loginWindowSeconds } = config.auth;
    const countBy = (keyPrefix: string) =>
      new RateLimiterRedis({ storeClient: this.redis, keyPrefix, points: loginAttempts, duration: loginWindowSeconds });
    this.pairs = countBy('name-and-address');
    this.networks = countBy('address');
    this.names = countBy('name');
    this.pendingLogins = countBy('begun');
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  /**
   * Checks a password and runs `use` if it is correct. Throws 429 if the user name has failed too often from this
   * network, or the network with any user name, within the window; throws 503 if too many attempts at the user name
   * are delayed. An attempt that throws counts neither as a failure nor as a success.
   * @param verify returns null for a wrong password, which counts as a failure
   * @param use runs with the verified identity; a result of null also counts as a failure
   */
  async attempt<P, T>(
    candidate: LoginCandidate,
    verify: () => Promise<P | null>,
    use: (identity: P) => Promise<T | null>,
  ): Promise<T | null> {
    const delay = await this.delayFor(candidate, await this.assertAllowed(candidate));
    if (!delay.isFamiliar) await this.wait(candidate, delay);
    const identity = await verify();
    // Check again, or many parallel guesses could all learn their result before the limit is reached.
    if (identity !== null) await this.assertAllowed(candidate);
    const result = identity === null ? null : await use(identity);
    if (result === null) await this.fail(candidate, delay);
    else await this.clear(candidate);
    return result;
  }

  /**
   * Counts a login that starts at the provider's page. Throws 429 if the network has too many pending logins within the
   * window. If `work` throws, the login is not counted.
   */
  async start<T>(network: string, work: () => Promise<T>): Promise<T> {
    const pending = await this.ignoreRedisErrors(() => this.pendingLogins.penalty(network));
    try {
      assertWithin(pending, this.config.auth.loginAttempts * PENDING_LOGINS_PER_ATTEMPT, 'unfinished logins');
      return await work();
    } catch (error) {
      await this.complete(network);
      throw error;
    }
  }

  /** Decrements the count of pending logins after a login has completed. */
  async complete(network: string): Promise<void> {
    await this.ignoreRedisErrors(async () => {
      const pending = await this.pendingLogins.get(network);
      // A login may complete from another network. That network's count must not go below zero.
      if (pending && pending.consumedPoints > 0) await this.pendingLogins.reward(network);
    });
  }

  /** Throws 429 if the attempt is over a limit. Returns the failures of the user name from all networks. */
  private async assertAllowed({ username, network }: LoginCandidate): Promise<number> {
    const counts = await this.ignoreRedisErrors(() =>
      Promise.all([
        this.names.get(hashOf(username)),
        this.pairs.get(pairOf(username, network)),
        this.networks.get(network),
      ]),
    );
    const [ofName, ...refusing] = counts ?? [];
    for (const count of refusing) assertWithin(count, this.config.auth.loginAttempts - 1, 'failed logins');
    return ofName?.consumedPoints ?? 0;
  }

  private async fail(candidate: LoginCandidate, delay: Delay): Promise<void> {
    try {
      await this.countFailure(candidate);
    } finally {
      // Delay failures from familiar networks too, or the response time would reveal who logs in from there.
      if (delay.isFamiliar) await this.wait(candidate, delay);
    }
  }

  /** Throws 429 beyond the limit, so that a wrong guess gets the same response as a correct one. */
  private async countFailure({ username, network }: LoginCandidate): Promise<void> {
    const counts = await this.ignoreRedisErrors(() =>
      Promise.all([
        this.names.penalty(hashOf(username)),
        this.pairs.penalty(pairOf(username, network)),
        this.networks.penalty(network),
      ]),
    );
    const [, ...refusing] = counts ?? [];
    for (const count of refusing) assertWithin(count, this.config.auth.loginAttempts, 'failed logins');
  }

  /** Resets only the count of this user name from this network: other guesses by or at either still count. */
  private async clear({ username, network }: LoginCandidate): Promise<void> {
    await this.ignoreRedisErrors(() => this.pairs.delete(pairOf(username, network)));
  }

  private async delayFor({ username, network }: LoginCandidate, failures: number): Promise<Delay> {
    const steps = Math.floor(failures / this.config.auth.loginAttempts);
    if (steps === 0) return NO_DELAY;
    const isFamiliar = await this.lookups.run(network, () => this.sessions.hasLoggedInFrom(username, network));
    return { ms: Math.min(steps * DELAY_STEP_MS, MAX_DELAY_MS), isFamiliar };
  }

  private async wait({ username, network }: LoginCandidate, { ms }: Delay): Promise<void> {
    if (ms > 0) await this.delays.wait(hashOf(username), network, ms);
  }

  private async ignoreRedisErrors<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.logger.warn({ err: error }, 'Redis cannot be reached: logins are not limited');
      return null;
    }
  }
}

/** @param what is counted, as a plural noun for the error message */
function assertWithin(count: RateLimiterRes | null, limit: number, what: string): void {
  if (!count || count.consumedPoints <= limit) return;
  const seconds = Math.max(1, Math.ceil(count.msBeforeNext / 1000));
  throw tooMany('AUTH.TOO_MANY_ATTEMPTS', `Too many ${what}. Try again in ${seconds} seconds.`, seconds);
}

function pairOf(username: string, network: string): string {
  return `${hashOf(username)}:${network}`;
}

/** Hashes the user name, so that keys have a fixed length and Redis never stores a password typed as a name. */
function hashOf(username: string): string {
  return createHash('sha256').update(comparable(username)).digest('base64url');
}

/** Normalises spellings that a directory treats as the same name (RFC 4518). */
function comparable(username: string): string {
  return username.normalize('NFKC').replaceAll(/\p{C}/gu, '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
