import { Inject, Injectable } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { messageOf } from './message-of';
import { LOGGER, type Logger } from '../logging/logger';
import { Throttle } from '../logging/throttle';

const LOG_INTERVAL_MS = 10_000;
const variable = 'REDIS_URL';

const UNREACHABLE = {
  code: 'REDIS.UNREACHABLE',
  variable,
  message: 'Redis cannot be reached',
  remedy: 'Start Redis and let this process reach it, or correct host and port in REDIS_URL.',
};
const REFUSED = {
  code: 'REDIS.LOGIN_REFUSED',
  variable,
  message: 'Redis refuses the login',
  remedy: 'Correct user and password in REDIS_URL.',
};

/** Logs why Redis fails, once in ten seconds for all connections of the process, and when it works again. */
@Injectable()
export class RedisFailures {
  private readonly throttle = new Throttle(LOG_INTERVAL_MS);
  private isReported = false;

  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  /** Logs the failures of the connection from now on. */
  watch(redis: Redis): void {
    redis.on('error', (error: unknown) => this.report(error));
    redis.on('ready', () => this.recovered());
  }

  private report(error: unknown): void {
    const leftOut = this.throttle.pass();
    if (leftOut === null) return;
    this.isReported = true;
    const { message, ...failure } = failureOf(error);
    this.logger.warn({ ...failure, reason: messageOf(error), left_out: leftOut }, message);
  }

  private recovered(): void {
    if (!this.isReported) return;
    this.isReported = false;
    this.logger.info('Redis works again');
  }
}

/** Returns code, message and remedy for an error of a connection to Redis. */
export function failureOf(error: unknown): typeof UNREACHABLE {
  return /^(WRONGPASS|NOAUTH|NOPERM|ERR (invalid password|AUTH))/.test(messageOf(error)) ? REFUSED : UNREACHABLE;
}
