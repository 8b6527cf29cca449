import type { EnvReader } from './env-reader';

export type RedisConfig = ReturnType<typeof readRedisConfig>;

export function readRedisConfig(reader: EnvReader) {
  const env = reader.section('Redis');
  return {
    url: env.url('REDIS_URL', ['redis:', 'rediss:'], {
      example: 'redis://127.0.0.1:6379',
      readBy: ['API', 'worker'],
      description: 'URL of the Redis server.',
    }),
    prefix: env.string('REDIS_PREFIX', {
      default: 'msp',
      pattern: /^[A-Za-z0-9_-]{1,32}$/,
      meaning: '1 to 32 letters, digits, underscores or hyphens',
      readBy: ['API', 'worker'],
      description: 'Prefix of every key, so that several installations can share a server.',
    }),
  };
}
