import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type CatalogInfo,
  type MetastoreClient,
  MAX_DESCRIBED,
  MAX_ENTRIES,
  type SchemaRef,
  type TableInfo,
} from '../../../../libs/metastore-clients/metastore-client';
import { DomainError, invalid, notFound } from '../../../platform/kernel/errors/domain-error';
import type { ListPage } from '../../../platform/http/list-page';
import { catalogResponse, functionResponse, schemaResponse, tableResponse, volumeResponse } from './browse-responses';
import { type Requester, CatalogAccesses, type OpenCatalog } from './catalog-accesses';
import type {
  BrowseCatalog,
  BrowseCatalogsQuery,
  BrowseFunction,
  BrowsePartsQuery,
  BrowseSchema,
  BrowseSchemasQuery,
  BrowseTable,
  BrowseTableNamesQuery,
  BrowseTablesQuery,
  BrowseVolume,
  SearchBrowseCatalogsQuery,
  SearchBrowseSchemasQuery,
  SearchBrowseTablesQuery,
} from './dto/browse.dto';
import { fullName } from './full-name';
import { ListingCache } from './listing-cache';
import { Metastores } from './metastores';
import type { PackedList } from './packed-list';

const MAX_PARALLEL_SCHEMAS = 4;
const DEFAULT_PAGE_SIZE = 100;

/** Hive 2 has one catalog without a name; Hive 3 and later name it like this. */
const HIVE_CATALOG: CatalogInfo = {
  name: 'hive',
  comment: null,
  storageRoot: null,
  storageLocation: null,
  owner: null,
  createdAt: null,
  createdBy: null,
  updatedAt: null,
  updatedBy: null,
};

interface RequestedPage {
  limit?: number;
  pageNumber?: number;
}

/** Lists the contents of metastores with the secrets of the requester, from a cache of recent lists. */
@Injectable()
export class BrowsingService {
  private readonly listings = new ListingCache();

  constructor(
    private readonly catalogs: CatalogAccesses,
    private readonly metastores: Metastores,
  ) {}

  async listCatalogs(requester: Requester, query: BrowseCatalogsQuery): Promise<ListPage<BrowseCatalog>> {
    return this.pageOfCatalogs(await this.catalogs.open(requester), query);
  }

  async searchCatalogs(requester: Requester, query: SearchBrowseCatalogsQuery): Promise<ListPage<BrowseCatalog>> {
    const open = await this.catalogs.open(requester);
    if (!open.unityCatalogs) {
      throw invalid(
        'METASTORE.ONE_CATALOG',
        `The catalog "${open.access.catalogName}" is not of a Unity metastore, so it has no catalogs to search. Search its schemas instead.`,
      );
    }
    return this.pageOfCatalogs(open, query, query.catalog_name);
  }

  async listSchemas(requester: Requester, query: BrowseSchemasQuery, part?: string): Promise<ListPage<BrowseSchema>> {
    const open = await this.catalogs.open(requester);
    if (part !== undefined) assertCatalogNamed(open, query);
    const list = await this.schemas(open, catalogOf(open, query.catalog_name), query.refresh);
    return mapPage(pageOf(matching(list, part), query), schemaResponse);
  }

  searchSchemas(requester: Requester, query: SearchBrowseSchemasQuery): Promise<ListPage<BrowseSchema>> {
    return this.listSchemas(requester, query, query.schema_name);
  }

  async listTables(requester: Requester, query: BrowseTablesQuery, part?: string): Promise<ListPage<BrowseTable>> {
    const open = await this.catalogs.open(requester);
    if (part !== undefined) assertCatalogNamed(open, query);
    const schema = schemaOf(open, query);
    const page = pageOf(matching(await this.tables(open, schema, query.refresh), part), query);
    const isWhole = query.limit === undefined && query.pageNumber === undefined;
    const entries = isWhole ? page.entries : await this.describe(open, schema, page.entries, query.refresh);
    return mapPage({ ...page, entries }, tableResponse);
  }

  searchTables(requester: Requester, query: SearchBrowseTablesQuery): Promise<ListPage<BrowseTable>> {
    return this.listTables(requester, query, query.table_name);
  }

  async listTableNames(requester: Requester, query: BrowseTableNamesQuery): Promise<ListPage<string>> {
    const open = await this.catalogs.open(requester);
    const catalog = catalogOf(open, query.catalog_name);
    const known = new Set(query.cached_tables);
    const read = (schema: string) => this.tables(open, { catalog, schema }, query.refresh);
    const tables = await this.listAllSchemas(open, catalog, query.refresh, read);
    const names = tables.map((table) => fullName(table.catalog, table.schema, table.name));
    return pageOf(
      names.filter((name) => !known.has(name)),
      query,
    );
  }

  async listFunctions(requester: Requester, query: BrowsePartsQuery): Promise<ListPage<BrowseFunction>> {
    const open = await this.catalogs.open(requester);
    const entries = await this.parts(open, query, 'functions', (client, schema, signal) =>
      client.listFunctions(schema, signal),
    );
    return mapPage(pageOf(entries, query), functionResponse);
  }

  async listVolumes(requester: Requester, query: BrowsePartsQuery): Promise<ListPage<BrowseVolume>> {
    const open = await this.catalogs.open(requester);
    const entries = await this.parts(open, query, 'volumes', (client, schema, signal) =>
      client.listVolumes(schema, signal),
    );
    return mapPage(pageOf(entries, query), volumeResponse);
  }

  private async pageOfCatalogs(
    open: OpenCatalog,
    query: BrowseCatalogsQuery,
    part?: string,
  ): Promise<ListPage<BrowseCatalog>> {
    if (open.kind === 'hive') return mapPage(pageOf([HIVE_CATALOG], query), catalogResponse);
    const read = () => this.metastores.call(open.access, (client, signal) => client.listCatalogs(signal));
    const list = await this.listings.get(keyOf(open, 'catalogs'), read, query.refresh);
    const shown = matching(list, part)
      .slice()
      .filter(({ name }) => open.unityCatalogs?.includes(name) ?? true);
    return mapPage(pageOf(shown, query), catalogResponse);
  }

  private schemas(open: OpenCatalog, catalog: string | null, refresh: boolean) {
    const read = () => this.metastores.call(open.access, (client, signal) => client.listSchemas(catalog, signal));
    return this.listings.get(keyOf(open, 'schemas', catalog), read, refresh);
  }

  private tables(open: OpenCatalog, schema: SchemaRef, refresh: boolean): Promise<PackedList<TableInfo>> {
    const read = () => this.metastores.call(open.access, (client, signal) => client.listTables(schema, signal));
    return this.listings.get(keyOf(open, 'tables', schema.catalog, schema.schema), read, refresh);
  }

  /** Returns the tables with full details. A table that was dropped meanwhile keeps the details of the list. */
  private async describe(
    open: OpenCatalog,
    schema: SchemaRef,
    tables: TableInfo[],
    refresh: boolean,
  ): Promise<TableInfo[]> {
    // Only Hive needs a second call: other metastores list tables with full details.
    if (open.kind !== 'hive') return tables;
    const parts = Array.from({ length: Math.ceil(tables.length / MAX_DESCRIBED) }, async (_, index) => {
      const names = tables.slice(index * MAX_DESCRIBED, (index + 1) * MAX_DESCRIBED).map(({ name }) => name);
      const key = keyOf(open, 'described', schema.catalog, schema.schema, digestOf(names));
      const read = () =>
        this.metastores.call(open.access, (client, signal) => client.describeTables(schema, names, signal));
      return (await this.listings.get(key, read, refresh)).slice();
    });
    const byName = new Map((await Promise.all(parts)).flat().map((table) => [table.name, table]));
    return tables.map((table) => byName.get(table.name) ?? table);
  }

  /** Lists something that belongs to schemas, of one schema or of all. */
  private async parts<T>(
    open: OpenCatalog,
    query: BrowsePartsQuery,
    kind: string,
    list: (client: MetastoreClient, schema: SchemaRef, signal: AbortSignal) => Promise<T[]>,
  ): Promise<T[]> {
    const catalog = catalogOf(open, query.catalog_name);
    const read = (schema: string): Promise<PackedList<T>> =>
      this.listings.get(
        keyOf(open, kind, catalog, schema),
        () => this.metastores.call(open.access, (client, signal) => list(client, { catalog, schema }, signal)),
        query.refresh,
      );
    if (query.schema_name !== undefined) return (await read(query.schema_name)).slice();
    return this.listAllSchemas(open, catalog, query.refresh, read);
  }

  /** Concatenates the lists of all schemas of a catalog. A schema that was dropped meanwhile counts as empty. */
  private async listAllSchemas<T>(
    open: OpenCatalog,
    catalog: string | null,
    refresh: boolean,
    read: (schema: string) => Promise<PackedList<T>>,
  ): Promise<T[]> {
    const schemas = (await this.schemas(open, catalog, refresh)).slice();
    const entries: T[] = [];
    for (let from = 0; from < schemas.length; from += MAX_PARALLEL_SCHEMAS) {
      const some = schemas.slice(from, from + MAX_PARALLEL_SCHEMAS);
      for (const list of await Promise.all(some.map(({ name }) => read(name).catch(emptyIfMissing)))) {
        if (entries.length + (list?.length ?? 0) > MAX_ENTRIES) throw tooMany(open);
        for (const entry of list?.slice() ?? []) entries.push(entry);
      }
    }
    return entries;
  }
}

/** Throws a 400 if a search of a Unity metastore names no catalog. */
function assertCatalogNamed(open: OpenCatalog, { catalog_name: name }: { catalog_name?: string }): void {
  if (!open.unityCatalogs || name !== undefined) return;
  throw invalid(
    'METASTORE.CATALOG_NEEDED',
    `catalog_name is required, because "${open.access.catalogName}" is of a Unity metastore. Use one of ${open.unityCatalogs.join(', ')}.`,
  );
}

/** Returns the Unity catalog of a request, which must be a selected one; the default one if the request names none. */
export function catalogOf(open: OpenCatalog, name: string | undefined): string | null {
  const { unityCatalogs } = open;
  if (!unityCatalogs) return null;
  const catalog = name ?? unityCatalogs[0] ?? '';
  if (unityCatalogs.includes(catalog)) return catalog;
  throw notFound(
    'METASTORE.CATALOG_NOT_CHOSEN',
    `The catalog "${catalog}" is not selected in "${open.access.catalogName}". Use one of ${unityCatalogs.join(', ')}.`,
  );
}

export function schemaOf(open: OpenCatalog, query: { catalog_name?: string; schema_name: string }): SchemaRef {
  return { catalog: catalogOf(open, query.catalog_name), schema: query.schema_name };
}

function keyOf(open: OpenCatalog, ...parts: (string | null)[]): string {
  return JSON.stringify([open.access.key, ...parts]);
}

function digestOf(names: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(names)).digest('base64');
}

/** An array, or a list that decodes only the entries that are read. */
interface Sliced<T> {
  readonly length: number;
  slice(from?: number, to?: number): T[];
}

/** Returns the entries whose name contains a text, case-insensitively. */
function matching<T extends { name: string }>(list: PackedList<T>, part: string | undefined): Sliced<T> {
  const text = part?.toLowerCase();
  return text === undefined ? list : list.slice().filter(({ name }) => name.toLowerCase().includes(text));
}

function pageOf<T>(list: Sliced<T>, { limit, pageNumber }: RequestedPage): ListPage<T> {
  const total = list.length;
  if (limit === undefined && pageNumber === undefined) return { entries: list.slice(), total, nextPage: null };
  const size = limit ?? DEFAULT_PAGE_SIZE;
  const page = pageNumber ?? 1;
  const end = page * size;
  return { entries: list.slice(end - size, end), total, nextPage: end < total ? page + 1 : null };
}

function emptyIfMissing(error: unknown): null {
  if (error instanceof DomainError && error.kind === 'not-found') return null;
  throw error;
}

function tooMany({ access }: OpenCatalog): DomainError {
  const message = `The catalog "${access.catalogName}" has more than ${MAX_ENTRIES} entries. List one schema at a time.`;
  return invalid('METASTORE.TOO_LARGE', message);
}

function mapPage<T, R>(page: ListPage<T>, toResponse: (entry: T) => R): ListPage<R> {
  return { ...page, entries: page.entries.map(toResponse) };
}
