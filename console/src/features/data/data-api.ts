import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import {
  browseCatalogs,
  browseSchemas,
  browseTable,
  browseTables,
  getTableDdlByQuery,
  listMetastoreCatalogs,
  searchBrowseTables,
} from 'managed-spark/operations';
import type { BrowseTable } from 'managed-spark/types';
import { api } from '../../api/client';
import type { Call } from '../../shared/call-texts';
import { orNone } from '../../shared/records';

const MAX_RECORDS = 1_000;
const PAGE_SIZE = 200;
/** The server keeps lists of a metastore for some minutes, too. */
const FRESH_MS = 60_000;

/** The way to a schema: the secrets of the workspace open the metastore. */
export interface Place {
  workspaceId: number;
  metastoreId: number;
  catalog?: string | undefined;
}

export interface TableKey extends Place {
  schema: string;
  table: string;
}

/** Some tables of a schema, and how many there are. */
interface TablesPage {
  tables: BrowseTable[];
  total: number;
}

export const metastoresQuery = queryOptions({
  queryKey: ['data', 'metastores'],
  queryFn: ({ signal }) => orNone(api.call(listMetastoreCatalogs, { query: { limit: MAX_RECORDS }, signal })),
  staleTime: FRESH_MS,
});

/** The catalogs of a Unity metastore; other metastores have one. */
export const catalogsQuery = (place: Place) =>
  queryOptions({
    queryKey: ['data', 'catalogs', place],
    queryFn: ({ signal }) => api.call(browseCatalogs, { ...requestOf(place), signal }),
    staleTime: FRESH_MS,
  });

export const schemasQuery = (place: Place) =>
  queryOptions({
    queryKey: ['data', 'schemas', place],
    queryFn: ({ signal }) => api.call(browseSchemas, { ...requestOf(place), signal }),
    staleTime: FRESH_MS,
  });

/** Pages of the tables of a schema, or of those with a text in their names. */
export const tablesQuery = (place: Place, schema: string, q: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['data', 'tables', place, schema, q],
    initialPageParam: 1,
    queryFn: async ({ pageParam, signal }): Promise<TablesPage> => {
      const { path, query } = requestOf(place);
      const page = { ...query, schema_name: schema, limit: PAGE_SIZE, pageNumber: pageParam };
      const answer = await (q === undefined
        ? api.send(browseTables, { path, query: page, signal })
        : api.send(searchBrowseTables, { path, query: { ...page, table_name: q }, signal }));
      const tables = (await answer.json()) as BrowseTable[];
      return { tables, total: Number(answer.headers.get('X-Total-Count') ?? tables.length) };
    },
    getNextPageParam: ({ total }, pages) => (pages.length * PAGE_SIZE < total ? pages.length + 1 : undefined),
    staleTime: FRESH_MS,
  });

export const tableQuery = (key: TableKey) =>
  queryOptions({
    queryKey: ['data', 'table', key],
    queryFn: ({ signal }) => {
      const { path, query } = requestOf(key);
      return api.call(browseTable, {
        path,
        query: { ...query, schema_name: key.schema, table_name: key.table },
        signal,
      });
    },
    staleTime: FRESH_MS,
  });

/** The statement that creates the table again. */
export const ddlQuery = (place: Place, fullName: string) =>
  queryOptions({
    queryKey: ['data', 'ddl', place, fullName],
    queryFn: async ({ signal }) => {
      const { path, query } = requestOf(place);
      const [entry = {}] = await api.call(getTableDdlByQuery, {
        path,
        query: { workspace_id: query.workspace_id, cached_tables: [fullName] },
        signal,
      });
      return Object.values(entry)[0] ?? '';
    },
    staleTime: FRESH_MS,
  });

/** Reads the list of schemas or tables again, past the lists that the server keeps. */
export async function refresh(place: Place, schema: string | undefined): Promise<void> {
  const { path, query } = requestOf(place);
  const newest = { ...query, refresh: true, limit: 1 };
  await (schema === undefined
    ? api.call(browseSchemas, { path, query: newest })
    : api.call(browseTables, { path, query: { ...newest, schema_name: schema } }));
}

/** Returns the request for what is shown: the schemas, the tables of one, or a table. */
export function callOf(place: Place, schema: string | undefined, table: string | undefined): Call {
  const { path, query } = requestOf(place);
  if (schema === undefined) return { operation: browseSchemas, path, query };
  const ofSchema = { ...query, schema_name: schema };
  return table === undefined
    ? { operation: browseTables, path, query: ofSchema }
    : { operation: browseTable, path, query: { ...ofSchema, table_name: table } };
}

function requestOf({ workspaceId, metastoreId, catalog }: Place) {
  return {
    path: { metastore_catalog_id: metastoreId },
    query: { workspace_id: workspaceId, catalog_name: catalog },
  };
}
