import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Config } from '../../config/config';
import { DomainError } from '../../platform/errors/domain-error';
import { LOGGER, type Logger } from '../../platform/logging/logger';

const COUNT_FAILURE = `
  for _, key in ipairs(KEYS) do
    if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
  end`;
const COMMAND_TIMEOUT_MS = 500;

/**
 * Counts failed logins by user name and by address over all API pods. Without Redis logins go on uncounted: whoever
 * makes Redis fail must not lock everybody out.
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

  /** Throws 429 when the user name or the address has failed too often within the window. */
  async assertAllowed(username: string, address: string): Promise<void> {
    const waits = await this.tolerate(() => Promise.all(keysOf(username, address).map((key) => this.waitOf(key))));
    const wait = Math.max(0, ...(waits ?? []));
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw new DomainError(
      'rate-limited',
      'AUTH.TOO_MANY_ATTEMPTS',
      `Too many failed logins. Try again in ${seconds} seconds.`,
      { retry_after_seconds: seconds },
    );
  }

  async countFailure(username: string, address: string): Promise<void> {
    const keys = keysOf(username, address);
    const windowMs = this.config.auth.loginWindowSeconds * 1000;
    await this.tolerate(() => this.redis.eval(COUNT_FAILURE, keys.length, ...keys, windowMs));
  }

  /** A success ends the count of the user name; the address may still be guessing at others. */
  async clear(username: string): Promise<void> {
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
      this.logger.warn({ err: error }, 'Redis cannot be reached: failed logins are not limited');
      return null;
    }
  }
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
