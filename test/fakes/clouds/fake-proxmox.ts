import { randomBytes } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { FakeProxmoxMachines } from './fake-proxmox-machines';
import type { ServerIdentity } from '../http/self-signed';

/** An account that logs in with a password. */
export interface FakeUser {
  /** `user@realm` */
  name: string;
  password: string;
  /** True if the password alone gives no ticket. */
  secondFactor?: boolean;
  /** True or absent if the user has Sys.Audit. */
  mayAudit?: boolean;
  /** Privileges by path; all by default. */
  privileges?: Readonly<Record<string, readonly string[]>>;
  /** The missing privilege by refused call, such as `POST /clone`. */
  lacks?: Readonly<Record<string, string>>;
}

export interface FakeToken {
  /** `user@realm!name` */
  id: string;
  secret: string;
  mayAudit?: boolean;
}

/** A node of the cluster; memory and disk in bytes. */
export interface FakeNode {
  node: string;
  status: 'online' | 'offline' | 'unknown';
  cpu: number;
  maxcpu: number;
  mem: number;
  maxmem: number;
  disk: number;
  maxdisk: number;
}

export interface FakeProxmoxOptions {
  users?: FakeUser[];
  tokens?: FakeToken[];
  nodes?: FakeNode[];
  /** The certificate for HTTPS; plain HTTP without one. */
  identity?: ServerIdentity;
}

type Caller = Pick<FakeUser, 'mayAudit' | 'lacks' | 'privileges'>;

const ROOT = '/api2/json';
const ALL =
  'Sys.Audit VM.Audit VM.Clone VM.Allocate VM.Config.CDROM VM.Config.CPU VM.Config.Disk VM.Config.Memory VM.Config.Network VM.Config.Options VM.PowerMgmt VM.GuestAgent.Audit SDN.Use Datastore.Audit Datastore.AllocateSpace Datastore.AllocateTemplate'.split(
    ' ',
  );

/**
 * A stand-in for Proxmox VE. It follows the published description of the REST API (the API viewer of Proxmox VE 8 and its wiki
 * page on the API): logins with tickets and API tokens, CSRF tokens, the list of nodes, pools as the simplest resource to
 * create, and errors in the reason phrase.
 */
export class FakeProxmox {
  /** Requests such as `GET /api2/json/nodes`, in the order of arrival. */
  readonly calls: string[] = [];
  readonly pools: string[] = [];
  readonly machines: FakeProxmoxMachines;
  private readonly tickets = new Map<string, { user: FakeUser; csrfToken: string }>();
  private override: RequestListener | null = null;

  private constructor(
    readonly url: string,
    private readonly server: Server & { closeAllConnections(): void },
    private readonly options: FakeProxmoxOptions,
  ) {
    this.machines = new FakeProxmoxMachines((options.nodes ?? []).map(({ node }) => node));
  }

  static async start(options: FakeProxmoxOptions = {}): Promise<FakeProxmox> {
    const listener: RequestListener = (request, response) => {
      fake.handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    };
    const { identity } = options;
    const server = identity ? createHttpsServer(identity, listener) : createHttpServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const fake = new FakeProxmox(`${identity ? 'https' : 'http'}://127.0.0.1:${port}`, server, options);
    return fake;
  }

  /** Makes the listener answer every request; null restores the hypervisor. */
  answerWith(listener: RequestListener | null): void {
    this.override = listener;
  }

  /** Invalidates all tickets, like a change of the server's keys. */
  dropTickets(): void {
    this.tickets.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    this.calls.push(`${method} ${url}`);
    if (this.override) return void this.override(request, response);
    const body = await buffer(request);
    const form = new URLSearchParams(body.toString());
    if (method === 'POST' && url === `${ROOT}/access/ticket`) return this.login(form, response);
    const caller = this.callerOf(request);
    if (typeof caller === 'string') return answer(response, null, 401, caller);
    if (method === 'GET' && url === `${ROOT}/version`) return answer(response, { version: '9.1.4', release: '9.1' });
    if (method === 'GET' && url === `${ROOT}/nodes`) return answer(response, this.nodesFor(caller));
    if (method === 'POST' && url === `${ROOT}/pools`) {
      this.pools.push(form.get('poolid') ?? '');
      return answer(response, null);
    }
    this.machineCall(request, body, caller, response);
  }

  private machineCall(request: IncomingMessage, body: Buffer, caller: Caller, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const form = new URLSearchParams(body.toString());
    const { pathname, searchParams } = new URL(url, this.url);
    const path = pathname.slice(ROOT.length);
    if (method === 'GET' && path === '/access/permissions') return answer(response, permissionsOf(caller));
    const lacking = Object.entries(caller.lacks ?? {}).find(([call]) => {
      const [wanted = '', end = ''] = call.split(' ');
      return method === wanted && path.endsWith(end);
    });
    if (lacking) return answer(response, null, 403, `Permission check failed (/vms, ${lacking[1]})`);
    const uploaded = uploadIn(request, body);
    const fields = uploaded?.fields ?? Object.fromEntries(form);
    const result = this.machines.answer(method, path, searchParams, fields, uploaded?.file ?? null);
    if (result) return answer(response, result.data ?? null, result.status, result.reason);
    return answer(response, null, 501, `Method '${method} ${url.slice(ROOT.length)}' not implemented`);
  }

  private login(form: URLSearchParams, response: ServerResponse): void {
    const [name, password] = [form.get('username'), form.get('password')];
    if (!name || !password) return answer(response, null, 400, 'Parameter verification failed.');
    const user = this.options.users?.find((known) => known.name === name && known.password === password);
    if (!user) return answer(response, null, 401, 'authentication failure');
    if (user.secondFactor) {
      return answer(response, { username: name, NeedTFA: 1, ticket: `PVE:!tfa!${name}:`, CSRFPreventionToken: 'none' });
    }
    const ticket = `PVE:${name}:${Date.now().toString(16).toUpperCase()}::${randomBytes(48).toString('base64')}==`;
    const csrfToken = `${Date.now().toString(16).toUpperCase()}:${randomBytes(24).toString('base64')}`;
    this.tickets.set(ticket, { user, csrfToken });
    answer(response, { username: name, ticket, CSRFPreventionToken: csrfToken, cap: {} });
  }

  /** Returns the caller, or the refusal. */
  private callerOf({ headers, method }: IncomingMessage): Caller | string {
    const [, id, secret] = /^PVEAPIToken=([^=]+)=(.+)$/.exec(headers.authorization ?? '') ?? [];
    if (id !== undefined) {
      const token = this.options.tokens?.find((known) => known.id === id);
      if (!token) return `no such token '${id}'`;
      return token.secret === secret ? token : 'invalid token value!';
    }
    const [, cookie] = /(?:^|;\s*)PVEAuthCookie=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    if (cookie === undefined) return 'No ticket';
    const session = this.tickets.get(decodeURIComponent(cookie));
    if (!session) return 'invalid PVE ticket';
    const isForged = method !== 'GET' && headers['csrfpreventiontoken'] !== session.csrfToken;
    return isForged ? 'Permission denied - invalid csrf token' : session.user;
  }

  /** A node that is not online has no usage figures; without Sys.Audit no node has any. */
  private nodesFor({ mayAudit = true }: Caller): object[] {
    return (this.options.nodes ?? []).map(({ node, status, cpu, maxcpu, mem, maxmem, disk, maxdisk }) => ({
      ...{ id: `node/${node}`, node, type: 'node', status, level: '' },
      ...(mayAudit ? { maxcpu, maxmem, maxdisk } : {}),
      ...(mayAudit && status === 'online' ? { cpu, mem, disk, uptime: 86_400 } : {}),
    }));
  }
}

/** Returns the file and the other fields of a multipart form; null for other requests. */
function uploadIn({ headers }: IncomingMessage, body: Buffer): { fields: Record<string, string>; file: Buffer } | null {
  const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? [];
  if (boundary === undefined) return null;
  const fields: Record<string, string> = {};
  let file = Buffer.alloc(0);
  for (const part of body.toString('latin1').split(`--${boundary}`)) {
    const [head = '', content = ''] = part.split(/\r\n\r\n([\s\S]*)\r\n$/);
    const [, name = '', filename] = /name="([^"]+)"(?:; filename="([^"]+)")?/.exec(head) ?? [];
    if (filename !== undefined) file = Buffer.from(content, 'latin1');
    fields[name] = filename ?? content;
  }
  return { fields, file };
}

/** Writes a response: JSON with `data`; errors are in the reason phrase. */
function answer(response: ServerResponse, data: unknown, status = 200, reason = 'OK'): void {
  response.writeHead(status, reason, { 'Content-Type': 'application/json;charset=UTF-8' });
  response.end(JSON.stringify({ data }));
}

/** Returns the privileges of the role in the documentation: 1 if they apply below the path too, 0 if not. */
function permissionsOf({ privileges = { '/': ALL } }: Caller): object {
  const of = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));
  return Object.fromEntries(Object.entries(privileges).map(([path, names]) => [path, of(names)]));
}
