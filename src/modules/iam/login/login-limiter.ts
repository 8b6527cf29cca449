import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Config } from '../../../config/config';
import { DomainError } from '../../../platform/errors/domain-error';
import { LOGGER, type Logger } from '../../../platform/logging/logger';

const COUNT_FAILURE = `
  for _, key in ipairs(KEYS) do
    if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
  end`;

/** Counts one more unless the limit is reached; answers how long to wait then, milliseconds, else 0. */
const COUNT_BEGINNING = `
  if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return redis.call('PTTL', KEYS[1]) end
  if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 0`;
const UNCOUNT_BEGINNING = `
  if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end`;

/** Many people share an address, and whoever is at the provider's page has not failed: these may be more than failures. */
const BEGINNINGS_PER_ATTEMPT = 10;

const COMMAND_TIMEOUT_MS = 500;

/**
 * Counts over all API pods failed logins by user name and by address, and by address those that have begun at the
 * provider's page and not come back. Without Redis logins go on uncounted: whoever makes Redis fail must not lock
 * everybody out.
 */
@Injectable()
export class LoginLimiter implements OnApplicationShutdown {
  private readonly redis: Redis;

  constructor(
    private readonly config: Config,
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
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  /**
   * One attempt at a password. Throws 429 when the user name or the address has failed too often within the window. What
   * throws is neither a failure nor a success.
   * @param prove null for a wrong password, which counts as a failure
   * @param use does what the password was given for; null refuses it, which counts as a failure, too
   */
  async attempt<P, T>(
    username: string,
    address: string,
    prove: () => Promise<P | null>,
    use: (proven: P) => Promise<T | null>,
  ): Promise<T | null> {
    await this.assertAllowed(username, address);
    const proven = await prove();
    // Of many guesses at once only those that end before the limit is reached learn whether they were right.
    if (proven !== null) await this.assertAllowed(username, address);
    const result = proven === null ? null : await use(proven);
    if (result === null) await this.countFailure(username, address);
    else await this.clear(username);
    return result;
  }

  /**
   * Begins a login at the provider's page. Throws 429 when the address has begun too many within the window that have
   * not {@link ended}. What throws has begun nothing.
   */
  async begin<T>(address: string, work: () => Promise<T>): Promise<T> {
    const { loginAttempts, loginWindowSeconds } = this.config.auth;
    const limit = loginAttempts * BEGINNINGS_PER_ATTEMPT;
    const wait = await this.tolerate(() =>
      this.redis.eval(COUNT_BEGINNING, 1, beginningsOf(address), limit, loginWindowSeconds * 1000),
    );
    if (wait) throw tooMany('logins that were begun and not ended', Number(wait));
    try {
      return await work();
    } catch (error) {
      await this.ended(address);
      throw error;
    }
  }

  /** A login at the provider's page has ended well. */
  async ended(address: string): Promise<void> {
    await this.tolerate(() => this.redis.eval(UNCOUNT_BEGINNING, 1, beginningsOf(address)));
  }

  private async assertAllowed(username: string, address: string): Promise<void> {
    const waits = await this.tolerate(() => Promise.all(keysOf(username, address).map((key) => this.waitOf(key))));
    const wait = Math.max(0, ...(waits ?? []));
    if (wait > 0) throw tooMany('failed logins', wait);
  }

  private async countFailure(username: string, address: string): Promise<void> {
    const keys = keysOf(username, address);
    const windowMs = this.config.auth.loginWindowSeconds * 1000;
    await this.tolerate(() => this.redis.eval(COUNT_FAILURE, keys.length, ...keys, windowMs));
  }

  /** A success ends the count of the user name; the address may still be guessing at others. */
  private async clear(username: string): Promise<void> {
    const [key = ''] = keysOf(username, '');
    await this.tolerate(() => this.redis.del(key));
  }

  /** Milliseconds until the key admits the next attempt; 0 when it does now. */
  private async waitOf(key: string): Promise<number> {
    const failures = Number((await this.redis.get(key)) ?? 0);
    return failures < this.config.auth.loginAttempts ? 0 : Math.max(1, await this.redis.pttl(key));
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

function tooMany(what: string, waitMs: number): DomainError {
  const seconds = Math.ceil(waitMs / 1000);
  return new DomainError(
    'rate-limited',
    'AUTH.TOO_MANY_ATTEMPTS',
    `Too many ${what}. Try again in ${seconds} seconds.`,
    { retry_after_seconds: seconds },
  );
}

function beginningsOf(address: string): string {
  return `begun:${address}`;
}

/** Names are hashed: a key has a fixed length whatever was typed, and a typed password is not kept. */
function keysOf(username: string, address: string): [string, string] {
  const name = createHash('sha256').update(comparable(username)).digest('base64url');
  return [`user:${name}`, `address:${address}`];
}

/** Spellings that a directory takes for the same name (RFC 4518) count as one. */
function comparable(username: string): string {
  return username.normalize('NFKC').replaceAll(/\p{C}/gu, '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
