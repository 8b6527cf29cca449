import { choiceParam, idParam, textParam, withoutAbsent } from '../../shared/search-params';

export const TABLE_TABS = ['columns', 'preview', 'properties', 'ddl'] as const;
export type TableTab = (typeof TABLE_TABS)[number];

/** The address names the table, or the part of the way to it, that is shown. */
export interface DataSearch {
  workspace?: number;
  metastore?: number;
  /** Catalog of a Unity metastore. */
  catalog?: string;
  schema?: string;
  table?: string;
  /** Part of the name of a table. */
  q?: string;
  tab?: TableTab;
  /** Id of the run of the SQL server that shows rows. */
  server?: number;
}

export function readDataSearch(search: Record<string, unknown>): DataSearch {
  return withoutAbsent({
    workspace: idParam(search['workspace']),
    metastore: idParam(search['metastore']),
    catalog: textParam(search['catalog']),
    schema: textParam(search['schema']),
    table: textParam(search['table']),
    q: textParam(search['q']),
    tab: choiceParam(TABLE_TABS, search['tab']),
    server: idParam(search['server']),
  });
}
