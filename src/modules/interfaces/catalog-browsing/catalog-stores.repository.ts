import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { rows, type Tx } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';

/** Only the newest clusters of a catalog are read. */
const MAX_CLUSTERS = 100;

/** A cluster whose Spark properties name S3 endpoints. */
export interface ClusterWithStores {
  name: string;
  conf: string[];
}

@Injectable()
export class CatalogStoresRepository {
  /** Returns the clusters of the catalog whose properties name an S3 endpoint. */
  async clusters(tx: Tx, scope: TenantScope, catalogId: number): Promise<ClusterWithStores[]> {
    return rows<ClusterWithStores>(
      tx,
      `SELECT t.name, t.spark_config->'conf' AS conf FROM clusters t
       WHERE ${ofTenant('t', '$1')} AND t.metastore_catalog_id = $2 AND t.to_date = 'infinity'
         AND t.spark_config->>'conf' LIKE '%fs.s3a.%endpoint%'
       ORDER BY t.cluster_id DESC LIMIT ${MAX_CLUSTERS}`,
      [scope.tenantId, catalogId],
    );
  }
}
