import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import {
  browseCatalogs,
  browseSchemas,
  browseTable,
  browseTables,
  getTableDdlByQuery,
  searchBrowseTables,
} from 'managed-spark/operations';
import type { BrowseTable } from 'managed-spark/types';
import { api } from '../../api/client';
import type { Call } from '../../shared/call-texts';
import { browseRequest, CATALOG_FRESH_MS, type Place, totalOf } from '../../shared/catalogs';

const PAGE_SIZE = 200;

export interface TableKey extends Place {
  schema: string;
  table: string;
}

/** Some tables of a schema, and how many there are. */
interface TablesPage {
  tables: BrowseTable[];
  total: number;
}

/** The catalogs of a Unity metastore; other metastores have one. */
export const catalogsQuery = (place: Place) =>
  queryOptions({
    queryKey: ['data', 'catalogs', place],
    queryFn: ({ signal }) => api.call(browseCatalogs, { ...browseRequest(place), signal }),
    staleTime: CATALOG_FRESH_MS,
  });

export const schemasQuery = (place: Place) =>
  queryOptions({
    queryKey: ['data', 'schemas', place],
    queryFn: ({ signal }) => api.call(browseSchemas, { ...browseRequest(place), signal }),
    staleTime: CATALOG_FRESH_MS,
  });

/** Pages of the tables of a schema, or of those with a text in their names. */
export const tablesQuery = (place: Place, schema: string, q: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['data', 'tables', place, schema, q],
    initialPageParam: 1,
    queryFn: async ({ pageParam, signal }): Promise<TablesPage> => {
      const { path, query } = browseRequest(place);
      const page = { ...query, schema_name: schema, limit: PAGE_SIZE, pageNumber: pageParam };
      const answer = await (q === undefined
        ? api.send(browseTables, { path, query: page, signal })
        : api.send(searchBrowseTables, { path, query: { ...page, table_name: q }, signal }));
      const tables = (await answer.json()) as BrowseTable[];
      return { tables, total: totalOf(answer, tables.length) };
    },
    getNextPageParam: ({ total }, pages) => (pages.length * PAGE_SIZE < total ? pages.length + 1 : undefined),
    staleTime: CATALOG_FRESH_MS,
  });

export const tableQuery = (key: TableKey) =>
  queryOptions({
    queryKey: ['data', 'table', key],
    queryFn: ({ signal }) => {
      const { path, query } = browseRequest(key);
      return api.call(browseTable, {
        path,
        query: { ...query, schema_name: key.schema, table_name: key.table },
        signal,
      });
    },
    staleTime: CATALOG_FRESH_MS,
  });

/** The statement that creates the table again. */
export const ddlQuery = (place: Place, fullName: string) =>
  queryOptions({
    queryKey: ['data', 'ddl', place, fullName],
    queryFn: async ({ signal }) => {
      const { path, query } = browseRequest(place);
      const [entry = {}] = await api.call(getTableDdlByQuery, {
        path,
        query: { workspace_id: query.workspace_id, cached_tables: [fullName] },
        signal,
      });
      return Object.values(entry)[0] ?? '';
    },
    staleTime: CATALOG_FRESH_MS,
  });

/** Reads the list of schemas or tables again, past the lists that the server keeps. */
export async function refresh(place: Place, schema: string | undefined): Promise<void> {
  const { path, query } = browseRequest(place);
  const newest = { ...query, refresh: true, limit: 1 };
  await (schema === undefined
    ? api.call(browseSchemas, { path, query: newest })
    : api.call(browseTables, { path, query: { ...newest, schema_name: schema } }));
}

/** Returns the request for what is shown: the schemas, the tables of one, or a table. */
export function callOf(place: Place, schema: string | undefined, table: string | undefined): Call {
  const { path, query } = browseRequest(place);
  if (schema === undefined) return { operation: browseSchemas, path, query };
  const ofSchema = { ...query, schema_name: schema };
  return table === undefined
    ? { operation: browseTables, path, query: ofSchema }
    : { operation: browseTable, path, query: { ...ofSchema, table_name: table } };
}
