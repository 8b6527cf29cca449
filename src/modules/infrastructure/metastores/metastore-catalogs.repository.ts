import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { inTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { ResourceRepository } from '../../../platform/http/resources/resource-repository';
import { MetastoreCatalog } from './entities/metastore-catalog.entity';

/** Omits `sealed`, so that no reader exposes it by accident. */
export type MetastoreCatalogRow = Omit<MetastoreCatalog, 'sealed'> & AuthorNames;

@Injectable()
export class MetastoreCatalogsRepository extends ResourceRepository<MetastoreCatalog, MetastoreCatalogRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: MetastoreCatalog, without: ['sealed'], internal: ['place_version'] });
  }

  /** Also returns a closed record, because a cluster in ERROR may still refer to it. */
  async findWithSealed(tx: Tx, tenantId: string, id: number): Promise<MetastoreCatalog | null> {
    return tx.findOneBy(MetastoreCatalog, { ...inTenant({ tenantId }), metastore_catalog_id: id });
  }
}
