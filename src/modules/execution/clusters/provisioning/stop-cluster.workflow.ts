import { Injectable } from '@nestjs/common';
import type { StepOutcome, WorkflowContext } from '../../../../platform/background/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../../platform/background/workflows/workflow-jobs';
import { STOP_CLUSTER } from '../lifecycle/cluster-workflows';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { keptNodes } from '../model/node-plan';
import { TeardownWorkflow } from './teardown.workflow';

/**
 * RUNNING → STOPPING → STOPPED: stops the machines that the next start needs and keeps their disks. Destroys the nodes
 * that were added later, and those that do not work.
 */
@Injectable()
@ImplementsWorkflow(STOP_CLUSTER)
export class StopClusterWorkflow extends TeardownWorkflow {
  readonly steps = [
    { name: 'announce', run: (context: WorkflowContext<'cluster'>) => this.announce(context) },
    { name: 'stop-nodes', run: (context: WorkflowContext<'cluster'>) => this.stopNodes(context) },
    { name: 'mark-stopped', run: (context: WorkflowContext<'cluster'>) => this.mark(context) },
  ];
  protected readonly from = 'STOPPING';
  protected readonly to = 'STOPPED';

  protected async markNodes(nodes: readonly ClusterNode[], context: WorkflowContext<'cluster'>): Promise<void> {
    const usable = nodes.filter(({ status }) => status === 'RUNNING' || status === 'STOPPING' || status === 'STOPPED');
    const kept = keptNodes(await this.snapshots.read(context.subject.id), usable);
    const [stopped, destroyed] = [nodes.filter((node) => kept.has(node)), nodes.filter((node) => !kept.has(node))];
    await this.teardown.mark(stopped, 'STOPPING', context);
    await this.teardown.mark(destroyed, 'DESTROYING', context);
  }

  private stopNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    return this.atProvider(async () => this.teardown.stopAll(await this.snapshots.read(context.subject.id), context));
  }
}
