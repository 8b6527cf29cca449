import type { EnvReader } from './env-reader';

export interface HttpConfig {
  host: string;
  port: number;
  /** Proxies in front whose X-Forwarded-For is believed; the login limit counts the address they name. */
  trustedProxies: number;
  /** Largest JSON body, bytes. */
  maxJsonBytes: number;
  /** Largest file upload, bytes. */
  maxUploadBytes: number;
  /** Connections that are idle longer are closed, milliseconds; above what a load balancer in front keeps them. */
  keepAliveMs: number;
  /** How long a stopping process waits for requests in flight, milliseconds. */
  shutdownMs: number;
}

export function readHttpConfig(env: EnvReader): HttpConfig {
  return {
    host: env.string('HOST', { default: '127.0.0.1' }),
    port: env.integer('PORT', { default: 8080, min: 1, max: 65535 }),
    trustedProxies: env.integer('HTTP_TRUSTED_PROXIES', { default: 0, min: 0, max: 10 }),
    maxJsonBytes: env.integer('HTTP_MAX_JSON_BYTES', { default: 4 * 1024 * 1024, min: 1024 }),
    maxUploadBytes: env.integer('HTTP_MAX_UPLOAD_BYTES', { default: 50 * 1024 ** 3, min: 1024 }),
    keepAliveMs: env.integer('HTTP_KEEP_ALIVE_MS', { default: 75_000, min: 1000 }),
    shutdownMs: env.integer('SHUTDOWN_TIMEOUT_MS', { default: 10_000, min: 100 }),
  };
}
