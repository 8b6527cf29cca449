import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../platform/http/operation';
import { IdParam, TextsBody } from '../../../platform/http/parameters';
import {
  BrowseColumn,
  BrowseColumnsQuery,
  BrowseTableDetails,
  MAX_FULL_NAME_LENGTH,
  MAX_DDL,
  TableDdlByQuery,
  TableDdlQuery,
} from './dto/browse.dto';
import { TablesService } from './tables.service';

const base = '/metastore/{metastore_catalog_id}';
const tag = 'Metastore browsing';
const access = Allow.workspace('VIEW');

@Controller()
export class TablesController {
  constructor(private readonly tables: TablesService) {}

  @Operation({
    method: 'GET',
    path: `${base}/columns`,
    id: 'browseColumns',
    summary: 'List the columns of a table',
    description:
      'Returns the columns of one table. If the metastore has no columns for a Delta or Iceberg table, they are read from its files, with credentials that Unity vends, or else with the attached object storage secret.',
    tag,
    access,
    response: Responses.list(BrowseColumn),
  })
  columns(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseColumnsQuery,
  ): Promise<BrowseColumn[]> {
    return this.tables.columns({ scope, catalogId }, query);
  }

  @Operation({
    method: 'GET',
    path: `${base}/table`,
    id: 'browseTable',
    summary: 'Get a table with its columns and properties',
    description:
      'Returns the comment, format, location, properties and columns of one table or view, which are read as for `browseColumns`.',
    isExtension: true,
    tag,
    access,
    response: Responses.one(BrowseTableDetails),
  })
  table(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: BrowseColumnsQuery,
  ): Promise<BrowseTableDetails> {
    return this.tables.table({ scope, catalogId }, query);
  }

  @Operation({
    method: 'POST',
    path: `${base}/table_ddl`,
    id: 'getTableDdl',
    summary: 'Generate the DDL of tables',
    description:
      'Returns a CREATE TABLE statement for each table whose full name is in the body. The request changes nothing.',
    tag,
    access,
    response: Responses.textMaps,
  })
  ddl(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() _query: TableDdlQuery,
    @TextsBody({ maxItems: MAX_DDL, maxItemLength: MAX_FULL_NAME_LENGTH, example: ['sales.orders'] }) names: string[],
  ): Promise<Record<string, string>[]> {
    return this.tables.ddl({ scope, catalogId }, names);
  }

  @Operation({
    method: 'GET',
    path: `${base}/table_ddl`,
    id: 'getTableDdlByQuery',
    summary: 'Generate the DDL of the tables in the query',
    description: 'Returns a CREATE TABLE statement for each table whose full name is in cached_tables.',
    tag,
    access,
    response: Responses.textMaps,
  })
  ddlByQuery(
    @IdParam('metastore_catalog_id') catalogId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: TableDdlByQuery,
  ): Promise<Record<string, string>[]> {
    return this.tables.ddl({ scope, catalogId }, query.cached_tables ?? []);
  }
}
