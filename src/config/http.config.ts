import type { EnvReader } from './env-reader';

const SERVED = ['clients', 'agents'] as const;
export type Served = (typeof SERVED)[number];

export type HttpConfig = ReturnType<typeof readHttpConfig>;

const MIB = 1024 ** 2;

export function readHttpConfig(reader: EnvReader) {
  const env = reader.section('HTTP');
  const limits = reader.section('Limits of HTTP');
  const maxJsonBytes = limits.integer('HTTP_MAX_JSON_BYTES', {
    default: 4 * MIB,
    min: 1024,
    max: 64 * MIB,
    unit: 'bytes',
    readBy: ['API'],
    description: 'Largest JSON body of a request. Requests without a login may send 16 KiB at most.',
  });
  return {
    host: env.string('HOST', {
      default: '127.0.0.1',
      allowed: 'host name or IP address',
      readBy: ['API', 'worker'],
      description: 'Address that the API and the probes of the worker listen on. Containers need `0.0.0.0`.',
    }),
    port: env.integer('PORT', {
      default: 8080,
      min: 1,
      max: 65535,
      readBy: ['API'],
      description: 'Port that the API listens on.',
    }),
    serves: env.someOf('API_SERVES', SERVED, {
      readBy: ['API'],
      description:
        'Callers that this API process serves: `clients` are users and their programs, `agents` are the agents of nodes. ' +
        'The process does not have the routes of the others.',
    }),
    docs: env.boolean('API_DOCS', {
      default: true,
      readBy: ['API'],
      description: 'Whether the API serves the Swagger UI and `openapi.json` to clients.',
    }),
    console: env.boolean('CONSOLE', {
      default: true,
      readBy: ['API'],
      description: 'Whether the API serves the console, the web pages of the platform, to clients.',
    }),
    trustedProxies: env.integer('HTTP_TRUSTED_PROXIES', {
      default: 0,
      min: 0,
      max: 10,
      readBy: ['API'],
      description:
        'Number of proxies in front of the API whose `X-Forwarded-For` it believes. Limits per address count the address ' +
        'that these proxies report.',
    }),
    shutdownMs: env.integer('SHUTDOWN_TIMEOUT_MS', {
      default: 10_000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['API', 'worker'],
      description: 'Time that a stopping process gives to the work in progress.',
    }),
    maxJsonBytes,
    bodyMemoryBytes: readBodyMemory(limits, maxJsonBytes),
    maxUploadBytes: limits.integer('HTTP_MAX_UPLOAD_BYTES', {
      default: 50 * 1024 ** 3,
      min: 1024,
      unit: 'bytes',
      readBy: ['API'],
      description: 'Largest file that can be uploaded.',
    }),
    headTimeoutMs: limits.integer('HTTP_HEAD_TIMEOUT_MS', {
      default: 15_000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Time within which the headers of a request must arrive, also of the first one on a new connection.',
    }),
    bodyTimeoutMs: limits.integer('HTTP_BODY_TIMEOUT_MS', {
      default: 30_000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Time within which a whole JSON body or a chunk of a log must arrive.',
    }),
    stallMs: limits.integer('HTTP_STALL_TIMEOUT_MS', {
      default: 60_000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Longest pause in an upload or a download.',
    }),
    maxConnections: limits.integer('HTTP_MAX_CONNECTIONS', {
      default: 20_000,
      min: 10,
      readBy: ['API'],
      description:
        'Largest number of open connections. For one more, the API closes the one that has been idle longest.',
    }),
    maxUnknown: limits.integer('HTTP_MAX_UNKNOWN', {
      default: 1024,
      min: 1,
      readBy: ['API'],
      description:
        'Largest number of connections that have not authenticated. Behind `HTTP_TRUSTED_PROXIES` it also limits the ' +
        'requests in progress from such callers.',
    }),
    maxUnknownOfAddress: limits.integer('HTTP_MAX_UNKNOWN_PER_ADDRESS', {
      default: 256,
      min: 1,
      readBy: ['API'],
      description:
        'Largest number of unauthenticated connections from one address. Behind `HTTP_TRUSTED_PROXIES` it limits requests ' +
        'in progress instead of connections.',
    }),
    maxStreams: limits.integer('HTTP_MAX_STREAMS', {
      default: 512,
      min: 1,
      readBy: ['API'],
      description:
        'Largest number of uploads, downloads, logs and calls to functions and SQL at once, for users and for nodes each. ' +
        'Further ones get status 503.',
    }),
    maxStreamsOfCaller: limits.integer('HTTP_MAX_STREAMS_PER_CALLER', {
      default: 64,
      min: 1,
      readBy: ['API'],
      description: 'Largest number of such streams of one user or one node. Further ones get status 429.',
    }),
    maxSockets: limits.integer('HTTP_MAX_SOCKETS', {
      default: 2048,
      min: 1,
      readBy: ['API'],
      description: 'Largest number of WebSockets at once, for users and for nodes each. Further ones get status 503.',
    }),
    maxSocketsOfCaller: limits.integer('HTTP_MAX_SOCKETS_PER_CALLER', {
      default: 64,
      min: 1,
      readBy: ['API'],
      description: 'Largest number of WebSockets of one user or one node. Further ones get status 429.',
    }),
    maxPolls: limits.integer('HTTP_MAX_POLLS', {
      default: 10_000,
      min: 1,
      readBy: ['API'],
      description:
        'Largest number of polls of nodes that wait at once. For one more, the API answers the one that has waited longest.',
    }),
    keepAliveMs: limits.integer('HTTP_KEEP_ALIVE_MS', {
      default: 75_000,
      min: 1000,
      unit: 'milliseconds',
      readBy: ['API'],
      description:
        'Time after which the API closes an idle connection. It must be longer than the load balancer in front keeps idle ' +
        'connections.',
    }),
  };
}

/** One caller gets half of the memory, and compressed bodies count in full: the largest body must fit. */
function readBodyMemory(env: EnvReader, maxJsonBytes: number): number {
  const bytes = env.integer('HTTP_BODY_MEMORY_BYTES', {
    default: Math.max(64 * MIB, 4 * maxJsonBytes),
    min: MIB,
    unit: 'bytes',
    allowed: `at least ${MIB}, and at least four times \`HTTP_MAX_JSON_BYTES\``,
    defaultText: '`67108864` (64 MiB), or four times `HTTP_MAX_JSON_BYTES` if that is more',
    readBy: ['API'],
    description:
      'Memory for the bodies of requests that are not answered yet. Users, nodes and unauthenticated callers have this ' +
      'much each, and one caller at most half of it; further requests get status 503.',
  });
  if (bytes < 4 * maxJsonBytes)
    env.problem('HTTP_BODY_MEMORY_BYTES', 'must be at least four times HTTP_MAX_JSON_BYTES');
  return bytes;
}
