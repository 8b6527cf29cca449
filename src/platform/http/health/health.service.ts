import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { parseTrusted } from '../../../../libs/json/parse-json';
import { Config } from '../../../config/config';
import type { Readiness } from './probes';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { failureOf, RedisFailures } from '../../kernel/errors/redis-failures';
import { HealthRepository } from './health.repository';

const ANSWER_WITHIN_MS = 2000;

/** Version of the package: of the nearest package.json above this file, be it built or a source. */
export function packageVersion(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return parseTrusted<{ version: string }>(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

interface Dependencies {
  /** What is wrong with each; null if nothing is. */
  database: string | null;
  redis: string | null;
}

/** Asks PostgreSQL and Redis whether they answer, each within two seconds. */
@Injectable()
export class HealthService implements OnApplicationShutdown {
  readonly version = packageVersion();
  private readonly redis: Redis;
  private asked: Promise<Dependencies> | null = null;
  private redisError: unknown = null;

  constructor(
    private readonly repository: HealthRepository,
    failures: RedisFailures,
    config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.redis = new Redis(config.redis.url, {
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      connectTimeout: ANSWER_WITHIN_MS,
      retryStrategy: (times) => Math.min(times * 200, 2000),
    });
    failures.watch(this.redis);
    this.redis.on('error', (error: unknown) => (this.redisError = error));
    void this.redis.connect().catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  /** Of all that the platform depends on. */
  async check(): Promise<{ healthy: boolean; message: string }> {
    const { database, redis } = await this.dependencies();
    const problems = [database, redis].filter((problem) => problem !== null);
    if (problems.length > 0) this.logger.warn({ problems }, 'The health check fails');
    return { healthy: problems.length === 0, message: problems.length === 0 ? 'OK' : problems.join(', ') };
  }

  /** Whether the API can answer: without Redis it only does not limit logins, so that is no reason to stay away. */
  async apiReadiness(): Promise<Readiness> {
    const { database } = await this.dependencies();
    return { ready: database === null, message: database ?? 'OK' };
  }

  /** Whether a worker can work: its queues are in Redis. */
  async workerReadiness(): Promise<Readiness> {
    const { healthy, message } = await this.check();
    return { ready: healthy, message };
  }

  /** Whoever asks meanwhile gets the same answer, so that many cost no more than one. */
  private dependencies(): Promise<Dependencies> {
    this.asked ??= this.ask().finally(() => (this.asked = null));
    return this.asked;
  }

  private async ask(): Promise<Dependencies> {
    const [database, redis] = await Promise.all([within(this.databaseProblem()), within(this.redisProblem())]);
    return {
      database: database === LATE ? 'PostgreSQL cannot be reached' : database,
      redis: redis === LATE ? 'Redis cannot be reached' : redis,
    };
  }

  private async databaseProblem(): Promise<string | null> {
    try {
      const lacking = await this.repository.missingMigration();
      return lacking === null ? null : `The schema is that of a newer release, with ${lacking}`;
    } catch {
      return 'PostgreSQL cannot be reached';
    }
  }

  private async redisProblem(): Promise<string | null> {
    try {
      await this.redis.ping();
      return null;
    } catch (error) {
      // A connection that is refused again and again is closed when it is asked; what it was refused for came before.
      return failureOf(this.redis.status === 'ready' ? error : this.redisError).message;
    }
  }
}

const LATE = Symbol('late');

async function within<T>(answer: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ANSWER_WITHIN_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
