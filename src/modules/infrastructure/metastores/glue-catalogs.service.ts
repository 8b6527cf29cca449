import { Injectable } from '@nestjs/common';
import type { Values } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { References } from '../../../platform/http/resources/references';
import { ReferenceData } from '../../foundation/reference-data';
import { CatalogsOfType } from './catalogs-of-type';
import type {
  CreateGlueCatalog,
  GlueCatalogWrite,
  MetastoreCatalogWrite,
  UpdateGlueCatalog,
} from './dto/metastore-catalog.dto';
import type { CatalogDetails, MetastoreCatalog } from './entities/metastore-catalog.entity';
import { MetastoreCatalogsRepository } from './metastore-catalogs.repository';

/** Manages AWS Glue catalogs. Account and region come from the attached secret. */
@Injectable()
export class GlueCatalogsService extends CatalogsOfType<CreateGlueCatalog, UpdateGlueCatalog, GlueCatalogWrite> {
  protected readonly type = 'AWS GLUE';

  constructor(
    transactions: Transactions,
    repository: MetastoreCatalogsRepository,
    referenceData: ReferenceData,
    references: References,
  ) {
    super(transactions, repository, referenceData, references);
  }

  protected newDetails(): CatalogDetails {
    return {};
  }

  protected async changedColumns(): Promise<Values<MetastoreCatalog>> {
    return {};
  }

  protected createResponse(catalog: Omit<MetastoreCatalogWrite, 'metastore_details'>): GlueCatalogWrite {
    return { ...catalog, metastore_glue_catalog: { metastore_glue_catalog_id: catalog.metastore_catalog_id } };
  }
}
