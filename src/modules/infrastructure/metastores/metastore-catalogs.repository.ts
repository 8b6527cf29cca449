import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { inTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { ResourceRepository } from '../../../platform/http/resources/resource-repository';
import { MetastoreCatalog } from './entities/metastore-catalog.entity';

/** Without `sealed`, so that no reader handles it by accident. */
export type MetastoreCatalogRow = Omit<MetastoreCatalog, 'sealed'> & AuthorNames;

@Injectable()
export class MetastoreCatalogsRepository extends ResourceRepository<MetastoreCatalog, MetastoreCatalogRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: MetastoreCatalog, without: ['sealed'] });
  }

  /** The sealed files, also of a closed record: a cluster in ERROR may still name it. */
  async sealed(tx: Tx, tenantId: string, id: number): Promise<MetastoreCatalog | null> {
    return tx.findOneBy(MetastoreCatalog, { ...inTenant({ tenantId }), metastore_catalog_id: id });
  }
}
