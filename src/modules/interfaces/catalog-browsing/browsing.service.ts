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
import { catalogAnswer, functionAnswer, schemaAnswer, tableAnswer, volumeAnswer } from './browse-answers';
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
import { Listings } from './listings';
import { Metastores } from './metastores';
import type { PackedList } from './packed-list';

/** Schemas of a catalog that are read at the same time for one request. */
const SCHEMAS_AT_ONCE = 4;
const USUAL_PAGE = 100;

/** A Hive metastore of release 2 has one catalog and no name for it; later releases call it so. */
const THE_CATALOG_OF_HIVE: CatalogInfo = {
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

interface PageWanted {
  limit?: number;
  pageNumber?: number;
}

/** Looks through metastores: with the secrets of who asks, and from what was read with them lately. */
@Injectable()
export class BrowsingService {
  private readonly listings = new Listings();

  constructor(
    private readonly catalogs: CatalogAccesses,
    private readonly metastores: Metastores,
  ) {}

  async listCatalogs(browser: Requester, query: BrowseCatalogsQuery): Promise<ListPage<BrowseCatalog>> {
    return this.pageOfCatalogs(await this.catalogs.open(browser), query);
  }

  async searchCatalogs(browser: Requester, query: SearchBrowseCatalogsQuery): Promise<ListPage<BrowseCatalog>> {
    const open = await this.catalogs.open(browser);
    if (!open.unityCatalogs) {
      throw invalid(
        'METASTORE.ONE_CATALOG',
        `The metastore of "${open.access.catalogName}" has no catalogs to search.`,
      );
    }
    return this.pageOfCatalogs(open, query, query.catalog_name);
  }

  async listSchemas(browser: Requester, query: BrowseSchemasQuery, part?: string): Promise<ListPage<BrowseSchema>> {
    const open = await this.catalogs.open(browser);
    if (part !== undefined) assertCatalogNamed(open, query);
    const list = await this.schemas(open, catalogOf(open, query.catalog_name), query.refresh);
    return mapped(pageOf(matching(list, part), query), schemaAnswer);
  }

  searchSchemas(browser: Requester, query: SearchBrowseSchemasQuery): Promise<ListPage<BrowseSchema>> {
    return this.listSchemas(browser, query, query.schema_name);
  }

  async listTables(browser: Requester, query: BrowseTablesQuery, part?: string): Promise<ListPage<BrowseTable>> {
    const open = await this.catalogs.open(browser);
    if (part !== undefined) assertCatalogNamed(open, query);
    const schema = schemaOf(open, query);
    const page = pageOf(matching(await this.tables(open, schema, query.refresh), part), query);
    const isWhole = query.limit === undefined && query.pageNumber === undefined;
    const entries = isWhole ? page.entries : await this.described(open, schema, page.entries, query.refresh);
    return mapped({ ...page, entries }, tableAnswer);
  }

  searchTables(browser: Requester, query: SearchBrowseTablesQuery): Promise<ListPage<BrowseTable>> {
    return this.listTables(browser, query, query.table_name);
  }

  async listTableNames(browser: Requester, query: BrowseTableNamesQuery): Promise<ListPage<string>> {
    const open = await this.catalogs.open(browser);
    const catalog = catalogOf(open, query.catalog_name);
    const known = new Set(query.cached_tables);
    const read = (schema: string) => this.tables(open, { catalog, schema }, query.refresh);
    const tables = await this.ofSchemas(open, catalog, query.refresh, read);
    const names = tables.map((table) => fullName(table.catalog, table.schema, table.name));
    return pageOf(
      names.filter((name) => !known.has(name)),
      query,
    );
  }

  async listFunctions(browser: Requester, query: BrowsePartsQuery): Promise<ListPage<BrowseFunction>> {
    const open = await this.catalogs.open(browser);
    const entries = await this.parts(open, query, 'functions', (client, schema, signal) =>
      client.listFunctions(schema, signal),
    );
    return mapped(pageOf(entries, query), functionAnswer);
  }

  async listVolumes(browser: Requester, query: BrowsePartsQuery): Promise<ListPage<BrowseVolume>> {
    const open = await this.catalogs.open(browser);
    const entries = await this.parts(open, query, 'volumes', (client, schema, signal) =>
      client.listVolumes(schema, signal),
    );
    return mapped(pageOf(entries, query), volumeAnswer);
  }

  private async pageOfCatalogs(
    open: OpenCatalog,
    query: BrowseCatalogsQuery,
    part?: string,
  ): Promise<ListPage<BrowseCatalog>> {
    if (open.kind === 'hive') return mapped(pageOf([THE_CATALOG_OF_HIVE], query), catalogAnswer);
    const read = () => this.metastores.call(open.access, (client, signal) => client.listCatalogs(signal));
    const list = await this.listings.get(keyOf(open, 'catalogs'), read, query.refresh);
    const shown = matching(list, part)
      .slice()
      .filter(({ name }) => open.unityCatalogs?.includes(name) ?? true);
    return mapped(pageOf(shown, query), catalogAnswer);
  }

  private schemas(open: OpenCatalog, catalog: string | null, isAnew: boolean) {
    const read = () => this.metastores.call(open.access, (client, signal) => client.listSchemas(catalog, signal));
    return this.listings.get(keyOf(open, 'schemas', catalog), read, isAnew);
  }

  private tables(open: OpenCatalog, schema: SchemaRef, isAnew: boolean): Promise<PackedList<TableInfo>> {
    const read = () => this.metastores.call(open.access, (client, signal) => client.listTables(schema, signal));
    return this.listings.get(keyOf(open, 'tables', schema.catalog, schema.schema), read, isAnew);
  }

  /** A page of tables with what a list of them does not tell; one that is gone meanwhile is as the list told it. */
  private async described(
    open: OpenCatalog,
    schema: SchemaRef,
    tables: TableInfo[],
    isAnew: boolean,
  ): Promise<TableInfo[]> {
    // Those of the others tell all with the list.
    if (open.kind !== 'hive') return tables;
    const parts = Array.from({ length: Math.ceil(tables.length / MAX_DESCRIBED) }, async (_, index) => {
      const names = tables.slice(index * MAX_DESCRIBED, (index + 1) * MAX_DESCRIBED).map(({ name }) => name);
      const key = keyOf(open, 'described', schema.catalog, schema.schema, digestOf(names));
      const read = () =>
        this.metastores.call(open.access, (client, signal) => client.describeTables(schema, names, signal));
      return (await this.listings.get(key, read, isAnew)).slice();
    });
    const byName = new Map((await Promise.all(parts)).flat().map((table) => [table.name, table]));
    return tables.map((table) => byName.get(table.name) ?? table);
  }

  /** What is listed by schema, of one schema or of all. */
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
    return this.ofSchemas(open, catalog, query.refresh, read);
  }

  /** The lists of all schemas of a catalog, one after the other; a schema that is dropped meanwhile has none. */
  private async ofSchemas<T>(
    open: OpenCatalog,
    catalog: string | null,
    isAnew: boolean,
    read: (schema: string) => Promise<PackedList<T>>,
  ): Promise<T[]> {
    const schemas = (await this.schemas(open, catalog, isAnew)).slice();
    const entries: T[] = [];
    for (let from = 0; from < schemas.length; from += SCHEMAS_AT_ONCE) {
      const some = schemas.slice(from, from + SCHEMAS_AT_ONCE);
      for (const list of await Promise.all(some.map(({ name }) => read(name).catch(emptyIfMissing)))) {
        if (entries.length + (list?.length ?? 0) > MAX_ENTRIES) throw tooMany(open);
        for (const entry of list?.slice() ?? []) entries.push(entry);
      }
    }
    return entries;
  }
}

/** Throws a 400 for a search that does not name the catalog of Unity. */
function assertCatalogNamed(open: OpenCatalog, { catalog_name: name }: { catalog_name?: string }): void {
  if (!open.unityCatalogs || name !== undefined) return;
  throw invalid(
    'METASTORE.CATALOG_NEEDED',
    `The search needs a catalog_name, because "${open.access.catalogName}" is a Unity metastore. Name one of ${open.unityCatalogs.join(', ')}.`,
  );
}

/** The catalog that a request means: for Unity one of those that were chosen, the default one without a name. */
export function catalogOf(open: OpenCatalog, name: string | undefined): string | null {
  const { unityCatalogs } = open;
  if (!unityCatalogs) return null;
  const wanted = name ?? unityCatalogs[0] ?? '';
  if (unityCatalogs.includes(wanted)) return wanted;
  throw notFound(
    'METASTORE.CATALOG_NOT_CHOSEN',
    `"${open.access.catalogName}" shows only the catalogs ${unityCatalogs.join(', ')}, not "${wanted}".`,
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

/** An array, or a list that is only read where it is looked at. */
interface Sliced<T> {
  readonly length: number;
  slice(from?: number, to?: number): T[];
}

/** Entries whose name contains a text, in any letter case. */
function matching<T extends { name: string }>(list: PackedList<T>, part: string | undefined): Sliced<T> {
  const wanted = part?.toLowerCase();
  return wanted === undefined ? list : list.slice().filter(({ name }) => name.toLowerCase().includes(wanted));
}

function pageOf<T>(list: Sliced<T>, { limit, pageNumber }: PageWanted): ListPage<T> {
  const total = list.length;
  if (limit === undefined && pageNumber === undefined) return { entries: list.slice(), total, nextPage: null };
  const size = limit ?? USUAL_PAGE;
  const page = pageNumber ?? 1;
  const end = page * size;
  return { entries: list.slice(end - size, end), total, nextPage: end < total ? page + 1 : null };
}

function emptyIfMissing(error: unknown): null {
  if (error instanceof DomainError && error.kind === 'not-found') return null;
  throw error;
}

function tooMany({ access }: OpenCatalog): DomainError {
  const message = `The catalog "${access.catalogName}" has more than ${MAX_ENTRIES} entries. Ask for one schema at a time.`;
  return invalid('METASTORE.TOO_LARGE', message);
}

function mapped<T, A>(page: ListPage<T>, answer: (entry: T) => A): ListPage<A> {
  return { ...page, entries: page.entries.map(answer) };
}
