import { SetupError } from '../embedded/setup-error.mjs';
import { withDeadline } from '../embedded/deadline.mjs';

const REQUEST_TIMEOUT_MS = 60_000;

/** @typedef {{error_code?: string, error_message?: string, error?: string, correlation_id?: string}} ErrorBody */

/**
 * @typedef {object} RequestOptions
 * @property {Record<string, unknown>} [query]
 * @property {unknown} [body] sent as JSON
 * @property {Buffer} [bytes] sent as they are
 * @property {number} [timeoutMs] how long to wait for the answer
 */

/** A response of the API that is not a success. */
export class ApiError extends Error {
  /** @param {string} call method and path @param {number} status @param {ErrorBody | null} body null if there was none */
  constructor(call, status, body) {
    const code = body?.error_code ? ` ${body.error_code}` : '';
    const trace = body?.correlation_id ? ` (correlation id ${body.correlation_id})` : '';
    super(`${call} was answered ${status}${code}: ${body?.error_message ?? body?.error ?? 'no reason given'}${trace}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = body?.error_code;
  }
}

/** A logged-in user of one tenant, using only REST. */
export class Session {
  /** @param {{baseUrl: string, signal?: AbortSignal}} options */
  constructor({ baseUrl, signal }) {
    this.baseUrl = baseUrl;
    this.signal = signal;
    /** @type {string | null} */
    this.token = null;
    /** @type {string | null} */
    this.tenantId = null;
  }

  /**
   * @param {string} method
   * @param {string} path below /api/v1
   * @param {RequestOptions} [options]
   * @returns {Promise<any>} the JSON response, whose shape depends on the operation
   * @throws {ApiError}
   */
  async json(method, path, options) {
    return (await this.send(method, path, options)).json();
  }

  /**
   * Like json(), but returns the response itself.
   * @param {string} method
   * @param {string} path
   * @param {RequestOptions} [options]
   * @returns {Promise<Response>}
   */
  async send(method, path, { query = {}, body, bytes, timeoutMs = REQUEST_TIMEOUT_MS } = {}) {
    const url = new URL(`${this.baseUrl}/api/v1${path}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
    /** @type {Record<string, string>} */
    const headers = { accept: 'application/json, text/plain, */*' };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (bytes) {
      headers['content-type'] = 'application/octet-stream';
      headers['x-file-size'] = String(bytes.length);
    }
    const answer = await fetch(url, {
      method,
      headers,
      body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: withDeadline(timeoutMs, this.signal),
    }).catch((/** @type {Error} */ error) => {
      this.signal?.throwIfAborted();
      if (error.name === 'TimeoutError') {
        throw new SetupError(
          `${method} ${path} was not answered within ${timeoutMs / 1000} s. This machine may be too busy; run it again when other work has ended.`,
          { cause: error },
        );
      }
      const reason = error.cause instanceof Error ? error.cause.message : error.message;
      throw new Error(`${method} ${path} was not answered: ${reason}`, { cause: error });
    });
    if (answer.ok) return answer;
    const refusal = /** @type {ErrorBody | null} */ (await answer.json().catch(() => null));
    throw new ApiError(`${method} ${path}`, answer.status, refusal);
  }
}

/**
 * Logs in and selects the oldest tenant of the user: a tenant that is created later does not take the place of the first.
 * @param {{baseUrl: string, username: string, password: string, signal?: AbortSignal}} options
 * @returns {Promise<Session>}
 */
export async function login({ baseUrl, username, password, signal }) {
  const session = new Session({ baseUrl, signal });
  try {
    session.token = (await session.json('POST', '/login', { body: { username, password } })).token;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new SetupError(
      `The user ${username} could not log in with the password made at the first start. If it has been changed since, or the database was set up from another folder, set BOOTSTRAP_ADMIN_PASSWORD to the current one.`,
      { cause: error },
    );
  }
  /** @param {number} pageNumber newest first */
  const tenants = (pageNumber) => session.json('GET', '/user/tenants', { query: { limit: 1, pageNumber } });
  const { result_set } = await tenants(1);
  const { data } = await tenants(Math.max(result_set.total_pages, 1));
  if (!data[0]) throw new SetupError(`The user ${username} belongs to no tenant.`);
  session.tenantId = data[0].tenant_id;
  await session.json('POST', `/user/select/${session.tenantId}`);
  return session;
}
