import { parseUntrusted, SHORT_JSON } from '../../../libs/json/parse-json';
import type { IncomingMessage } from 'node:http';
import { type FakeAnswer, FakeService, type FakeServiceOptions } from '../http/fake-service';
import type { LoopbackServer } from '../http/loopback-server';

/** A record as the API returns it, with at least a `name`. */
export type FakeUnityRecord = Readonly<Record<string, unknown>> & { name: string };

export interface FakeUnitySchema {
  record?: Readonly<Record<string, unknown>>;
  tables?: FakeUnityRecord[];
  functions?: FakeUnityRecord[];
  volumes?: FakeUnityRecord[];
}

export interface FakeUnityCatalog {
  record?: Readonly<Record<string, unknown>>;
  schemas: Record<string, FakeUnitySchema>;
}

export interface FakeUnityOptions extends FakeServiceOptions {
  catalogs: Record<string, FakeUnityCatalog>;
  /** Null admits every caller, like the open server without authorization. */
  token?: string | null;
  /** Maximum page size: 100 at the open server, 50 for tables at Databricks. */
  pageLength?: number;
  /** Responses to requests for credentials, by table id; without them the server does not know such requests. */
  vended?: Record<string, object>;
  /** Names that the caller may not see: they are removed from a page after it was cut. */
  hidden?: ReadonlySet<string>;
}

class UnityRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const ROOT = '/api/2.1/unity-catalog/';

/**
 * A stand-in for Unity Catalog. It follows the published description of the REST API (the OpenAPI document of the open server,
 * and Databricks' reference for pages and errors): lists by catalog and schema with `max_results` and `page_token`, a table by
 * its full name, unset fields as explicit nulls, errors with `error_code`. As on the open server, a full last page has a token,
 * and unknown routes return plain text.
 */
export class FakeUnity extends FakeService {
  private constructor(
    server: LoopbackServer,
    private readonly options: FakeUnityOptions,
  ) {
    super(server, options.latencyMs);
  }

  static start(options: FakeUnityOptions): Promise<FakeUnity> {
    return FakeUnity.serve((server) => new FakeUnity(server, options), options.port);
  }

  /** `GET /api/2.1/unity-catalog/catalogs?max_results=0` */
  protected nameOf({ method = '', url = '' }: IncomingMessage): string {
    return `${method} ${url}`;
  }

  protected reply(request: IncomingMessage, body: string): FakeAnswer {
    try {
      this.admit(request);
      const { pathname, searchParams } = new URL(request.url ?? '', this.url);
      const path = pathname.startsWith(ROOT) ? pathname.slice(ROOT.length) : '';
      const answered = request.method === 'POST' ? this.vend(path, body) : this.answer(path, searchParams);
      if (answered === null) return { status: 404, type: 'text/plain', body: 'Status: 404\nDescription: Not Found' };
      return json(200, answered);
    } catch (error) {
      if (!(error instanceof UnityRefusal)) throw error;
      return json(error.status, { error_code: error.code, details: [], message: error.message });
    }
  }

  private admit(request: IncomingMessage): void {
    const { token = null } = this.options;
    if (token === null || request.headers.authorization === `Bearer ${token}`) return;
    throw new UnityRefusal(401, 'UNAUTHENTICATED', 'Invalid access token.');
  }

  private vend(path: string, body: string): object | null {
    const { vended } = this.options;
    if (path !== 'temporary-table-credentials' || !vended) return null;
    const { table_id: id, operation } = parseUntrusted(Buffer.from(body), SHORT_JSON) as Record<string, string>;
    if (operation !== 'READ') throw new UnityRefusal(400, 'INVALID_ARGUMENT', 'The operation is unknown.');
    const credentials = Object.hasOwn(vended, id ?? '') ? vended[id ?? ''] : undefined;
    if (!credentials) throw new UnityRefusal(403, 'PERMISSION_DENIED', 'EXTERNAL USE SCHEMA is needed.');
    return { aws_temp_credentials: null, azure_user_delegation_sas: null, gcp_oauth_token: null, ...credentials };
  }

  private answer(path: string, query: URLSearchParams): object | null {
    const [kind = '', fullName] = path.split('/').map(decodeURIComponent);
    if (kind === 'tables' && fullName !== undefined) return this.tableOf(fullName);
    const records = fullName === undefined ? this.recordsOf(kind, query) : null;
    return records && this.page(kind, records, query);
  }

  private recordsOf(kind: string, query: URLSearchParams): FakeUnityRecord[] | null {
    const [catalog, schema] = [query.get('catalog_name') ?? '', query.get('schema_name') ?? ''];
    switch (kind) {
      case 'catalogs':
        return Object.entries(this.options.catalogs).map(([name, { record }]) => ({ name, ...record }));
      case 'schemas':
        return Object.entries(this.catalogOf(catalog).schemas).map(([name, { record }]) => ({
          name,
          catalog_name: catalog,
          full_name: `${catalog}.${name}`,
          comment: null,
          ...record,
        }));
      case 'tables':
      case 'functions':
      case 'volumes': {
        const records = this.schemaOf(catalog, schema)[kind] ?? [];
        return records.map((record) => ({ catalog_name: catalog, schema_name: schema, ...record }));
      }
      default:
        return null;
    }
  }

  /** Returns a page; the token is the name of the last entry, as at the open server. */
  private page(kind: string, records: FakeUnityRecord[], query: URLSearchParams): object {
    const wanted = Number(query.get('max_results') ?? 0);
    if (!(wanted >= 0)) throw new UnityRefusal(400, 'INVALID_ARGUMENT', 'max_results must not be negative.');
    const { pageLength = 100, hidden } = this.options;
    const length = wanted === 0 ? pageLength : Math.min(wanted, pageLength);
    const after = query.get('page_token');
    const begin = after === null ? 0 : records.findIndex(({ name }) => name === after) + 1;
    const page = records.slice(begin, begin + length);
    const token = page.length === length ? (page.at(-1)?.name ?? null) : null;
    return { [kind]: page.filter(({ name }) => !hidden?.has(name)), next_page_token: token };
  }

  private tableOf(fullName: string): object {
    const [catalog = '', schema = '', ...name] = fullName.split('.');
    const table = this.schemaOf(catalog, schema).tables?.find((known) => known.name === name.join('.'));
    if (!table) throw new UnityRefusal(404, 'TABLE_NOT_FOUND', `Table not found: ${fullName}`);
    return { catalog_name: catalog, schema_name: schema, ...table };
  }

  private catalogOf(name: string): FakeUnityCatalog {
    const { catalogs } = this.options;
    const catalog = Object.hasOwn(catalogs, name) ? catalogs[name] : undefined;
    if (!catalog) throw new UnityRefusal(404, 'CATALOG_NOT_FOUND', `Catalog not found: ${name}`);
    return catalog;
  }

  private schemaOf(catalog: string, name: string): FakeUnitySchema {
    const { schemas } = this.catalogOf(catalog);
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (!schema) throw new UnityRefusal(404, 'SCHEMA_NOT_FOUND', `Schema not found: ${catalog}.${name}`);
    return schema;
  }
}

/** Returns a table with `columns` columns, as Unity Catalog describes one. */
export function fakeUnityTable(name: string, columns = 20): FakeUnityRecord {
  return {
    name,
    table_type: 'MANAGED',
    data_source_format: 'DELTA',
    columns: Array.from({ length: columns }, (_, position) => ({
      name: `column_${position}`,
      type_text: 'bigint',
      type_json: `{"name":"column_${position}","type":"long","nullable":true,"metadata":{}}`,
      type_name: 'LONG',
      type_precision: 0,
      type_scale: 0,
      type_interval_type: null,
      position,
      comment: null,
      nullable: true,
      partition_index: null,
    })),
    storage_location: `s3://warehouse/${name}`,
    comment: null,
    properties: { 'delta.lastCommitTimestamp': '1700000000000' },
    owner: 'ada@example.org',
    created_at: 1_700_000_000_000,
    created_by: 'ada@example.org',
    updated_at: 1_700_000_060_000,
    updated_by: 'bob@example.org',
    table_id: '7c1f7b0e-0000-4000-8000-000000000000',
  };
}

function json(status: number, body: object): FakeAnswer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
