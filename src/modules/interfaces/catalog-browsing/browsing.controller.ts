import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import type { ListPage } from '../../../platform/http/list-page';
import { Answers, Operation } from '../../../platform/http/operation';
import type { Answer } from '../../../platform/http/operation-options';
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

/** A list from a metastore: whole, or a page of it. */
function Browse(path: string, id: string, summary: string, answer: Answer): MethodDecorator {
  return Operation({
    method: 'GET',
    path: `/metastore/{metastore_catalog_id}/${path}`,
    id,
    summary,
    description: 'Read with the nearest secret: of the user, of the workspace, of the tenant.',
    tag: 'Metastore browsing',
    access: Allow.workspace('VIEW'),
    answer,
  });
}

@Controller()
export class BrowsingController {
  constructor(private readonly browsing: BrowsingService) {}

  @Browse('catalogs', 'browseCatalogs', 'List the catalogs of a metastore', Answers.pageOfList(BrowseCatalog))
  catalogs(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseCatalogsQuery,
  ): Promise<ListPage<BrowseCatalog>> {
    return this.browsing.listCatalogs({ scope, catalogId }, query);
  }

  @Browse(
    'catalogs/search',
    'searchBrowseCatalogs',
    'Search the catalogs of a Unity metastore by part of the name',
    Answers.pageOfList(BrowseCatalog),
  )
  searchCatalogs(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: SearchBrowseCatalogsQuery,
  ): Promise<ListPage<BrowseCatalog>> {
    return this.browsing.searchCatalogs({ scope, catalogId }, query);
  }

  @Browse('schemas', 'browseSchemas', 'List the schemas of a catalog', Answers.pageOfList(BrowseSchema))
  schemas(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseSchemasQuery,
  ): Promise<ListPage<BrowseSchema>> {
    return this.browsing.listSchemas({ scope, catalogId }, query);
  }

  @Browse(
    'schemas/search',
    'searchBrowseSchemas',
    'Search the schemas of a catalog by part of the name',
    Answers.pageOfList(BrowseSchema),
  )
  searchSchemas(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: SearchBrowseSchemasQuery,
  ): Promise<ListPage<BrowseSchema>> {
    return this.browsing.searchSchemas({ scope, catalogId }, query);
  }

  @Browse('tables', 'browseTables', 'List the tables of a schema', Answers.pageOfList(BrowseTable))
  tables(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseTablesQuery,
  ): Promise<ListPage<BrowseTable>> {
    return this.browsing.listTables({ scope, catalogId }, query);
  }

  @Browse(
    'tables/search',
    'searchBrowseTables',
    'Search the tables of a schema by part of the name',
    Answers.pageOfList(BrowseTable),
  )
  searchTables(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: SearchBrowseTablesQuery,
  ): Promise<ListPage<BrowseTable>> {
    return this.browsing.searchTables({ scope, catalogId }, query);
  }

  @Browse('table_summaries', 'browseTableNames', 'List the full names of all tables of a catalog', Answers.pageOfTexts)
  tableNames(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseTableNamesQuery,
  ): Promise<ListPage<string>> {
    return this.browsing.listTableNames({ scope, catalogId }, query);
  }

  @Browse(
    'functions',
    'browseFunctions',
    'List the functions of a schema, or of a catalog',
    Answers.pageOfList(BrowseFunction),
  )
  functions(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowsePartsQuery,
  ): Promise<ListPage<BrowseFunction>> {
    return this.browsing.listFunctions({ scope, catalogId }, query);
  }

  @Browse('volumes', 'browseVolumes', 'List the volumes of a schema, or of a catalog', Answers.pageOfList(BrowseVolume))
  volumes(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowsePartsQuery,
  ): Promise<ListPage<BrowseVolume>> {
    return this.browsing.listVolumes({ scope, catalogId }, query);
  }
}
