import { Injectable } from '@nestjs/common';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import { assertUrlAllowed, isServiceUrl } from '../../../platform/kernel/outbound/allowed-url';
import type { Values } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { References } from '../../../platform/http/resources/references';
import { ReferenceData } from '../../foundation/reference-data';
import { CatalogsOfType } from './catalogs-of-type';
import type {
  CreateUnityCatalog,
  MetastoreCatalogWrite,
  UnityCatalogWrite,
  UpdateUnityCatalog,
} from './dto/metastore-catalog.dto';
import type { MetastoreCatalog, UnityCatalogDetails } from './entities/metastore-catalog.entity';
import { MetastoreCatalogsRepository, type MetastoreCatalogRow } from './metastore-catalogs.repository';
import { assertUnityDetails } from './unity-details';

/** Manages catalogs of Databricks Unity Catalog and of self-hosted Unity Catalog servers. */
@Injectable()
export class UnityCatalogsService extends CatalogsOfType<CreateUnityCatalog, UpdateUnityCatalog, UnityCatalogWrite> {
  protected readonly type = 'DATABRICKS UNITY';

  constructor(
    transactions: Transactions,
    repository: MetastoreCatalogsRepository,
    referenceData: ReferenceData,
    references: References,
    private readonly outbound: OutboundPolicy,
  ) {
    super(transactions, repository, referenceData, references);
  }

  protected newDetails(body: CreateUnityCatalog): UnityCatalogDetails {
    const { endpoint, default_catalog, storage_path, additional_catalogs = [] } = body;
    return this.validated({ endpoint, default_catalog, storage_path, additional_catalogs });
  }

  protected async changedColumns(
    _scope: TenantScope,
    row: MetastoreCatalogRow,
    body: UpdateUnityCatalog,
  ): Promise<Values<MetastoreCatalog>> {
    const before = row.details as UnityCatalogDetails;
    const details = {
      endpoint: body.endpoint ?? before.endpoint,
      default_catalog: body.default_catalog ?? before.default_catalog,
      storage_path: body.storage_path ?? before.storage_path,
      additional_catalogs: body.additional_catalogs ?? before.additional_catalogs,
    };
    return {
      details: this.validated(details),
      ...(details.endpoint !== before.endpoint && this.nextPlaceVersion(row)),
    };
  }

  protected createResponse(
    catalog: Omit<MetastoreCatalogWrite, 'metastore_details'>,
    details: object,
  ): UnityCatalogWrite {
    const { metastore_catalog_id } = catalog;
    return {
      ...catalog,
      metastore_details: { metastore_unity_catalog_id: metastore_catalog_id, ...(details as UnityCatalogDetails) },
    };
  }

  private validated(details: UnityCatalogDetails): UnityCatalogDetails {
    if (!isServiceUrl(details.endpoint)) {
      throw invalid(
        'METASTORE_CATALOG.INVALID_ENDPOINT',
        'endpoint must be an http or https URL without white space, query and fragment.',
      );
    }
    assertUrlAllowed(this.outbound, details.endpoint, 'METASTORE_CATALOG.ENDPOINT_REFUSED');
    assertUnityDetails(details);
    return details;
  }
}
