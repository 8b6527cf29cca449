import {
  browseColumns,
  browseSchemas,
  browseTables,
  searchBrowseSchemas,
  searchBrowseTables,
} from 'managed-spark/operations';
import type { BrowseSchema, BrowseTable } from 'managed-spark/types';
import { api } from '../../api/client';
import { browseRequest, totalOf } from '../../shared/catalogs';
import type { CatalogReader, ListKey, PageRequest } from './catalog-names';

/** Reads a metastore by the operations of the data screen, with the secrets of a workspace. */
export function catalogReader(workspaceId: number, metastoreId: number): CatalogReader {
  return {
    async page(list, request) {
      if (list.of === 'columns') return columns(list);
      const response = await sent(list, request);
      const entries = (await response.json()) as (BrowseSchema | BrowseTable)[];
      const names = entries.map(({ name, type }) => ({ name, detail: type }));
      return { names, total: totalOf(response, names.length) };

      async function columns({ catalog, schema: schema_name, table: table_name }: ListKey & { of: 'columns' }) {
        const { path, query } = browseRequest({ workspaceId, metastoreId, catalog });
        const found = await api.call(browseColumns, {
          path,
          query: { ...query, schema_name, table_name },
          signal: request.signal,
        });
        return { names: found.map(({ name, type_text: detail }) => ({ name, detail })), total: found.length };
      }
    },
  };

  function sent(list: Exclude<ListKey, { of: 'columns' }>, { limit, part, signal }: PageRequest): Promise<Response> {
    const { path, query: place } = browseRequest({ workspaceId, metastoreId, catalog: list.catalog });
    const query = { ...place, limit };
    if (list.of === 'schemas') {
      return part === undefined
        ? api.send(browseSchemas, { path, query, signal })
        : api.send(searchBrowseSchemas, { path, query: { ...query, schema_name: part }, signal });
    }
    const inSchema = { ...query, schema_name: list.schema };
    return part === undefined
      ? api.send(browseTables, { path, query: inSchema, signal })
      : api.send(searchBrowseTables, { path, query: { ...inSchema, table_name: part }, signal });
  }
}
