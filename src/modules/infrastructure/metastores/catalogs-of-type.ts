import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { Tx, Values } from '../../../platform/kernel/persistence/sql';
import type { Transactions } from '../../../platform/kernel/persistence/transactions';
import type { References } from '../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../platform/http/resources/resource-service';
import { CATALOG_TYPE_ID, type CatalogTypeName, type ReferenceData } from '../../foundation/reference-data';
import { readCatalog, writeCatalog } from './catalog-responses';
import type {
  MetastoreCatalogListQuery,
  MetastoreCatalogRead,
  MetastoreCatalogWrite,
  NewCatalogWrite,
} from './dto/metastore-catalog.dto';
import { type CatalogDetails, MetastoreCatalog } from './entities/metastore-catalog.entity';
import type { MetastoreCatalogsRepository, MetastoreCatalogRow } from './metastore-catalogs.repository';

interface Named {
  name: string;
  description?: string | null;
}

/**
 * Creates, updates and deletes catalogs of one type; catalogs of other types are a 404. A catalog cannot be changed
 * while a cluster uses it, unless that cluster is DESTROYED or in ERROR.
 */
export abstract class CatalogsOfType<
  Create extends Named,
  Update extends Partial<Named>,
  Created extends NewCatalogWrite,
> extends ResourceService<{
  entity: MetastoreCatalog;
  row: MetastoreCatalogRow;
  create: Create;
  update: Update;
  read: MetastoreCatalogRead;
  write: MetastoreCatalogWrite;
  listQuery: MetastoreCatalogListQuery;
}> {
  protected abstract readonly type: CatalogTypeName;

  protected constructor(
    transactions: Transactions,
    protected override readonly repository: MetastoreCatalogsRepository,
    protected readonly referenceData: ReferenceData,
    private readonly references: References,
  ) {
    super(transactions, repository);
  }

  /** Like `create`, but returns the response of the catalog type. */
  async createCatalog(scope: TenantScope, body: Create): Promise<Created> {
    return this.transactions.run(async (tx) => {
      const { metastore_details: details, ...catalog } = await this.createWithin(tx, scope, body);
      return this.createResponse(catalog, details);
    });
  }

  protected filter(): ResourceFilter<MetastoreCatalog> {
    return (conditions) => conditions.only('metastore_catalog_type_id', CATALOG_TYPE_ID[this.type]);
  }

  protected async columnsOfNew(_scope: TenantScope, body: Create): Promise<Values<MetastoreCatalog>> {
    const { name, description } = body;
    return {
      name,
      description,
      metastore_catalog_type_id: CATALOG_TYPE_ID[this.type],
      details: this.newDetails(body),
    };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: MetastoreCatalogRow,
    body: Update,
    tx: Tx,
  ): Promise<Values<MetastoreCatalog>> {
    await this.assertChangeable(scope, row, tx);
    const { name, description } = body;
    return { name, description, ...(await this.changedColumns(scope, row, body, tx)) };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, MetastoreCatalog, id);
  }

  protected async assertDeletable(scope: TenantScope, row: MetastoreCatalogRow, tx: Tx): Promise<void> {
    await this.assertChangeable(scope, row, tx);
  }

  protected override beforeClose(scope: TenantScope, row: MetastoreCatalogRow, tx: Tx): Promise<void> {
    return this.references.endDependents(tx, scope, MetastoreCatalog, row.metastore_catalog_id);
  }

  protected read(row: MetastoreCatalogRow): MetastoreCatalogRead {
    return readCatalog(row, this.referenceData);
  }

  protected write(row: MetastoreCatalogRow): MetastoreCatalogWrite {
    return writeCatalog(row, this.referenceData);
  }

  /** Columns to update if the catalog now refers to other servers. */
  protected nextPlaceVersion({ place_version: version }: MetastoreCatalogRow): Values<MetastoreCatalog> {
    return { place_version: version + 1 };
  }

  /** Validates a create request and returns the catalog's visible details. */
  protected abstract newDetails(body: Create): CatalogDetails;
  /** Validates an update request and returns the columns it changes besides name and description. */
  protected abstract changedColumns(
    scope: TenantScope,
    row: MetastoreCatalogRow,
    body: Update,
    tx: Tx,
  ): Promise<Values<MetastoreCatalog>>;
  protected abstract createResponse(
    catalog: Omit<MetastoreCatalogWrite, 'metastore_details'>,
    details: object,
  ): Created;

  private async assertChangeable(scope: TenantScope, row: MetastoreCatalogRow, tx: Tx): Promise<void> {
    const { metastore_catalog_id: id } = row;
    if (row.metastore_catalog_type_id !== CATALOG_TYPE_ID[this.type]) throw this.repository.absent(scope, { id });
    await this.references.assertFree(tx, scope, MetastoreCatalog, id);
  }
}
