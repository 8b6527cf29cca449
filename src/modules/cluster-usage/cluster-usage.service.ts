import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../platform/auth/principal';
import { conflict } from '../../platform/errors/domain-error';
import { rows, type Tx } from '../../platform/persistence/sql';

/** How clusters refer to a record: SQL over the clusters `c` with the record's id as `$2`. */
const REFERENCES = {
  'volume configuration': `EXISTS (SELECT 1 FROM cluster_confs cc WHERE cc.tenant_id = c.tenant_id
    AND cc.cluster_conf_id = c.cluster_conf_id AND cc.volume_conf_id = $2)`,
  'network configuration': usedByCloudEnv('network_conf_id'),
  'boot disk image': usedByCloudEnv('boot_disk_image_id'),
  'cloud environment': 'c.cloud_env_id = $2',
  'cluster configuration': 'c.cluster_conf_id = $2',
  'object storage manager': 'c.object_storage_manager_id = $2',
  mount: `EXISTS (SELECT 1 FROM cluster_mounts cm WHERE cm.tenant_id = c.tenant_id
    AND cm.cluster_id = c.cluster_id AND cm.mount_id = $2)`,
} as const;

function usedByCloudEnv(column: string): string {
  return `EXISTS (SELECT 1 FROM cloud_envs ce WHERE ce.tenant_id = c.tenant_id
    AND ce.cloud_env_id = c.cloud_env_id AND ce.${column} = $2)`;
}

/** Records of which an error names so many. */
const NAMED = 20;

interface UsingCluster {
  cluster_id: number;
  name: string;
  status: string;
}

/**
 * Which clusters still need a record. It reads the tables of clusters and runs only, so that what these are made of need
 * not import them.
 */
@Injectable()
export class ClusterUsageService {
  /** Locks the current clusters that refer to the record: none changes or starts before the transaction ends. */
  async lock(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    await this.lockReferring(tx, scope, kind, id);
  }

  /**
   * Throws a conflict that names the clusters unless each cluster referring to the record is DESTROYED or ERROR.
   * All of them are locked first, so that none can start meanwhile.
   */
  async assertNotInUse(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    const referring = await this.lockReferring(tx, scope, kind, id);
    refuse(
      kind,
      referring.filter(({ status }) => status !== 'DESTROYED' && status !== 'ERROR'),
      'Each must be DESTROYED or in ERROR first.',
    );
  }

  /** Throws a conflict that names the clusters while any current cluster refers to the record, whatever its state. */
  async assertNotReferenced(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    const way = 'Destroy each, and then give it another one or disable it, first.';
    refuse(kind, await this.lockReferring(tx, scope, kind, id), way);
  }

  /**
   * Throws a conflict that names them while the tenant has a cluster that is not DESTROYED, disabled ones included, or
   * a run that has not ended. The caller keeps clusters from being made or enabled meanwhile.
   */
  async assertIdle(tx: Tx, tenantId: string): Promise<void> {
    const clusters = await rows<UsingCluster>(
      tx,
      `SELECT cluster_id, name, status FROM clusters
       WHERE tenant_id = $1 AND status <> 'DESTROYED' ORDER BY cluster_id LIMIT ${NAMED}`,
      [tenantId],
    );
    if (clusters.length > 0) {
      throw conflict('TENANT.IN_USE', `The tenant has the clusters ${namesOf(clusters)}. Destroy them first.`, {
        clusters,
      });
    }
    const runs = await rows<{ run_id: number }>(
      tx,
      `SELECT run_id FROM runs WHERE tenant_id = $1 AND ended_at IS NULL ORDER BY run_id LIMIT ${NAMED}`,
      [tenantId],
    );
    if (runs.length > 0) {
      const ids = runs.map(({ run_id }) => run_id);
      throw conflict('TENANT.IN_USE', `The tenant has the unfinished jobs ${ids.join(', ')}. Stop them first.`, {
        job_ids: ids,
      });
    }
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

/** @param way what to do about it, in a sentence */
function refuse(kind: string, using: UsingCluster[], way: string): void {
  if (using.length === 0) return;
  const named = using.slice(0, NAMED);
  throw conflict('RECORD.IN_USE', `The ${kind} is used by the clusters ${namesOf(named)}. ${way}`, {
    clusters: named,
  });
}

function namesOf(clusters: readonly UsingCluster[]): string {
  return clusters.map(({ name, status }) => `"${name}" (${status})`).join(', ');
}
