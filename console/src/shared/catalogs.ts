import { queryOptions } from '@tanstack/react-query';
import { listMetastoreCatalogs } from 'managed-spark/operations';
import type { MetastoreCatalogRead } from 'managed-spark/types';
import { api } from '../api/client';
import { orNone } from './records';

const MAX_RECORDS = 1_000;
/** The server keeps lists of a metastore for some minutes, too. */
export const CATALOG_FRESH_MS = 60_000;

/** The way to a schema: the secrets of the workspace open the metastore. */
export interface Place {
  workspaceId: number;
  metastoreId: number;
  catalog?: string | undefined;
}

export const metastoresQuery = queryOptions({
  queryKey: ['data', 'metastores'],
  queryFn: ({ signal }) => orNone(api.call(listMetastoreCatalogs, { query: { limit: MAX_RECORDS }, signal })),
  staleTime: CATALOG_FRESH_MS,
});

/** Only a Unity metastore has several catalogs. */
export function defaultCatalogOf({ metastore_details: details }: MetastoreCatalogRead): string | undefined {
  const { default_catalog: name } = details;
  return typeof name === 'string' ? name : undefined;
}

/** Returns what each request for the contents of a metastore names. */
export function browseRequest({ workspaceId, metastoreId, catalog }: Place) {
  return {
    path: { metastore_catalog_id: metastoreId },
    query: { workspace_id: workspaceId, catalog_name: catalog },
  };
}

/** Returns how many records a list has, of which the response holds one page. */
export function totalOf(response: Response, onPage: number): number {
  return Number(response.headers.get('X-Total-Count') ?? onPage);
}
