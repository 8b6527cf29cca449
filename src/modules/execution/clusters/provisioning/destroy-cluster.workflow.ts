import { Injectable } from '@nestjs/common';
import type { StepOutcome, WorkflowContext } from '../../../../platform/background/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../../platform/background/workflows/workflow-jobs';
import { DESTROY_CLUSTER } from '../lifecycle/cluster-workflows';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { TeardownWorkflow } from './teardown.workflow';

/** RUNNING, STOPPED or ERROR → DESTROYING → DESTROYED: removes everything of the cluster at the provider. */
@Injectable()
@ImplementsWorkflow(DESTROY_CLUSTER)
export class DestroyClusterWorkflow extends TeardownWorkflow {
  readonly steps = [
    { name: 'announce', run: (context: WorkflowContext<'cluster'>) => this.announce(context) },
    { name: 'destroy-nodes', run: (context: WorkflowContext<'cluster'>) => this.destroyNodes(context) },
    { name: 'mark-destroyed', run: (context: WorkflowContext<'cluster'>) => this.mark(context) },
  ];
  protected readonly from = 'DESTROYING';
  protected readonly to = 'DESTROYED';

  protected markNodes(nodes: readonly ClusterNode[], context: WorkflowContext<'cluster'>): Promise<void> {
    return this.teardown.mark(nodes, 'DESTROYING', context);
  }

  private destroyNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    return this.atProvider(async () =>
      this.teardown.destroyAll(await this.snapshots.read(context.subject.id), context),
    );
  }
}
