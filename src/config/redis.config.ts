import type { EnvReader } from './env-reader';

export interface RedisConfig {
  url: string;
  /** Prefix of every key, so that several installations can share a server. */
  prefix: string;
}

export function readRedisConfig(env: EnvReader): RedisConfig {
  return {
    url: env.url('REDIS_URL', ['redis:', 'rediss:']),
    prefix: env.string('REDIS_PREFIX', { default: 'msp', pattern: /^[A-Za-z0-9_-]{1,32}$/, meaning: 'a short word' }),
  };
}
