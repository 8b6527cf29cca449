import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { RecordSelector } from '../../../platform/kernel/dto/selector';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import type { WorkflowRef } from '../../../platform/background/workflows/workflow-intents';
import { stopDestroysNodes } from './cluster-answers';
import { ClusterLifecycle } from './cluster-lifecycle';
import { assertEnabled, assertMay } from './cluster-rules';
import { ClusterStartsService } from './cluster-starts.service';
import type { ClusterOperation } from './cluster-state';
import { type ClusterRow, ClustersRepository } from './clusters.repository';
import type { CosiOperation, CosiStopOperation } from './dto/cluster-answers.dto';

/** Operations that users request on clusters: each begins a workflow. */
@Injectable()
export class ClusterOperationsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: ClustersRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly starts: ClusterStartsService,
  ) {}

  start(scope: TenantScope, selector: RecordSelector): Promise<{ CosiStart: CosiOperation }> {
    return this.operate(scope, selector, 'start', (result) => ({ CosiStart: result }));
  }

  stop(scope: TenantScope, selector: RecordSelector): Promise<{ CosiStop: CosiStopOperation }> {
    return this.operate(scope, selector, 'stop', (result, row) => ({
      CosiStop: { ...result, stop_destroys_nodes: stopDestroysNodes(row) },
    }));
  }

  destroy(scope: TenantScope, selector: RecordSelector): Promise<{ CosiDestroy: CosiOperation }> {
    return this.operate(scope, selector, 'destroy', (result) => ({ CosiDestroy: result }));
  }

  private async operate<R>(
    scope: TenantScope,
    selector: RecordSelector,
    operation: ClusterOperation,
    answer: (result: CosiOperation, row: ClusterRow) => R,
  ): Promise<R> {
    return this.transactions.run(async (tx) => {
      const row = await this.repository.get(scope, selector, tx);
      const cluster = await this.lifecycle.lockKnown(tx, row.cluster_id);
      if (operation === 'start') assertEnabled(row);
      assertMay(operation, cluster);
      const reason = `${operation} requested`;
      const workflow: WorkflowRef =
        operation === 'start'
          ? await this.starts.begin(tx, cluster, scope.userId, reason)
          : await this.lifecycle.begin(tx, cluster, operation, scope.userId, reason);
      return answer({ ...workflow, engine_cluster_instance_id: row.cluster_id }, row);
    });
  }
}
