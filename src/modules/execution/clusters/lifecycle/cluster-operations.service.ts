import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { WorkflowRef } from '../../../../platform/background/workflows/workflow-intents';
import { ClusterLifecycle } from './cluster-lifecycle';
import { ClusterRowsRepository, type LockedCluster } from '../model/cluster-rows.repository';
import { ClusterStartsService } from './cluster-starts.service';
import type { ClusterOperation } from '../model/cluster-state';
import type { CosiOperation, CosiStopOperation } from './dto/cluster-operations.dto';
import { assertEnabled, assertAllowed, stopDestroysNodes } from './operation-rules';

@Injectable()
export class ClusterOperationsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly clusters: ClusterRowsRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly starts: ClusterStartsService,
  ) {}

  start(scope: TenantScope, selector: RecordSelector): Promise<{ CosiStart: CosiOperation }> {
    return this.operate(scope, selector, 'start', (result) => ({ CosiStart: result }));
  }

  stop(scope: TenantScope, selector: RecordSelector): Promise<{ CosiStop: CosiStopOperation }> {
    return this.operate(scope, selector, 'stop', (result, cluster) => ({
      CosiStop: { ...result, stop_destroys_nodes: stopDestroysNodes(cluster) },
    }));
  }

  destroy(scope: TenantScope, selector: RecordSelector): Promise<{ CosiDestroy: CosiOperation }> {
    return this.operate(scope, selector, 'destroy', (result) => ({ CosiDestroy: result }));
  }

  private async operate<R>(
    scope: TenantScope,
    selector: RecordSelector,
    operation: ClusterOperation,
    answer: (result: CosiOperation, cluster: LockedCluster) => R,
  ): Promise<R> {
    return this.transactions.run(async (tx) => {
      const cluster = await this.clusters.lockSelected(tx, scope, selector);
      if (operation === 'start') assertEnabled(cluster);
      assertAllowed(operation, cluster);
      const reason = `${operation} requested`;
      const workflow: WorkflowRef =
        operation === 'start'
          ? await this.starts.begin(tx, cluster, scope.userId, reason)
          : await this.lifecycle.beginOperation(tx, cluster, operation, scope.userId, reason);
      return answer({ ...workflow, engine_cluster_instance_id: cluster.cluster_id }, cluster);
    });
  }
}
