import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { parseTrusted } from '../../../libs/json/parse-json';
import { Config } from '../../config/config';
import { LOGGER, type Logger } from '../../platform/logging/logger';
import { HealthRepository } from './health.repository';

const ANSWER_WITHIN_MS = 2000;

/** Version of the package: of the nearest package.json above this file, be it built or a source. */
export function packageVersion(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return parseTrusted<{ version: string }>(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

/** Asks PostgreSQL and Redis whether they answer, each within two seconds. */
@Injectable()
export class HealthService implements OnApplicationShutdown {
  readonly version = packageVersion();
  private readonly redis: Redis;

  constructor(
    private readonly repository: HealthRepository,
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
    // Without a listener ioredis prints the error; the check itself reports it.
    this.redis.on('error', () => undefined);
    void this.redis.connect().catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  async check(): Promise<{ healthy: boolean; message: string }> {
    const [database, redis] = await Promise.all([within(this.repository.ping()), within(this.redis.ping())]);
    const down = [...(database ? [] : ['PostgreSQL']), ...(redis ? [] : ['Redis'])];
    if (down.length > 0) this.logger.warn({ down }, 'The health check fails');
    return {
      healthy: down.length === 0,
      message: down.length === 0 ? 'OK' : `${down.join(' and ')} cannot be reached`,
    };
  }
}

async function within(answer: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ANSWER_WITHIN_MS);
  });
  const answered = answer.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
