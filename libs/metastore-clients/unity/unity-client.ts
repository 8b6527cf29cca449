import { setTimeout as delay } from 'node:timers/promises';
import type { OutboundAgents, OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { assertModestJson, parseResponse } from '../response-json';
import { ResponseFields } from '../response-fields';
import { CallGuard, type CallBounds, DEFAULT_TIMEOUTS, type MetastoreTimeouts } from '../call-guard';
import {
  type CatalogInfo,
  type FunctionInfo,
  type MetastoreClient,
  MetastoreError,
  type SchemaInfo,
  type SchemaRef,
  type Table,
  type TableInfo,
  type TableRef,
  type VendedCredentials,
  type VolumeInfo,
} from '../metastore-client';
import { usableName } from '../metastore-names';
import { describeEach } from '../described-tables';
import { readPages } from '../paged-list';
import {
  readCatalog,
  readCredentials,
  readDescribed,
  readFunction,
  readSchema,
  readTable,
  readTableInfo,
  readVolume,
} from './unity-answers';
import { notUnity, unityFault } from './unity-fault';
import { sendUnityRequest, type UnityResponse } from './unity-request';

/** The address of a Unity Catalog, and the token to call it with. */
export interface UnityTarget {
  /** URL of a Databricks workspace or of a server, with or without `/api/2.1/unity-catalog`. */
  endpoint: string;
  /** Sent as a bearer token. */
  token: string;
}

type Query = Readonly<Record<string, string>>;

const API = ['api', '2.1', 'unity-catalog'];
const MAX_PAGE_TOKEN_LENGTH = 4096;
/** Lets the server choose: Databricks recommends it, and the open-source server ignores the number. */
const SERVER_PAGE_SIZE = '0';
/** Statuses that are retried once. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const RETRY_DELAY_MS = 500;
const CONNECTIONS = { keepAlive: true, maxSockets: 8, maxFreeSockets: 2, timeout: 30_000 };

/**
 * Unity Catalog, of Databricks or the open-source server, by its REST API. A list ends with a page without a token, whether
 * that is full or empty. Names with a dot are ambiguous in the API's full names and are `unsupported` in calls with one.
 */
export class UnityClient implements MetastoreClient {
  private readonly apiUrl: URL;
  private readonly token: string;
  private readonly agents: OutboundAgents;
  private readonly guard: CallGuard;

  /** Makes no request. Throws {@link MetastoreError} for an endpoint that may not be called and for a malformed token. */
  constructor(
    target: UnityTarget,
    outbound: OutboundPolicy,
    private readonly timeouts: MetastoreTimeouts = DEFAULT_TIMEOUTS,
  ) {
    this.apiUrl = apiUrlOf(target.endpoint, outbound);
    this.token = target.token;
    if (!/^[\x21-\x7e]{1,8192}$/.test(target.token)) {
      throw new MetastoreError(
        'denied',
        'The token is empty, too long or contains characters that are not allowed in a token.',
      );
    }
    this.agents = outbound.agentsWith(CONNECTIONS);
    this.guard = new CallGuard(this.apiUrl.host, timeouts.callMs);
  }

  listCatalogs(signal: AbortSignal): Promise<CatalogInfo[]> {
    return this.list('catalogs', {}, signal, readCatalog);
  }

  listSchemas(catalog: string | null, signal: AbortSignal): Promise<SchemaInfo[]> {
    return this.list('schemas', { catalog_name: catalog }, signal, (entry) => readSchema(entry, catalog));
  }

  listTables(schema: SchemaRef, signal: AbortSignal): Promise<TableInfo[]> {
    // No list shows columns and properties. Servers that do not know these parameters send them all the same.
    const without = { omit_columns: 'true', omit_properties: 'true' };
    return this.list('tables', { ...inSchema(schema), ...without }, signal, (entry) => readTableInfo(entry, schema));
  }

  describeTables(schema: SchemaRef, names: readonly string[], signal: AbortSignal): Promise<TableInfo[]> {
    // Unity has no table with a dot in its name, so such a table does not exist.
    const possible = names.filter((name) => !name.includes('.'));
    return this.guard.run(signal, (bounds) =>
      describeEach(possible, (table) => this.getTable({ ...schema, table }, bounds, readDescribed)),
    );
  }

  readTable(table: TableRef, signal: AbortSignal): Promise<Table | null> {
    return this.guard.run(signal, (bounds) => this.getTable(table, bounds, readTable));
  }

  async vendCredentials({ id = null }: Table, signal: AbortSignal): Promise<VendedCredentials | null> {
    if (id === null) return null;
    const body = JSON.stringify({ table_id: id, operation: 'READ' });
    const url = this.urlOf('temporary-table-credentials');
    return readCredentials(await this.guard.run(signal, (bounds) => this.request(url, bounds, body)));
  }

  listFunctions(schema: SchemaRef, signal: AbortSignal): Promise<FunctionInfo[]> {
    return this.list('functions', inSchema(schema), signal, (entry) => readFunction(entry, schema));
  }

  listVolumes(schema: SchemaRef, signal: AbortSignal): Promise<VolumeInfo[]> {
    return this.list('volumes', inSchema(schema), signal, (entry) => readVolume(entry, schema));
  }

  close(): void {
    this.guard.close();
    this.agents.http.destroy();
    this.agents.https.destroy();
  }

  private list<T extends { name: string }>(
    kind: string,
    where: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
    read: (entry: ResponseFields) => T,
  ): Promise<T[]> {
    return this.guard.run(signal, async (bounds) => {
      const query = Object.fromEntries(
        Object.entries(where).map(([key, name]) => [key, usableName(catalogName(name))]),
      );
      return readPages(async (token) => {
        const page = { ...query, max_results: SERVER_PAGE_SIZE, ...(token === null ? {} : { page_token: token }) };
        const answer = await this.get(kind, page, bounds);
        const entries = answer.list(kind, kind.slice(0, -1), read);
        return { entries, nextToken: answer.text('next_page_token', MAX_PAGE_TOKEN_LENGTH) };
      });
    });
  }

  private async getTable<T>(
    ref: TableRef,
    bounds: CallBounds,
    read: (answer: ResponseFields, ref: TableRef) => T,
  ): Promise<T | null> {
    const parts = [catalogName(ref.catalog), ref.schema, ref.table].map(usableName);
    if (parts.some((part) => part.includes('.'))) {
      const message =
        'Unity Catalog reads a table by the full name catalog.schema.table, in which no name can contain a dot.';
      throw new MetastoreError('unsupported', message);
    }
    try {
      // Encoded, because the open-source server never answers a malformed escape.
      return read(await this.get(`tables/${encodeURIComponent(parts.join('.'))}`, {}, bounds), ref);
    } catch (error) {
      if (error instanceof MetastoreError && error.fault === 'missing') return null;
      throw error;
    }
  }

  private get(path: string, query: Query, bounds: CallBounds): Promise<ResponseFields> {
    const url = this.urlOf(path);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    return this.request(url, bounds);
  }

  private urlOf(path: string): URL {
    return new URL(`${this.apiUrl.href}/${path}`);
  }

  /** @param body of a read-only POST; without it, the request is a GET */
  private async request(url: URL, bounds: CallBounds, body?: string): Promise<ResponseFields> {
    let answer = await this.send(url, bounds, body);
    const delayMs = RETRIED_STATUSES.has(answer.status) ? retryDelayOf(answer) : null;
    if (delayMs !== null && performance.now() + delayMs < bounds.endsAt) {
      await delay(delayMs, undefined, { signal: bounds.signal });
      answer = await this.send(url, bounds, body);
    }
    if (answer.status !== 200) {
      assertModestJson(answer.body);
      throw unityFault(url.host, answer, [this.token]);
    }
    // Only requests for credentials have a body, so errors must not quote their responses.
    return this.parsed(answer, url.host, body !== undefined);
  }

  private send(url: URL, { signal }: CallBounds, body?: string): Promise<UnityResponse> {
    const { token, agents, timeouts } = this;
    return sendUnityRequest({ url, body, token, agents, timeoutMs: timeouts.requestMs, signal });
  }

  private parsed({ status, body }: UnityResponse, server: string, isSecret: boolean): ResponseFields {
    try {
      return new ResponseFields(parseResponse(body), 'page');
    } catch (error) {
      if (error instanceof MetastoreError) throw error;
      throw notUnity(server, status, isSecret ? '' : body.toString('utf8'), [this.token]);
    }
  }
}

/** Returns the URL of the API. Drops the query and fragment, which a URL copied from a browser has. */
function apiUrlOf(endpoint: string, outbound: OutboundPolicy): URL {
  try {
    const { origin, pathname } = outbound.assertUrl(endpoint);
    const parts = pathname.split('/').filter((part) => part !== '');
    if (parts.slice(-API.length).join('/') === API.join('/')) parts.splice(-API.length);
    const path = [...parts, ...API].map((part) => encodeURIComponent(decodeURIComponent(part)));
    return new URL(`${origin}/${path.join('/')}`);
  } catch (error) {
    const message = error instanceof URIError ? 'The endpoint has a malformed escape.' : (error as Error).message;
    throw new MetastoreError('unreachable', message, { cause: error });
  }
}

function inSchema({ catalog, schema }: SchemaRef): { catalog_name: string | null; schema_name: string } {
  return { catalog_name: catalog, schema_name: schema };
}

function catalogName(name: string | null): string {
  if (name === null) throw new MetastoreError('missing', 'The name of a catalog is required for Unity Catalog.');
  return name;
}

/** Returns the delay before a retry, milliseconds, from Retry-After: seconds or a date (RFC 9110, 10.2.3). */
function retryDelayOf({ headers }: UnityResponse): number {
  const retryAfter = headers['retry-after'];
  if (retryAfter === undefined) return RETRY_DELAY_MS;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? RETRY_DELAY_MS : Math.max(ms, 0);
}
