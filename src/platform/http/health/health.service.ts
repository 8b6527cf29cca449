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

const CHECK_TIMEOUT_MS = 2000;

/** Returns the version in the nearest package.json above this file, in a build or in the sources. */
export function packageVersion(): string {
  return packageFacts().version;
}

/** Returns the license that package.json names. */
export function packageLicense(): string {
  return packageFacts().license;
}

function packageFacts(): { version: string; license: string } {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return parseTrusted(readFileSync(join(folder, 'package.json'), 'utf8'));
}

interface Dependencies {
  /** The problem of each dependency; null if it has none. */
  database: string | null;
  redis: string | null;
}

/** Checks whether PostgreSQL and Redis respond, each within two seconds. */
@Injectable()
export class HealthService implements OnApplicationShutdown {
  readonly version = packageVersion();
  private readonly redis: Redis;
  private check: Promise<Dependencies> | null = null;
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
      connectTimeout: CHECK_TIMEOUT_MS,
      retryStrategy: (times) => Math.min(times * 200, 2000),
    });
    failures.watch(this.redis);
    this.redis.on('error', (error: unknown) => (this.redisError = error));
    void this.redis.connect().catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  /** Checks all dependencies of the platform. */
  async checkAll(): Promise<{ healthy: boolean; message: string }> {
    const { database, redis } = await this.dependencies();
    const problems = [database, redis].filter((problem) => problem !== null);
    if (problems.length > 0) this.logger.warn({ problems }, 'The health check failed');
    return { healthy: problems.length === 0, message: problems.length === 0 ? 'OK' : problems.join(', ') };
  }

  /** The API is ready without Redis, because it then only lacks the limits of logins. */
  async apiReadiness(): Promise<Readiness> {
    const { database } = await this.dependencies();
    return { ready: database === null, message: database ?? 'OK' };
  }

  /** A worker needs Redis as well, because its queues are there. */
  async workerReadiness(): Promise<Readiness> {
    const { healthy, message } = await this.checkAll();
    return { ready: healthy, message };
  }

  /** Simultaneous callers share one check, so that many cost no more than one. */
  private dependencies(): Promise<Dependencies> {
    this.check ??= this.checkDependencies().finally(() => (this.check = null));
    return this.check;
  }

  private async checkDependencies(): Promise<Dependencies> {
    const [database, redis] = await Promise.all([
      withTimeout(this.databaseProblem()),
      withTimeout(this.redisProblem()),
    ]);
    return {
      database: database === LATE ? 'PostgreSQL cannot be reached' : database,
      redis: redis === LATE ? 'Redis cannot be reached' : redis,
    };
  }

  private async databaseProblem(): Promise<string | null> {
    try {
      const missing = await this.repository.missingMigration();
      return missing === null ? null : `The schema belongs to a newer release, which has the migration ${missing}`;
    } catch {
      return 'PostgreSQL cannot be reached';
    }
  }

  private async redisProblem(): Promise<string | null> {
    try {
      await this.redis.ping();
      return null;
    } catch (error) {
      // A connection that is not ready fails with a generic error; the reason is in its last error event.
      return failureOf(this.redis.status === 'ready' ? error : this.redisError).message;
    }
  }
}

const LATE = Symbol('late');

async function withTimeout<T>(work: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), CHECK_TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
