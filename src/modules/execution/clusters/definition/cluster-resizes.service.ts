import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid, invalidField } from '../../../../platform/kernel/errors/domain-error';
import { openEnded } from '../../../../platform/kernel/dto/response-fields';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import type { Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { assertEnabled, assertResizable } from '../lifecycle/operation-rules';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import { type InstanceBounds, instanceBounds, isInstance, shapeOf } from '../model/node-plan';
import type { Cluster } from '../model/entities/cluster.entity';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { ClusterDefinitionsRepository, type ClusterRow } from './cluster-definitions.repository';
import { INSTANCES } from './dto/cluster-input.dto';
import type { ClusterResize, ResizeCluster } from './dto/cluster-resize.dto';

type Bounds = Pick<InstanceBounds, 'min' | 'max'>;

/** Changes the minimum and the maximum of clusters that run. The worker adds and removes the nodes. */
@Injectable()
export class ClusterResizesService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: ClusterDefinitionsRepository,
    private readonly rows: ClusterRowsRepository,
    private readonly nodes: ClusterNodesRepository,
  ) {}

  /**
   * The lock of the cluster's row orders resizes, scaling decisions and assignments of runs. A bound that the request omits is the
   * present one as of then, so neither of two resizes at once is lost.
   */
  async resize(scope: TenantScope, body: ResizeCluster): Promise<ClusterResize> {
    const { min_instances: minInstances, max_instances: maxInstances } = body;
    if (minInstances === undefined && maxInstances === undefined)
      throw invalid('REQUEST.EMPTY_UPDATE', 'At least one of min_instances and max_instances is required.');
    return this.transactions.run(async (tx) => {
      const { cluster_id: clusterId } = await this.rows.lockSelected(tx, scope, body.selector());
      const row = await this.repository.get(scope, { id: clusterId }, tx);
      assertEnabled({ name: row.name, active: openEnded(row.to_date) === null });
      assertResizable(row);
      const before = instanceBounds(shapeOf(row));
      const bounds = { min: minInstances ?? before.min, max: maxInstances ?? before.max };
      checkBounds(bounds, before);
      const nodes = await this.nodes.ofCluster(clusterId, tx);
      // A script that repeats its request neither keeps an idle cluster running nor hastens the next attempt to add nodes.
      if (bounds.min === before.min && bounds.max === before.max) return resized(row, { before, bounds, nodes });
      await this.repository.update(tx, scope, clusterId, columnsOf(row, bounds));
      const minBefore = Math.min(row.resize_request?.min_before ?? before.min, before.min);
      await this.rows.requestResize(tx, clusterId, { user_id: scope.userId, min_before: minBefore });
      await notifyAfterCommit(tx, 'scaling', String(clusterId));
      return resized(row, { before, bounds, nodes });
    });
  }
}

/** Throws a 400 if a cluster cannot have these bounds, of which the request may have named one. */
function checkBounds({ min, max }: Bounds, before: Bounds): void {
  if (max > INSTANCES.max)
    throw invalidField(
      'max_instances',
      'CLUSTER.INSTANCES_INVALID',
      `The cluster has ${before.max} workers, and a resize takes at most ${INSTANCES.max}. Send max_instances, too.`,
    );
  if (min > max)
    throw invalidField(
      'max_instances',
      'CLUSTER.INSTANCES_INVALID',
      `min_instances, ${min}, would be greater than max_instances, ${max}. Send both.`,
    );
}

/** A CLUSTER whose minimum is its maximum has `num_of_workers` workers, so that changes with them. */
function columnsOf({ cluster_type: type }: ClusterRow, { min, max }: Bounds): Values<Cluster> {
  const isFixed = type === 'CLUSTER' && min === max;
  return { min_instances: min, max_instances: max, ...(isFixed ? { num_of_workers: min } : {}) };
}

function resized(
  row: ClusterRow,
  { before, bounds, nodes }: { before: Bounds; bounds: Bounds; nodes: readonly ClusterNode[] },
): ClusterResize {
  const stays = ({ status, draining }: ClusterNode) => status === 'INITIATING' || (status === 'RUNNING' && !draining);
  const instances = nodes.filter((node) => isInstance(row.cluster_type, node) && stays(node)).length;
  return {
    cluster_id: row.cluster_id,
    cluster_name: row.name,
    cluster_status: row.status,
    min_instances: bounds.min,
    max_instances: bounds.max,
    min_instances_before: before.min,
    max_instances_before: before.max,
    instances,
    instances_to_add: Math.max(0, bounds.min - instances),
    instances_to_remove: Math.max(0, instances - bounds.max),
  };
}
