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
   * All of them are locked first, so that none can start meanwhile.
   */
  async assertNotInUse(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    const referring = await this.lockReferring(tx, scope, kind, id);
    refuse(
      kind,
      referring.filter(({ status }) => status !== 'DESTROYED' && status !== 'ERROR'),
    );
  }

  /** Throws a conflict that names the clusters while any current cluster refers to the record, whatever its state. */
  async assertNotReferenced(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    refuse(kind, await this.lockReferring(tx, scope, kind, id));
  }

  private lockReferring(
    tx: Tx,
    scope: TenantScope,
    kind: keyof typeof REFERENCES,
    id: number,
  ): Promise<UsingCluster[]> {
    return rows<UsingCluster>(
      tx,
      `SELECT c.cluster_id, c.name, c.status FROM clusters c
       WHERE c.tenant_id = $1 AND ${REFERENCES[kind]} AND c.to_date = 'infinity' ORDER BY c.cluster_id FOR SHARE OF c`,
      [scope.tenantId, id],
    );
  }
}

const NAMED = 20;

function refuse(kind: string, using: UsingCluster[]): void {
  if (using.length === 0) return;
  const names = using.slice(0, NAMED).map((cluster) => `"${cluster.name}" (${cluster.status})`);
  throw conflict(
    'RECORD.IN_USE',
    `The ${kind} is used by the clusters ${names.join(', ')}. Each must be DESTROYED or in ERROR first.`,
    {
      clusters: using.slice(0, NAMED),
    },
  );
}
