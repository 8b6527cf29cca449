import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import type { ListPage } from '../../../platform/http/list-page';
import { Responses, Operation } from '../../../platform/http/operation';
import { IdParam } from '../../../platform/http/parameters';
import { BrowsingService } from './browsing.service';
import {
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

const WITH_SECRETS =
  'Reads the metastore, or a cached list, with the secret that is attached for the user, else for the workspace, else for the tenant.';

const BROWSE = {
  method: 'GET',
  tag: 'Metastore browsing',
  access: Allow.workspace('VIEW'),
} as const;

@Controller()
export class BrowsingController {
  constructor(private readonly browsing: BrowsingService) {}

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/catalogs',
    id: 'browseCatalogs',
    summary: 'List the catalogs of a metastore',
    description: `Returns the catalogs of a Unity metastore that its record selects; a Hive metastore and Glue have one. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseCatalog),
  })
  catalogs(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseCatalogsQuery,
  ): Promise<ListPage<BrowseCatalog>> {
    return this.browsing.listCatalogs({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/catalogs/search',
    id: 'searchBrowseCatalogs',
    summary: 'Search the catalogs of a Unity metastore by part of the name',
    description: `Returns the catalogs whose name contains the text. Metastores other than Unity are refused. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseCatalog),
  })
  searchCatalogs(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: SearchBrowseCatalogsQuery,
  ): Promise<ListPage<BrowseCatalog>> {
    return this.browsing.searchCatalogs({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/schemas',
    id: 'browseSchemas',
    summary: 'List the schemas of a catalog',
    description: `Returns the schemas, which are databases in Hive and Glue. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseSchema),
  })
  schemas(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseSchemasQuery,
  ): Promise<ListPage<BrowseSchema>> {
    return this.browsing.listSchemas({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/schemas/search',
    id: 'searchBrowseSchemas',
    summary: 'Search the schemas of a catalog by part of the name',
    description: `Returns the schemas whose name contains the text. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseSchema),
  })
  searchSchemas(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: SearchBrowseSchemasQuery,
  ): Promise<ListPage<BrowseSchema>> {
    return this.browsing.searchSchemas({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/tables',
    id: 'browseTables',
    summary: 'List the tables of a schema',
    description: `Returns the tables and views of one schema. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseTable),
  })
  tables(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseTablesQuery,
  ): Promise<ListPage<BrowseTable>> {
    return this.browsing.listTables({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/tables/search',
    id: 'searchBrowseTables',
    summary: 'Search the tables of a schema by part of the name',
    description: `Returns the tables and views of one schema whose name contains the text. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseTable),
  })
  searchTables(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: SearchBrowseTablesQuery,
  ): Promise<ListPage<BrowseTable>> {
    return this.browsing.searchTables({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/table_summaries',
    id: 'browseTableNames',
    summary: 'List the full names of all tables of a catalog',
    description: `Returns the full names of all tables of the catalog, without those in cached_tables. ${WITH_SECRETS}`,
    response: Responses.pageOfTexts,
  })
  tableNames(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseTableNamesQuery,
  ): Promise<ListPage<string>> {
    return this.browsing.listTableNames({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/functions',
    id: 'browseFunctions',
    summary: 'List the functions of a schema or a catalog',
    description: `Returns the functions of a schema, or of every schema of a catalog. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseFunction),
  })
  functions(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowsePartsQuery,
  ): Promise<ListPage<BrowseFunction>> {
    return this.browsing.listFunctions({ scope, catalogId }, query);
  }

  @Operation({
    ...BROWSE,
    path: '/metastore/{metastore_catalog_id}/volumes',
    id: 'browseVolumes',
    summary: 'List the volumes of a schema or a catalog',
    description: `Returns the volumes of a schema, or of every schema of a catalog. ${WITH_SECRETS}`,
    response: Responses.pageOfList(BrowseVolume),
  })
  volumes(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowsePartsQuery,
  ): Promise<ListPage<BrowseVolume>> {
    return this.browsing.listVolumes({ scope, catalogId }, query);
  }
}
