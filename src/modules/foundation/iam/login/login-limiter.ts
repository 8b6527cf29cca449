import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { Config } from '../../../../config/config';
import { tooMany } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';
import { SessionsRepository } from '../sessions/sessions.repository';
import { LoginPauses } from './login-pauses';

/** Many people share an address, and whoever is at the provider's page has not failed: these may be more than failures. */
const BEGINNINGS_PER_ATTEMPT = 10;

/** By so much the pause grows each time that a name has failed `LOGIN_ATTEMPTS` times more, milliseconds. */
const PAUSE_STEP_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** Looking up where an account logs in: a flood must not take all connections to the database. */
const LOOKUPS = { code: 'AUTH.BUSY', atOnce: 2, waiting: 64, waitingOfOne: 32, patienceMs: 5_000 };

/** Longer than a busy process pauses: a count that is given up lets a guess through. */
const COMMAND_TIMEOUT_MS = 2_000;

/** Whose password is tried, and from where. */
export interface Claimant {
  username: string;
  /** As {@link clientNetwork} says. */
  network: string;
}

interface Pause {
  /** Zero for a name that has not failed often. */
  ms: number;
  /** Whether the account has logged in from there lately: a right password is not held up then. */
  isFamiliar: boolean;
}

const NO_PAUSE: Pause = { ms: 0, isFamiliar: false };

/**
 * Counts over all API pods failed logins, and by address those that have begun at the provider's page and not come back.
 * A name and address together, or an address, that have failed too often are refused. A name that has failed too often
 * from anywhere is only slowed down: otherwise anybody could lock out anybody. Without Redis logins go on uncounted:
 * whoever makes Redis fail must not lock everybody out.
 *
 * None of it depends on whether there is an account of the name.
 */
@Injectable()
export class LoginLimiter implements OnApplicationShutdown {
  private readonly redis: Redis;
  private readonly pairs: RateLimiterRedis;
  private readonly networks: RateLimiterRedis;
  private readonly names: RateLimiterRedis;
  private readonly beginnings: RateLimiterRedis;
  private readonly pauses = new LoginPauses();
  private readonly lookups = new FairBulkhead(LOOKUPS);

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
    // Each command that fails is reported where it was given.
    this.redis.on('error', () => undefined);
    const { loginAttempts, loginWindowSeconds } = config.auth;
    const countBy = (keyPrefix: string) =>
      new RateLimiterRedis({ storeClient: this.redis, keyPrefix, points: loginAttempts, duration: loginWindowSeconds });
    this.pairs = countBy('name-and-address');
    this.networks = countBy('address');
    this.names = countBy('name');
    this.beginnings = countBy('begun');
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  /**
   * One attempt at a password. Throws 429 when the name has failed too often from there, or the address with any names,
   * within the window, and 503 when too many attempts at the name are held up. What throws is neither a failure nor a
   * success.
   * @param prove null for a wrong password, which counts as a failure
   * @param use does what the password was given for; null refuses it, which counts as a failure, too
   */
  async attempt<P, T>(
    claimant: Claimant,
    prove: () => Promise<P | null>,
    use: (proven: P) => Promise<T | null>,
  ): Promise<T | null> {
    const pause = await this.pauseOf(claimant, await this.assertAllowed(claimant));
    if (!pause.isFamiliar) await this.hold(claimant, pause);
    const proven = await prove();
    // Of many guesses at once only those that end before the limit is reached learn whether they were right.
    if (proven !== null) await this.assertAllowed(claimant);
    const result = proven === null ? null : await use(proven);
    if (result === null) await this.fail(claimant, pause);
    else await this.clear(claimant);
    return result;
  }

  /**
   * Begins a login at the provider's page. Throws 429 when the address has begun too many within the window that have
   * not {@link ended}. What throws has begun nothing.
   */
  async begin<T>(network: string, work: () => Promise<T>): Promise<T> {
    const begun = await this.tolerate(() => this.beginnings.penalty(network));
    try {
      assertWithin(
        begun,
        this.config.auth.loginAttempts * BEGINNINGS_PER_ATTEMPT,
        'logins that were begun and not ended',
      );
      return await work();
    } catch (error) {
      await this.ended(network);
      throw error;
    }
  }

  /** A login at the provider's page has ended well. */
  async ended(network: string): Promise<void> {
    await this.tolerate(async () => {
      const begun = await this.beginnings.get(network);
      // A login may come back from another address: that one has begun none, and must not be owed one.
      if (begun && begun.consumedPoints > 0) await this.beginnings.reward(network);
    });
  }

  /** Answers how often the name has failed from anywhere. */
  private async assertAllowed({ username, network }: Claimant): Promise<number> {
    const counts = await this.tolerate(() =>
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

  private async fail(claimant: Claimant, pause: Pause): Promise<void> {
    try {
      await this.countFailure(claimant);
    } finally {
      // As long as for everybody else: how long a failure takes must not tell who logs in from there.
      if (pause.isFamiliar) await this.hold(claimant, pause);
    }
  }

  /** Throws 429 for one failure too many: a wrong guess beyond the limit is answered as a right one is. */
  private async countFailure({ username, network }: Claimant): Promise<void> {
    const counts = await this.tolerate(() =>
      Promise.all([
        this.names.penalty(hashOf(username)),
        this.pairs.penalty(pairOf(username, network)),
        this.networks.penalty(network),
      ]),
    );
    const [, ...refusing] = counts ?? [];
    for (const count of refusing) assertWithin(count, this.config.auth.loginAttempts, 'failed logins');
  }

  /** A success ends the count of the name there; the address may still be guessing at others, and others at the name. */
  private async clear({ username, network }: Claimant): Promise<void> {
    await this.tolerate(() => this.pairs.delete(pairOf(username, network)));
  }

  private async pauseOf({ username, network }: Claimant, failures: number): Promise<Pause> {
    const steps = Math.floor(failures / this.config.auth.loginAttempts);
    if (steps === 0) return NO_PAUSE;
    const isFamiliar = await this.lookups.run(network, () => this.sessions.hasLoggedInFrom(username, network));
    return { ms: Math.min(steps * PAUSE_STEP_MS, MAX_PAUSE_MS), isFamiliar };
  }

  private async hold({ username, network }: Claimant, { ms }: Pause): Promise<void> {
    if (ms > 0) await this.pauses.pause(hashOf(username), network, ms);
  }

  private async tolerate<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.logger.warn({ err: error }, 'Redis cannot be reached: logins are not limited');
      return null;
    }
  }
}

/** Throws 429 for a count beyond the limit; `what` says of what. */
function assertWithin(count: RateLimiterRes | null, limit: number, what: string): void {
  if (!count || count.consumedPoints <= limit) return;
  const seconds = Math.max(1, Math.ceil(count.msBeforeNext / 1000));
  throw tooMany('AUTH.TOO_MANY_ATTEMPTS', `Too many ${what}. Try again in ${seconds} seconds.`, seconds);
}

function pairOf(username: string, network: string): string {
  return `${hashOf(username)}:${network}`;
}

/** Names are hashed: a key has a fixed length whatever was typed, and a typed password is not kept. */
function hashOf(username: string): string {
  return createHash('sha256').update(comparable(username)).digest('base64url');
}

/** Spellings that a directory takes for the same name (RFC 4518) count as one. */
function comparable(username: string): string {
  return username.normalize('NFKC').replaceAll(/\p{C}/gu, '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
