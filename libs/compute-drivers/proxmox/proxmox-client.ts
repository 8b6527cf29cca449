import { randomUUID } from 'node:crypto';
import { LONG_JSON, readUntrusted } from '../../json/parse-json';
import { ResponseTooLongError, sendOutbound } from '../../outbound-policy/outbound-request';
import type { HostResources } from '../host-resources';
import type { ProxmoxConnections } from './proxmox-connections';
import { connectionError, kindFromText, ProxmoxError } from './proxmox-error';

export interface ProxmoxAccount {
  /** URL such as `https://pve.example.org:8006`, with or without `/api2/json`. */
  endpoint: string;
  /** `user@realm`, or `user@realm!name` of an API token. */
  username: string;
  /** The password, or the secret of the API token. */
  password: string;
}

export interface ProxmoxLimits {
  /** Timeout of one HTTP request, milliseconds. */
  callMs: number;
  /** Timeout of a caller's request including the login, milliseconds. */
  overallMs: number;
  /** Limit of a response. */
  maxBytes: number;
}

const DEFAULT_LIMITS: ProxmoxLimits = { callMs: 10_000, overallMs: 20_000, maxBytes: 4 * 1024 * 1024 };

export interface ProxmoxNode {
  name: string;
  isOnline: boolean;
  /** Null for nodes that are not online, and without the privilege to see it. */
  resources: HostResources | null;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

/** A file to upload, with the parameters beside it. */
export interface ProxmoxUpload {
  filename: string;
  content: Buffer;
  fields: Readonly<Record<string, string>>;
}

interface RequestOptions {
  /** Parameters of a changing call. */
  form?: Readonly<Record<string, string>>;
  /** Sent instead of a form. */
  upload?: ProxmoxUpload;
  signal?: AbortSignal;
}

interface Body {
  content: string | Buffer;
  type: string;
}

interface HttpAnswer {
  status: number;
  /** The reason phrase, which has the error message of Proxmox VE. */
  reason: string;
  body: string;
}

interface Ticket {
  value: string;
  /** Header that a changing call needs besides the ticket. */
  csrfToken: string;
  /** Time of `performance.now()`. */
  endsAt: number;
}

/** Tickets are valid for two hours. They are dropped earlier, so that none expires during a call. */
const TICKET_LIFETIME_MS = 90 * 60_000;
const API_TOKEN = /@[A-Za-z][\w.-]*![A-Za-z][\w.-]*$/;
const MAX_REASON_LENGTH = 200;

/**
 * Calls Proxmox VE's REST API as one user: with an API token if the user name is one, else with a ticket for the password.
 * Every call ends within its timeout, with a response or a {@link ProxmoxError}.
 */
export class ProxmoxClient {
  private readonly apiUrl: URL;
  private ticket: Ticket | null = null;

  /** Throws a {@link ProxmoxError} if the endpoint or the format of the credentials is invalid. */
  constructor(
    private readonly connections: ProxmoxConnections,
    private readonly account: ProxmoxAccount,
    private readonly limits: ProxmoxLimits = DEFAULT_LIMITS,
  ) {
    this.apiUrl = connections.apiUrl(account.endpoint);
    if (!account.username.includes('@')) {
      throw refusedCredentials('USERNAME has no realm: send user@realm, or user@realm!name for an API token.');
    }
    if (this.hasToken && !/^[\x21-\x7e]+$/.test(account.username + account.password)) {
      throw refusedCredentials('The API token contains characters that a token cannot have.');
    }
  }

  async nodes(signal?: AbortSignal): Promise<ProxmoxNode[]> {
    const data = await this.request('GET', '/nodes', { signal });
    if (!Array.isArray(data)) throw this.notProxmox('did not return a list of nodes');
    return data.map((entry) => this.nodeOf(entry));
  }

  /** Lists the online nodes, sorted by name. Throws if Proxmox VE withholds the resources of one. */
  async onlineHosts(signal?: AbortSignal): Promise<HostResources[]> {
    const online = (await this.nodes(signal)).filter(({ isOnline }) => isOnline);
    const hosts = online.map(({ name, resources }) => {
      if (resources) return resources;
      throw refusedCredentials(
        `${this.apiUrl.host} does not show the resources of node ${name}. Grant the privilege Sys.Audit on /nodes to the account.`,
      );
    });
    return hosts.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** Calls an API path, such as `/nodes`, and returns the `data` of the response. */
  async request(method: Method, path: string, { form, upload, signal }: RequestOptions = {}): Promise<unknown> {
    const deadline = performance.now() + this.limits.overallMs;
    const body = upload ? multipart(upload) : form ? formBody(form) : null;
    const send = (headers: Headers) => this.send({ method, path, headers, body, deadline, signal });
    if (this.hasToken) {
      const { username, password } = this.account;
      return this.dataOf(await send({ Authorization: `PVEAPIToken=${username}=${password}` }));
    }
    const kept = this.ticket !== null && performance.now() < this.ticket.endsAt ? this.ticket : null;
    if (kept) {
      const answer = await send(ticketHeaders(kept, method));
      // A server whose keys have changed refuses its old tickets, so the call is tried again with a new one.
      if (answer.status !== 401) return this.dataOf(answer);
    }
    this.ticket = await this.login(deadline, signal);
    return this.dataOf(await send(ticketHeaders(this.ticket, method)));
  }

  private get hasToken(): boolean {
    return API_TOKEN.test(this.account.username);
  }

  private async login(deadline: number, signal: AbortSignal | undefined): Promise<Ticket> {
    const { username, password } = this.account;
    const body = formBody({ username, password });
    const answer = await this.send({ method: 'POST', path: '/access/ticket', headers: {}, body, deadline, signal });
    // Status 400 means a malformed name or password.
    if (answer.status === 400) throw refusedCredentials(this.errorText(answer));
    const data = this.dataOf(answer);
    if (!isObject(data)) throw this.notProxmox('did not return a ticket for the login');
    if (data['NeedTFA']) {
      throw refusedCredentials(
        'The account requires a second factor, which the platform cannot send. Use an API token.',
      );
    }
    const { ticket, CSRFPreventionToken: csrfToken } = data;
    if (!isHeaderText(ticket) || !isHeaderText(csrfToken)) {
      throw this.notProxmox('did not return a ticket for the login');
    }
    return { value: ticket, csrfToken, endsAt: performance.now() + TICKET_LIFETIME_MS };
  }

  /** One deadline covers the whole request, so a server that sends a byte now and then cannot delay the caller. */
  private async send(call: {
    method: Method;
    path: string;
    headers: Headers;
    body: Body | null;
    deadline: number;
    signal: AbortSignal | undefined;
  }): Promise<HttpAnswer> {
    const { method, path, body, deadline, signal } = call;
    const url = new URL(this.apiUrl.href + path);
    const bodyHeaders: Headers =
      body === null ? {} : { 'Content-Type': body.type, 'Content-Length': `${Buffer.byteLength(body.content)}` };
    const timeoutMs = Math.max(1, Math.min(this.limits.callMs, Math.round(deadline - performance.now())));
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await sendOutbound(url, {
        ...{ method, body: body?.content ?? null, agents: this.connections.agentsFor(url) },
        headers: { Accept: 'application/json', ...call.headers, ...bodyHeaders },
        maxBytes: this.limits.maxBytes,
        signal: signal ? AbortSignal.any([signal, late]) : late,
      });
      return { ...answer, body: answer.body.toString('utf8') };
    } catch (error) {
      if (signal?.aborted) throw new ProxmoxError('CANCELLED', 'The call was cancelled.', { cause: signal.reason });
      if (late.aborted)
        throw new ProxmoxError('TIMEOUT', `${url.host} did not answer within ${timeoutMs / 1000} seconds.`);
      if (error instanceof ResponseTooLongError) throw new ProxmoxError('NOT_PROXMOX', `${error.message}.`);
      throw connectionError(url.host, Object(error) as NodeJS.ErrnoException);
    }
  }

  private dataOf(answer: HttpAnswer): unknown {
    const { status } = answer;
    if (status === 401 || status === 403) throw refusedCredentials(this.errorText(answer));
    if (status >= 300 && status < 400)
      throw this.notProxmox(`answered with a redirect (HTTP ${status}), which is not followed`);
    if (status === 404 || status === 405 || status === 501) throw this.notProxmox(`answered with HTTP ${status}`);
    if (status === 429 || status >= 500) throw this.serverFault(answer);
    if (status < 200 || status >= 300) throw new ProxmoxError('REFUSED', this.errorText(answer));
    const content = readUntrusted(answer.body, LONG_JSON);
    if (!isObject(content) || !('data' in content)) throw this.notProxmox('did not return JSON with a field data');
    return content['data'];
  }

  /** Returns the fault of a server error. Proxmox VE reports full storages and its own errors with the same status. */
  private serverFault(answer: HttpAnswer): ProxmoxError {
    const isFull = kindFromText(answer.reason) === 'capacity';
    return new ProxmoxError(isFull ? 'FULL' : 'UNAVAILABLE', this.errorText(answer));
  }

  private nodeOf(entry: unknown): ProxmoxNode {
    const { node: name, status } = isObject(entry) ? entry : {};
    if (!isObject(entry) || typeof name !== 'string' || typeof status !== 'string') {
      throw this.notProxmox('did not return a list of nodes');
    }
    return { name, isOnline: status === 'online', resources: resourcesOf(name, entry) };
  }

  private notProxmox(what: string): ProxmoxError {
    return new ProxmoxError('NOT_PROXMOX', `${this.apiUrl.host} ${what}. It is not the API of Proxmox VE.`);
  }

  /** Returns the status and the message of Proxmox VE. The server is not trusted, so the text is cut and cleaned. */
  private errorText({ status, reason: phrase, body }: HttpAnswer): string {
    const reason = `${phrase} ${parameterErrors(body)}`.trim();
    const secrets = [this.account.password, this.ticket?.value ?? ''].filter((secret) => secret !== '');
    const safe = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), reason);
    const short = safe
      .replaceAll(/[^\x20-\x7e]/g, ' ')
      .slice(0, MAX_REASON_LENGTH)
      .trim();
    const what = short === '' ? `${status}` : `${status} ${short}`;
    return `${this.apiUrl.host} refused the call: ${what}${/[.!?]$/.test(what) ? '' : '.'}`;
  }
}

function refusedCredentials(message: string): ProxmoxError {
  return new ProxmoxError('CREDENTIALS_REFUSED', message);
}

function ticketHeaders({ value, csrfToken }: Ticket, method: Method): Headers {
  const cookie = { Cookie: `PVEAuthCookie=${encodeURIComponent(value)}` };
  return method === 'GET' ? cookie : { ...cookie, CSRFPreventionToken: csrfToken };
}

function resourcesOf(name: string, entry: Json): HostResources | null {
  const figures = ['maxcpu', 'cpu', 'maxmem', 'mem', 'maxdisk', 'disk'].map((key) => entry[key]);
  if (!figures.every((figure): figure is number => typeof figure === 'number' && figure >= 0)) return null;
  const [cores = 0, cpuUsage = 0, memoryBytes = 0, memoryUsedBytes = 0, diskBytes = 0, diskUsedBytes = 0] = figures;
  return { name, cores, cpuUsage, memoryBytes, memoryUsedBytes, diskBytes, diskUsedBytes };
}

/** Returns the invalid parameters with reasons. The reason phrase of a status 400 does not name them. */
function parameterErrors(body: string): string {
  const content = readUntrusted(body, LONG_JSON);
  const errors = isObject(content) ? content['errors'] : null;
  if (!isObject(errors)) return '';
  const reasons = Object.entries(errors).map(([name, why]) => `${name}: ${String(why).trim()}`);
  return reasons.join('; ');
}

function formBody(form: Readonly<Record<string, string>>): Body {
  return { content: new URLSearchParams(form).toString(), type: 'application/x-www-form-urlencoded' };
}

/** The parameters come first, because Proxmox VE reads them before the file. */
function multipart({ filename, content, fields }: ProxmoxUpload): Body {
  const boundary = randomUUID();
  const head = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const parts = Object.entries(fields).map(([name, value]) => `${head(`name="${name}"`)}\r\n${value}\r\n`);
  const file = `${head(`name="filename"; filename="${filename}"`)}Content-Type: application/octet-stream\r\n\r\n`;
  const end = `\r\n--${boundary}--\r\n`;
  const bytes = Buffer.concat([Buffer.from(parts.join('') + file), content, Buffer.from(end)]);
  return { content: bytes, type: `multipart/form-data; boundary=${boundary}` };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHeaderText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value);
}
