import { idText, readAudit, writeAudit } from '../../../platform/kernel/dto/response-fields';
import type { ReferenceData } from '../../foundation/reference-data';
import type { MetastoreCatalogRead, MetastoreCatalogWrite } from './dto/metastore-catalog.dto';
import { catalogDetails, catalogTypeOf } from './metastore-catalogs.joins';
import type { MetastoreCatalogRow } from './metastore-catalogs.repository';

export function readCatalog(row: MetastoreCatalogRow, referenceData: ReferenceData): MetastoreCatalogRead {
  return {
    metastore_catalog_id: row.metastore_catalog_id,
    name: row.name,
    description: row.description,
    catalog_type: catalogTypeOf(row, referenceData).name,
    metastore_details: catalogDetails(row),
    tenant_id: row.tenant_id,
    ...readAudit(row),
  };
}

export function writeCatalog(row: MetastoreCatalogRow, referenceData: ReferenceData): MetastoreCatalogWrite {
  return {
    metastore_catalog_id: idText(row.metastore_catalog_id),
    name: row.name,
    description: row.description,
    catalog_type: catalogTypeOf(row, referenceData).name,
    metastore_details: catalogDetails(row),
    tenant_id: row.tenant_id,
    ...writeAudit(row),
  };
}
