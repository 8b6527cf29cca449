import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import type { Moment } from '../../../../platform/kernel/persistence/columns';
import { firstRow, NOW, type Tx } from '../../../../platform/kernel/persistence/sql';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import {
  type CloudEnvData,
  cloudEnvJoins,
  cloudEnvJson,
  type ClusterConfData,
  clusterConfJoins,
  clusterConfJson,
} from '../../../infrastructure/environments';
import {
  type ObjectStorageManagerData,
  objectStorageManagerJoins,
  objectStorageManagerJson,
} from '../../../infrastructure/storage';
import {
  type MetastoreCatalogData,
  metastoreCatalogJoins,
  metastoreCatalogJson,
} from '../../../infrastructure/metastores';
import { MOUNT_IDS } from './cluster-mounts.repository';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { Cluster } from '../model/entities/cluster.entity';
import type { NodeStateEntry } from '../model/entities/node-state.entity';

/** A live node as JSON, with its present state. */
type NodeSummary = Pick<ClusterNode, 'node_number' | 'status' | 'ip_address' | 'warm_drivers'> &
  Pick<NodeStateEntry, 'node_state_id'> & { start_time: string };

/** A cluster with its parts, its nodes, and the current or last operation. */
export interface ClusterRow extends Cluster, AuthorNames {
  workflow_job_id: number | null;
  workflow_state: string | null;
  workflow_from: Date | null;
  workflow_to: Moment | null;
  cloud_env: CloudEnvData;
  cluster_conf: ClusterConfData;
  object_storage_manager: ObjectStorageManagerData | null;
  metastore_catalog: MetastoreCatalogData | null;
  nodes: NodeSummary[];
  mount_ids: number[];
}

/** Open conditions on the parts `f` of cluster `t`. The caller closes the parenthesis. */
const USES_CLOUD_ENV = `EXISTS (SELECT 1 FROM cloud_envs f
  WHERE f.tenant_id = t.tenant_id AND f.cloud_env_id = t.cloud_env_id`;
const USES_CLUSTER_CONF = `EXISTS (SELECT 1 FROM cluster_confs f
  WHERE f.tenant_id = t.tenant_id AND f.cluster_conf_id = t.cluster_conf_id`;

const NODES = `(SELECT coalesce(jsonb_agg(jsonb_build_object('node_number', n.node_number, 'status', n.status,
    'node_state_id', s.node_state_id, 'ip_address', n.ip_address,
    'warm_drivers', CASE WHEN n.status = 'RUNNING' THEN n.warm_drivers END, 'start_time', s.start_time)
    ORDER BY n.node_number), '[]')
  FROM cluster_nodes n JOIN node_states s ON s.node_id = n.node_id AND s.end_time = 'infinity'
  WHERE n.cluster_id = t.cluster_id AND n.to_date = 'infinity')`;

@Injectable()
export class ClusterDefinitionsRepository extends ResourceRepository<Cluster, ClusterRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Cluster,
      further: `${cloudEnvJson()} AS cloud_env, ${clusterConfJson()} AS cluster_conf, ${NODES} AS nodes,
        ${MOUNT_IDS} AS mount_ids,
        ${objectStorageManagerJson()} AS object_storage_manager, ${metastoreCatalogJson()} AS metastore_catalog,
        wi.workflow_job_id, wi.state AS workflow_state, wi.from_date AS workflow_from, wi.to_date AS workflow_to`,
      joins: `JOIN cloud_envs ce ON ce.tenant_id = t.tenant_id AND ce.cloud_env_id = t.cloud_env_id ${cloudEnvJoins()}
        JOIN cluster_confs cc ON cc.tenant_id = t.tenant_id AND cc.cluster_conf_id = t.cluster_conf_id ${clusterConfJoins()}
        ${objectStorageManagerJoins()} ${metastoreCatalogJoins()}
        LEFT JOIN workflow_job_instances wi ON wi.workflow_job_instance_id = t.workflow_job_instance_id`,
    });
  }

  /** Filters by cluster configuration, machine types and cloud providers. Omitted criteria do not filter. */
  usesParts(parts: {
    clusterConfName?: string;
    machineTypeIds?: readonly number[];
    cloudProviderIds?: readonly number[];
  }): ResourceFilter<Cluster> {
    const { clusterConfName: name, machineTypeIds, cloudProviderIds } = parts;
    return (conditions) =>
      conditions
        .addIf(name !== undefined, `${USES_CLUSTER_CONF} AND f.name = ?)`, name)
        .addIf(machineTypeIds !== undefined, `${USES_CLUSTER_CONF} AND f.machine_type_id = ANY(?))`, machineTypeIds)
        .addIf(cloudProviderIds !== undefined, `${USES_CLOUD_ENV} AND f.cloud_provider_id = ANY(?))`, cloudProviderIds);
  }

  /** Returns the latest cluster of a tenant with the id or name; null if there is none. */
  async latest(
    tx: Tx,
    tenantId: string,
    { id, name }: RecordSelector,
  ): Promise<Pick<Cluster, 'cluster_id' | 'name'> | null> {
    return firstRow<Pick<Cluster, 'cluster_id' | 'name'>>(
      tx,
      `SELECT t.cluster_id, t.name FROM clusters t
       WHERE ${ofTenant('t', '$1')} AND ($2::bigint IS NULL OR t.cluster_id = $2) AND ($3::text IS NULL OR t.name = $3)
       ORDER BY t.cluster_id DESC LIMIT 1`,
      [tenantId, id ?? null, name ?? null],
    );
  }

  /** Reopens or ends the validity of a cluster. */
  async setEnd(tx: Tx, scope: TenantScope, clusterId: number, isOpen: boolean): Promise<void> {
    await this.write(tx, scope, clusterId, { to_date: isOpen ? Infinity : NOW });
  }

  /** Disabled clusters are read and listed too. */
  protected override addValidity(): void {
    return;
  }
}
