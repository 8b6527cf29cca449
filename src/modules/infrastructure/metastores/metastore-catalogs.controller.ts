import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../platform/http/operation';
import type { Page } from '../../../platform/kernel/dto/page';
import {
  MetastoreCatalogListQuery,
  MetastoreCatalogRead,
  MetastoreCatalogSearchQuery,
} from './dto/metastore-catalog.dto';
import { MetastoreCatalogsService } from './metastore-catalogs.service';

const READS = {
  method: 'GET',
  tag: 'Metastores',
  access: Allow.tenant(),
  response: Responses.page(MetastoreCatalogRead),
} as const;

@Controller()
export class MetastoreCatalogsController {
  constructor(private readonly catalogs: MetastoreCatalogsService) {}

  @Operation({
    ...READS,
    path: '/metastore/catalogs/search',
    id: 'searchMetastoreCatalogs',
    summary: 'Search the metastore catalogs by part of the name',
    description: 'Returns the catalogs of the tenant whose name contains the text, ignoring case, newest first.',
  })
  search(
    @CurrentScope() scope: TenantScope,
    @Query() query: MetastoreCatalogSearchQuery,
  ): Promise<Page<MetastoreCatalogRead>> {
    return this.catalogs.list(scope, query);
  }

  @Operation({
    ...READS,
    path: '/metastore/catalogs',
    id: 'listMetastoreCatalogs',
    summary: 'List the metastore catalogs, newest first',
    description:
      'Returns the catalogs of the tenant of every type that match the filters, newest first. The files of a Hive catalog are not shown, only the names of their keys.',
  })
  list(
    @CurrentScope() scope: TenantScope,
    @Query() query: MetastoreCatalogListQuery,
  ): Promise<Page<MetastoreCatalogRead>> {
    return this.catalogs.list(scope, query);
  }
}
