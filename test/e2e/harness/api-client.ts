import { AssertionError } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenApiValidator } from '../../harness/openapi-validator';

/** The response of an operation; `body` is the parsed JSON, or undefined if the response is not JSON. */
export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
  /** Throws unless the response is the error with this status and stable code. */
  expectError(status: number, code: string): Answer<ErrorBody>;
}

export interface ErrorBody {
  error: string;
  error_code: string;
  error_message: string;
  details: Record<string, unknown>;
  correlation_id: string;
}

/** JSON of the service; tests name the fields they read. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document that each test gives its own shape
export type Json = any;

type QueryValue = string | number | boolean | readonly (string | number)[] | undefined;

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is, as `application/octet-stream` unless `headers` say otherwise. */
  data?: Uint8Array | string;
  /** Milliseconds; default 60 seconds. */
  timeoutMs?: number;
}

let validator: OpenApiValidator | undefined;

/** The committed openapi.json, read once per test file. */
function documentation(): OpenApiValidator {
  const file = join(__dirname, '..', '..', '..', 'openapi.json');
  validator ??= new OpenApiValidator(JSON.parse(readFileSync(file, 'utf8')) as object);
  return validator;
}

/** A client of the REST API that checks every response against openapi.json. Paths are relative to `/api/v1`. */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    private token: string | null = null,
  ) {}

  /** Returns a client of the same API with another token, or with none. */
  withToken(token: string | null): ApiClient {
    return new ApiClient(this.baseUrl, token);
  }

  get currentToken(): string | null {
    return this.token;
  }

  /** Logs in and keeps the token; a tenant is not selected yet unless the user has exactly one. */
  async login(username: string, password: string): Promise<string> {
    const { token } = await this.post('/login', { username, password }, 200);
    this.token = token;
    return token;
  }

  /** Logs in and selects the user's first tenant; returns its id. */
  async loginToTenant(username: string, password: string): Promise<string> {
    await this.login(username, password);
    const page = await this.get('/user/tenants');
    const tenantId: unknown = page.data?.[0]?.tenant_id;
    if (typeof tenantId !== 'string') throw new AssertionError({ message: `${username} has no tenant` });
    await this.selectTenant(tenantId);
    return tenantId;
  }

  async selectTenant(tenantId: string): Promise<void> {
    await this.post(`/user/select/${tenantId}`, undefined, 201);
  }

  /** Returns the body of a successful GET. */
  async get<T = Json>(path: string, query?: RequestOptions['query'], status = 200): Promise<T> {
    return this.expecting<T>('GET', path, { query }, status);
  }

  async post<T = Json>(path: string, json?: unknown, status = 200, options: RequestOptions = {}): Promise<T> {
    return this.expecting<T>('POST', path, { ...options, json }, status);
  }

  async put<T = Json>(path: string, json?: unknown, status = 201, options: RequestOptions = {}): Promise<T> {
    return this.expecting<T>('PUT', path, { ...options, json }, status);
  }

  async delete<T = Json>(path: string, status = 201, options: RequestOptions = {}): Promise<T> {
    return this.expecting<T>('DELETE', path, options, status);
  }

  /** Sends a file as the body of the request. */
  async upload<T = Json>(
    path: string,
    data: Uint8Array | string,
    options: RequestOptions & { method?: 'POST' | 'PUT'; status?: number } = {},
  ): Promise<T> {
    const { method = 'POST', status = 200, ...rest } = options;
    return this.expecting<T>(method, path, { ...rest, data }, status);
  }

  /** Returns the text of a successful GET, such as a log. */
  async text(path: string, query?: RequestOptions['query']): Promise<string> {
    const answer = await this.request('GET', path, { query });
    this.assertStatus('GET', path, answer, 200);
    return answer.text;
  }

  /** Sends any request and accepts any status; the response is still checked against openapi.json. */
  async request<T = Json>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const url = new URL(`/api/v1${path}`, this.baseUrl);
    appendQuery(url, options.query ?? {});
    const { headers, body } = this.payload(options);
    const signal = AbortSignal.timeout(options.timeoutMs ?? 60_000);
    const response = await fetch(url, { method, headers, body: body ?? null, signal, redirect: 'manual' });
    const text = await response.text();
    const contentType = response.headers.get('content-type');
    const parsed = parseBody(text, contentType);
    documentation().assertResponse({ method, path: url.pathname, status: response.status, contentType, body: parsed });
    const answer = { status: response.status, headers: response.headers, body: parsed as T, text };
    return { ...answer, expectError: (status, code) => asError(`${method} ${path}`, answer, status, code) };
  }

  /** Sends the request and throws unless the response is this error. */
  async expectError(
    method: string,
    path: string,
    options: RequestOptions,
    status: number,
    code: string,
  ): Promise<ErrorBody> {
    return (await this.request(method, path, options)).expectError(status, code).body;
  }

  private payload({ json, data, headers = {} }: RequestOptions) {
    const all: Record<string, string> = { ...(this.token ? { authorization: `Bearer ${this.token}` } : {}) };
    if (data !== undefined) all['content-type'] = 'application/octet-stream';
    else if (json !== undefined) all['content-type'] = 'application/json';
    const text = json === undefined ? undefined : JSON.stringify(json);
    return { headers: { ...all, ...headers }, body: data ?? text };
  }

  private async expecting<T>(method: string, path: string, options: RequestOptions, status: number): Promise<T> {
    const answer = await this.request<T>(method, path, options);
    this.assertStatus(method, path, answer, status);
    return answer.body;
  }

  private assertStatus(method: string, path: string, answer: Omit<Answer<unknown>, 'expectError'>, status: number) {
    if (answer.status === status) return;
    throw new AssertionError({
      message: `${method} ${path} answered ${answer.status} where ${status} was expected: ${answer.text.slice(0, 1000)}`,
      actual: answer.status,
      expected: status,
    });
  }
}

function asError(
  operation: string,
  answer: Omit<Answer<unknown>, 'expectError'>,
  status: number,
  code: string,
): Answer<ErrorBody> {
  const body = answer.body as Partial<ErrorBody> | undefined;
  if (answer.status !== status || body?.error_code !== code) {
    throw new AssertionError({
      message: `${operation} answered ${answer.status} where ${status} ${code} was expected: ${answer.text.slice(0, 1000)}`,
      actual: `${answer.status} ${body?.error_code}`,
      expected: `${status} ${code}`,
    });
  }
  return { ...answer, body: body as ErrorBody, expectError: (s, c) => asError(operation, answer, s, c) };
}

function appendQuery(url: URL, query: Record<string, QueryValue>): void {
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? (value as readonly (string | number)[]) : [value]) {
      url.searchParams.append(name, String(item));
    }
  }
}

function parseBody(text: string, contentType: string | null): unknown {
  if (text === '' || !contentType?.includes('json')) return text === '' ? undefined : text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new AssertionError({ message: `The answer claims to be JSON and is not: ${text.slice(0, 500)}` });
  }
}
