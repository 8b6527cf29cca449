import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../platform/auth/principal';
import { conflict } from '../../platform/errors/domain-error';
import { rows, type Tx } from '../../platform/persistence/sql';

/** How clusters refer to a record: SQL over the clusters `c` with the record's id as `$2`. */
const REFERENCES = {
  'volume configuration': `EXISTS (SELECT 1 FROM cluster_confs cc WHERE cc.tenant_id = c.tenant_id
    AND cc.cluster_conf_id = c.cluster_conf_id AND cc.volume_conf_id = $2)`,
  'cloud environment': 'c.cloud_env_id = $2',
  'cluster configuration': 'c.cluster_conf_id = $2',
} as const;

interface UsingCluster {
  cluster_id: number;
  name: string;
  status: string;
}

/** Which clusters still need a record. It reads their table only, so that what clusters are made of need not import them. */
@Injectable()
export class ClusterUsageService {
  /**
   * Throws a conflict that names the clusters unless each cluster referring to the record is DESTROYED or ERROR.
   * The clusters' rows are locked, so that none can start meanwhile.
   */
  async assertNotInUse(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    await this.refuse(tx, scope, kind, id, `c.status NOT IN ('DESTROYED', 'ERROR') AND c.to_date = 'infinity'`);
  }

  /** Throws a conflict that names the clusters while any current cluster refers to the record, whatever its state. */
  async assertNotReferenced(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    await this.refuse(tx, scope, kind, id, `c.to_date = 'infinity'`);
  }

  private async refuse(
    tx: Tx,
    scope: TenantScope,
    kind: keyof typeof REFERENCES,
    id: number,
    condition: string,
  ): Promise<void> {
    const using = await rows<UsingCluster>(
      tx,
      `SELECT c.cluster_id, c.name, c.status FROM clusters c
       WHERE c.tenant_id = $1 AND ${REFERENCES[kind]} AND ${condition} ORDER BY c.cluster_id LIMIT 20 FOR SHARE OF c`,
      [scope.tenantId, id],
    );
    if (using.length === 0) return;
    const names = using.map((cluster) => `"${cluster.name}" (${cluster.status})`).join(', ');
    throw conflict(
      'RECORD.IN_USE',
      `The ${kind} is used by the clusters ${names}. Each must be DESTROYED or in ERROR first.`,
      {
        clusters: using,
      },
    );
  }
}
