import { ConfigurationError, ManagedSparkError, refusalOf, Unreachable } from './errors.ts';
import { convert, type Operation, type PagedOperation, type ResultSet } from './operation.ts';
import { backoffMs, sleep } from './waiting.ts';

/** A request is retried for this time while the platform does not answer or is overloaded. */
const RETRY_MS = 60_000;
const RETRIED_STATUSES = new Set([429, 502, 503]);
/** Timeout of an attempt, including its answer. */
const ATTEMPT_MS = 60_000;
const PAGE_SIZE = 100;
/** Limit of the size of an answer, decompressed, so that neither a server nor a proxy can exhaust the memory. */
const MAX_ANSWER_BYTES = 256 << 20;
/** Limit of the size of an error answer. */
const MAX_ERROR_BYTES = 1 << 20;

/** Authenticates requests. */
export interface Session {
  /** Says if a browser sends its cookies to the platform. */
  readonly credentials?: RequestCredentials;
  /** Adds the credentials to the headers; logs in first if needed. */
  authorize?(headers: Headers, transport: Transport): void | Promise<void>;
  /** Called when the session was refused; returns true if the next attempt uses a new one. */
  renew?(): boolean;
  /** Returns the token, for protocols that carry it in their own way; undefined if the browser has a cookie instead. */
  token?(transport: Transport): Promise<string>;
}

export interface TransportOptions {
  /** Address of the platform, such as `https://spark.example.com`. In a browser, '' is the server of the page. */
  url: string;
  session: Session;
  /** Headers of each request. */
  headers?: Record<string, string>;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Milliseconds for which a request is retried; 0 for no retries. */
  retryMs?: number;
}

/** Settings of one call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds that each attempt may take. */
  timeoutMs?: number;
  /** Requests with the same key take effect once, even from several processes. By default, each POST has its own. */
  idempotencyKey?: string | undefined;
  /** False if the request must not be sent again when it may have been executed. */
  repeatable?: boolean;
  headers?: Record<string, string>;
  /** Another session than the client's. */
  session?: Session;
}

/** Arguments of an operation, which are optional if it needs none. */
// oxlint-disable-next-line typescript/no-empty-object-type -- {} extends a type without required fields
export type Arguments<I> = {} extends I ? [request?: I & CallOptions] : [request: I & CallOptions];

interface Request extends CallOptions {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

interface Page<R> {
  data: R[];
  result_set: ResultSet;
}

type Read<T> = (answer: Response) => Promise<T>;

/** Sends requests to the platform: authenticates and retries them, and throws errors by class. */
export class Transport {
  readonly url: string;
  readonly session: Session;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.url = options.url.replace(/\/+$/, '');
    this.session = options.session;
    this.#options = options;
  }

  /** Returns the answer of an operation. A POST carries an Idempotency-Key, so that it takes effect only once, however often it is sent. */
  async call<I, A>(operation: Operation<I, A>, ...[request]: Arguments<I>): Promise<A> {
    const read: Read<unknown> = async (answer) => convert(await contentOf(operation, answer), operation.shape);
    const answer = await this.#repeated(operation, request ?? {}, read);
    // A DELETE whose answer was lost returns undefined.
    return (answer ?? undefined) as A;
  }

  /** Yields the records of all pages; the next page is read when it is needed. */
  async *pages<I, P, R>(operation: PagedOperation<I, P, R>, ...[request]: Arguments<I>): AsyncGenerator<R> {
    const given: Request = request ?? {};
    for (let number: number | null | undefined = 1; number;) {
      const query = { limit: PAGE_SIZE, ...given.query, pageNumber: number };
      const page = (await this.call(operation as Operation<Request, P>, { ...given, query })) as Page<R>;
      yield* page.data;
      const { next_page: next } = page.result_set;
      // A server that repeats pages must not keep the client in an endless loop.
      number = page.data.length > 0 && typeof next === 'number' && next > number ? next : null;
    }
  }

  /** Returns a successful response, whose body the caller reads; the signal of the request also aborts that. */
  async send<I>(operation: Operation<I, unknown>, ...[request]: Arguments<I>): Promise<Response> {
    const answer = await this.#repeated(operation, request ?? {}, (response) => Promise.resolve(response));
    return answer ?? new Response(null);
  }

  /** Returns undefined if an earlier attempt has deleted what the operation deletes. */
  async #repeated<T>(operation: Operation<unknown, unknown>, request: Request, read: Read<T>) {
    const headers = this.#headers(operation, request);
    const session = request.session ?? this.session;
    const end = performance.now() + (this.#options.retryMs ?? RETRY_MS);
    let isLost = false;
    let isRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      await session.authorize?.(headers, this);
      const sent = this.#request(operation, request, headers, session);
      const outcome = await this.#once(operation, sent, request, read);
      if ('answer' in outcome) return outcome.answer;
      if (outcome.status === 401 && !isRenewed && session.renew?.()) {
        isRenewed = true;
        continue;
      }
      if (isLost && isGone(operation, outcome)) return undefined;
      isLost ||= outcome.isLost;
      const pause = pauseAfter(outcome, request, attempt);
      if (performance.now() + pause > end) throw outcome.failure;
      await sleep(pause, request.signal);
    }
  }

  #headers({ method }: Operation<unknown, unknown>, { headers, idempotencyKey }: Request): Headers {
    const all = new Headers({ ...this.#options.headers, ...headers });
    if (method === 'POST') all.set('Idempotency-Key', idempotencyKey ?? randomId());
    return all;
  }

  #request(operation: Operation<unknown, unknown>, { path, query, body }: Request, headers: Headers, session: Session) {
    const all = new Headers(headers);
    const isJson = body !== undefined && !isUpload(body);
    if (isJson) all.set('Content-Type', 'application/json');
    else if (body !== undefined && !all.has('Content-Type')) all.set('Content-Type', 'application/octet-stream');
    return new Request(`${this.url}${filled(operation, path ?? {})}${queryOf(query ?? {})}`, {
      method: operation.method,
      headers: all,
      body: isJson ? JSON.stringify(body) : (body ?? null),
      credentials: session.credentials ?? 'omit',
      // The token is for this server only.
      redirect: 'manual',
    });
  }

  async #once<T>(
    { name }: Operation<unknown, unknown>,
    sent: globalThis.Request,
    { signal, timeoutMs = ATTEMPT_MS }: Request,
    read: Read<T>,
  ): Promise<Outcome<T>> {
    signal?.throwIfAborted();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const signals = signal ? [signal, late.signal] : [late.signal];
      const response = await (this.#options.fetch ?? fetch)(sent, { signal: AbortSignal.any(signals) });
      if (response.ok) return { answer: await read(response) };
      return await refused(response);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ManagedSparkError) throw error;
      const why = late.signal.aborted ? `it took longer than ${timeoutMs / 1000} s` : described(error);
      const failure = new Unreachable(
        `No answer from ${this.url || 'this server'} to ${name}: ${why}. Check that the platform is running and that the URL is right.`,
        { cause: error },
      );
      return { failure, isPassing: true, isLost: !isUnsent(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Failure {
  failure: ManagedSparkError;
  /** True if the same request may succeed later. */
  isPassing: boolean;
  /** True if the request may have been executed. */
  isLost: boolean;
  status?: number;
  retryAfterMs?: number | undefined;
}

type Outcome<T> = { answer: T } | Failure;

function isGone({ method }: Operation<unknown, unknown>, { status }: Failure): boolean {
  return method === 'DELETE' && status === 404;
}

/** Returns the milliseconds until another attempt; Infinity if it would not help, or could take effect twice. */
function pauseAfter(failure: Failure, { repeatable = true }: Request, attempt: number): number {
  const mayRepeat = failure.isPassing && (repeatable || !failure.isLost);
  return mayRepeat ? (failure.retryAfterMs ?? backoffMs(attempt)) : Infinity;
}

async function refused(response: Response): Promise<Failure> {
  const { status } = response;
  const body: unknown = await readText(response, MAX_ERROR_BYTES)
    .then(JSON.parse)
    .catch(() => undefined);
  const isPassing = RETRIED_STATUSES.has(status);
  const retryAfter = response.headers.get('Retry-After') ?? '';
  // A random part keeps clients with the same answer from retrying at the same time.
  const retryAfterMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 + backoffMs(0) : undefined;
  return { failure: refusalOf(status, body), status, isPassing, isLost: isPassing && status !== 429, retryAfterMs };
}

async function contentOf({ name, as }: Operation<unknown, unknown>, response: Response): Promise<unknown> {
  if (as === 'blob') return response.blob();
  const text = await readText(response, MAX_ANSWER_BYTES);
  if (as === 'text') return text;
  if (text === '') return undefined;
  const type = response.headers.get('Content-Type') ?? 'no type';
  if (/\bjson\b/.test(type)) return JSON.parse(text);
  throw new Unreachable(`The answer to ${name} is not from the platform (${type}). Check the URL ${response.url}.`);
}

/** Returns a body as text. @throws Unreachable if it has more bytes than the limit */
async function readText(response: Response, limit: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let left = limit;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    left -= value.length;
    if (left < 0) {
      await reader.cancel().catch(() => {});
      throw new Unreachable(
        `The answer of ${response.url || 'this server'} is larger than ${limit >> 20} MiB, the limit of the client.`,
      );
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

function isUpload(body: unknown): body is BodyInit {
  return typeof body === 'string' || body instanceof Blob || body instanceof Uint8Array;
}

function filled({ name, path }: Operation<unknown, unknown>, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = textOf(values[key]);
    // A URL would take these for other folders.
    if (/^\.{0,2}$/.test(value)) throw new ConfigurationError(`${name} needs ${key}, which cannot be "${value}".`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value]
      .flat()
      .filter((one) => one !== undefined && one !== null)
      .map((one) => [key, textOf(one)]),
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : '';
}

/** Parameters are strings, numbers and booleans. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Node reports why a connection failed; browsers do not. */
function isUnsent(error: unknown): boolean {
  const { code } = causeOf(error);
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(String(code));
}

function described(error: unknown): string {
  const { code, message } = causeOf(error);
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || String(error);
}

function causeOf(error: unknown): { code?: unknown; message?: unknown } {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  return typeof cause === 'object' && cause !== null ? cause : {};
}

/** Returns a random id. Browsers offer `crypto.randomUUID` only to pages loaded over HTTPS. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
