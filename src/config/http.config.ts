import type { EnvReader } from './env-reader';

/** Whom an API process serves: users and their programs, or node agents. */
const SERVED = ['clients', 'agents'] as const;
export type Served = (typeof SERVED)[number];

export interface HttpConfig {
  host: string;
  port: number;
  /** Other routes are absent. */
  serves: Served[];
  /** Whether clients are served the Swagger UI, openapi.json and the page that leads to them. */
  docs: boolean;
  /** Proxies in front whose X-Forwarded-For is believed; limits by address use the one they name. */
  trustedProxies: number;
  /** Largest JSON body, bytes. */
  maxJsonBytes: number;
  /** JSON bodies and log chunks in memory at once, bytes: of users, of nodes and of strangers each. */
  bodyMemoryBytes: number;
  /** Largest file upload, bytes. */
  maxUploadBytes: number;
  /** Time for the head of a request, also of the first one on a connection, milliseconds. */
  headTimeoutMs: number;
  /** Time for a whole JSON body or log chunk, milliseconds. */
  bodyTimeoutMs: number;
  /** Longest pause in an upload or download, milliseconds. */
  stallMs: number;
  /** Connections at once. */
  maxConnections: number;
  /** How many of them may be unauthenticated; behind proxies also the requests under way from such callers. */
  maxUnknown: number;
  /** How many of these one address may have; behind proxies requests, not connections. */
  maxUnknownOfAddress: number;
  /** Uploads, downloads and logs at once. */
  maxStreams: number;
  /** How many of them one user or node may have. */
  maxStreamsOfCaller: number;
  /** WebSockets at once. */
  maxSockets: number;
  /** How many of them one user or node may have. */
  maxSocketsOfCaller: number;
  /** Polls of nodes that wait at once. */
  maxPolls: number;
  /**
   * Connections idle longer than this are closed, milliseconds; must be more than a load balancer in front keeps them.
   */
  keepAliveMs: number;
  /** How long a stopping process waits for requests in flight, milliseconds. */
  shutdownMs: number;
}

const MIB = 1024 ** 2;

export function readHttpConfig(env: EnvReader): HttpConfig {
  const maxJsonBytes = env.integer('HTTP_MAX_JSON_BYTES', { default: 4 * MIB, min: 1024, max: 64 * MIB });
  return {
    host: env.string('HOST', { default: '127.0.0.1' }),
    port: env.integer('PORT', { default: 8080, min: 1, max: 65535 }),
    serves: env.someOf('API_SERVES', SERVED),
    docs: env.boolean('API_DOCS', true),
    trustedProxies: env.integer('HTTP_TRUSTED_PROXIES', { default: 0, min: 0, max: 10 }),
    maxJsonBytes,
    bodyMemoryBytes: readBodyMemory(env, maxJsonBytes),
    maxUploadBytes: env.integer('HTTP_MAX_UPLOAD_BYTES', { default: 50 * 1024 ** 3, min: 1024 }),
    headTimeoutMs: env.integer('HTTP_HEAD_TIMEOUT_MS', { default: 15_000, min: 100 }),
    bodyTimeoutMs: env.integer('HTTP_BODY_TIMEOUT_MS', { default: 30_000, min: 100 }),
    stallMs: env.integer('HTTP_STALL_TIMEOUT_MS', { default: 60_000, min: 100 }),
    maxConnections: env.integer('HTTP_MAX_CONNECTIONS', { default: 20_000, min: 10 }),
    maxUnknown: env.integer('HTTP_MAX_UNKNOWN', { default: 1024, min: 1 }),
    maxUnknownOfAddress: env.integer('HTTP_MAX_UNKNOWN_PER_ADDRESS', { default: 256, min: 1 }),
    maxStreams: env.integer('HTTP_MAX_STREAMS', { default: 512, min: 1 }),
    maxStreamsOfCaller: env.integer('HTTP_MAX_STREAMS_PER_CALLER', { default: 64, min: 1 }),
    maxSockets: env.integer('HTTP_MAX_SOCKETS', { default: 2048, min: 1 }),
    maxSocketsOfCaller: env.integer('HTTP_MAX_SOCKETS_PER_CALLER', { default: 64, min: 1 }),
    maxPolls: env.integer('HTTP_MAX_POLLS', { default: 10_000, min: 1 }),
    keepAliveMs: env.integer('HTTP_KEEP_ALIVE_MS', { default: 75_000, min: 1000 }),
    shutdownMs: env.integer('SHUTDOWN_TIMEOUT_MS', { default: 10_000, min: 100 }),
  };
}

/** One caller gets half of it, and compressed bodies count in full: the largest body must fit. */
function readBodyMemory(env: EnvReader, maxJsonBytes: number): number {
  const bytes = env.integer('HTTP_BODY_MEMORY_BYTES', { default: Math.max(64 * MIB, 4 * maxJsonBytes), min: MIB });
  if (bytes < 4 * maxJsonBytes)
    env.problem('HTTP_BODY_MEMORY_BYTES', 'must be at least four times HTTP_MAX_JSON_BYTES');
  return bytes;
}
