import { browseColumns, browseSchemas, browseTables, listMetastoreCatalogs } from './generated/operations.ts';
import type { BrowseColumn, BrowseSchema, BrowseTable, MetastoreCatalogRead } from './generated/types.ts';
import type { Context } from './host.ts';

/** Options of browsing a metastore. */
export interface Browsing {
  /** Id of the workspace whose secrets give access to the metastore. */
  workspace: number;
  /** Name of a catalog of a Unity metastore; its default catalog if absent. */
  catalog?: string | undefined;
}

/** The metastore catalogs of the tenant, and the tables in them. */
export class Catalogs {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  list(): AsyncGenerator<MetastoreCatalogRead> {
    return this.#context.transport.pages(listMetastoreCatalogs);
  }

  /** Returns the schemas that the secrets of the workspace can see. */
  schemas(catalogId: number, browsing: Browsing): Promise<BrowseSchema[]> {
    return this.#context.transport.call(browseSchemas, request(catalogId, browsing, {}));
  }

  tables(catalogId: number, schema: string, browsing: Browsing): Promise<BrowseTable[]> {
    return this.#context.transport.call(browseTables, request(catalogId, browsing, { schema_name: schema }));
  }

  columns(catalogId: number, schema: string, table: string, browsing: Browsing): Promise<BrowseColumn[]> {
    const names = { schema_name: schema, table_name: table };
    return this.#context.transport.call(browseColumns, request(catalogId, browsing, names));
  }
}

function request<T>(metastore_catalog_id: number, { workspace, catalog }: Browsing, names: T) {
  return { path: { metastore_catalog_id }, query: { workspace_id: workspace, catalog_name: catalog, ...names } };
}
