import { setTimeout as delay } from 'node:timers/promises';
import type { OutboundAgents, OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { assertModestJson, parseAnswer } from '../answer-json';
import { AnswerFields } from '../answer-fields';
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
import { sendUnityRequest, type UnityAnswer } from './unity-request';

/** Where Unity Catalog is, and as whom to call it. */
export interface UnityTarget {
  /** URL of a Databricks workspace or of a server, with or without `/api/2.1/unity-catalog`. */
  endpoint: string;
  /** Sent as a bearer token. */
  token: string;
}

type Query = Readonly<Record<string, string>>;

const API = ['api', '2.1', 'unity-catalog'];
const MAX_PAGE_TOKEN_LENGTH = 4096;
/** Databricks advises it, the open server's pages are as long with it as with any other number. */
const PAGE_LENGTH_OF_SERVER = '0';
/** Answers that may be others a moment later. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const PAUSE_MS = 500;
const CONNECTIONS = { keepAlive: true, maxSockets: 8, maxFreeSockets: 2, timeout: 30_000 };

/**
 * Unity Catalog, Databricks' or the open server, by its REST API. Lists end where a page has no token, be it full or
 * empty. Names with a dot cannot be told apart in the API's full names and are `unsupported` where one is needed.
 */
export class UnityClient implements MetastoreClient {
  private readonly apiUrl: URL;
  private readonly token: string;
  private readonly agents: OutboundAgents;
  private readonly guard: CallGuard;

  /** Calls nobody. Throws {@link MetastoreError} for an endpoint that may not be called and for what is no token. */
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
        'The token is empty, too long or contains characters that a token cannot have.',
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
    // Nobody reads them in a list. Servers that do not know these parameters tell them all the same.
    const without = { omit_columns: 'true', omit_properties: 'true' };
    return this.list('tables', { ...inSchema(schema), ...without }, signal, (entry) => readTableInfo(entry, schema));
  }

  describeTables(schema: SchemaRef, names: readonly string[], signal: AbortSignal): Promise<TableInfo[]> {
    // Unity has no table with a dot in its name, so such a one is gone like any other.
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
    return readCredentials(await this.guard.run(signal, (bounds) => this.ask(url, bounds, body)));
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
    read: (entry: AnswerFields) => T,
  ): Promise<T[]> {
    return this.guard.run(signal, async (bounds) => {
      const query = Object.fromEntries(
        Object.entries(where).map(([key, name]) => [key, usableName(catalogName(name))]),
      );
      return readPages(async (token) => {
        const page = { ...query, max_results: PAGE_LENGTH_OF_SERVER, ...(token === null ? {} : { page_token: token }) };
        const answer = await this.get(kind, page, bounds);
        const entries = answer.list(kind, kind.slice(0, -1), read);
        return { entries, nextToken: answer.text('next_page_token', MAX_PAGE_TOKEN_LENGTH) };
      });
    });
  }

  private async getTable<T>(
    ref: TableRef,
    bounds: CallBounds,
    read: (answer: AnswerFields, ref: TableRef) => T,
  ): Promise<T | null> {
    const parts = [catalogName(ref.catalog), ref.schema, ref.table].map(usableName);
    if (parts.some((part) => part.includes('.'))) {
      const why =
        'Unity Catalog reads a table by the full name catalog.schema.table, in which no name can contain a dot.';
      throw new MetastoreError('unsupported', why);
    }
    try {
      // A malformed escape would be waited for until the deadline, since the open server never answers one.
      return read(await this.get(`tables/${encodeURIComponent(parts.join('.'))}`, {}, bounds), ref);
    } catch (error) {
      if (error instanceof MetastoreError && error.fault === 'missing') return null;
      throw error;
    }
  }

  private get(path: string, query: Query, bounds: CallBounds): Promise<AnswerFields> {
    const url = this.urlOf(path);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    return this.ask(url, bounds);
  }

  private urlOf(path: string): URL {
    return new URL(`${this.apiUrl.href}/${path}`);
  }

  /** @param body of a POST that changes nothing; without it, the request is a GET */
  private async ask(url: URL, bounds: CallBounds, body?: string): Promise<AnswerFields> {
    let answer = await this.send(url, bounds, body);
    const pauseMs = BUSY.has(answer.status) ? pauseOf(answer) : null;
    if (pauseMs !== null && performance.now() + pauseMs < bounds.endsAt) {
      await delay(pauseMs, undefined, { signal: bounds.signal });
      answer = await this.send(url, bounds, body);
    }
    if (answer.status !== 200) {
      assertModestJson(answer.body);
      throw unityFault(url.host, answer, [this.token]);
    }
    // Only requests for credentials have a body, so their answers must not be quoted.
    return this.parsed(answer, url.host, body !== undefined);
  }

  private send(url: URL, { signal }: CallBounds, body?: string): Promise<UnityAnswer> {
    const { token, agents, timeouts } = this;
    return sendUnityRequest({ url, body, token, agents, timeoutMs: timeouts.requestMs, signal });
  }

  private parsed({ status, body }: UnityAnswer, server: string, isSecret: boolean): AnswerFields {
    try {
      return new AnswerFields(parseAnswer(body), 'page');
    } catch (error) {
      if (error instanceof MetastoreError) throw error;
      throw notUnity(server, status, isSecret ? '' : body.toString('utf8'), [this.token]);
    }
  }
}

/** Without query and fragment, which addresses copied from a browser have. */
function apiUrlOf(endpoint: string, outbound: OutboundPolicy): URL {
  try {
    const { origin, pathname } = outbound.assertUrl(endpoint);
    const parts = pathname.split('/').filter((part) => part !== '');
    if (parts.slice(-API.length).join('/') === API.join('/')) parts.splice(-API.length);
    const path = [...parts, ...API].map((part) => encodeURIComponent(decodeURIComponent(part)));
    return new URL(`${origin}/${path.join('/')}`);
  } catch (error) {
    const why = error instanceof URIError ? 'The endpoint has a malformed escape.' : (error as Error).message;
    throw new MetastoreError('unreachable', why, { cause: error });
  }
}

function inSchema({ catalog, schema }: SchemaRef): { catalog_name: string | null; schema_name: string } {
  return { catalog_name: catalog, schema_name: schema };
}

function catalogName(name: string | null): string {
  if (name === null) throw new MetastoreError('missing', 'Unity Catalog needs the name of a catalog.');
  return name;
}

/** Milliseconds until the server may be asked again: seconds or a date (RFC 9110, 10.2.3). */
function pauseOf({ headers }: UnityAnswer): number {
  const said = headers['retry-after'];
  if (said === undefined) return PAUSE_MS;
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return Number.isNaN(ms) ? PAUSE_MS : Math.max(ms, 0);
}
