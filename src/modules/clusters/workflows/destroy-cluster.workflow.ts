import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  Step,
  type StepOutcome,
  type WorkflowContext,
  type WorkflowDefinition,
  type WorkflowFailure,
} from '../../../platform/workflows/workflow-definition';
import { endOperation, failOperation } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { ClusterFactsReader } from './cluster-facts';
import { NodeTeardown } from './node-teardown';

/** RUNNING, STOPPED or ERROR → DESTROYING → DESTROYED: nothing of the cluster is left at the provider. */
@Injectable()
export class DestroyClusterWorkflow implements WorkflowDefinition {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly steps = [
    { name: 'announce', run: (context: WorkflowContext) => this.announce(context) },
    { name: 'destroy-nodes', run: (context: WorkflowContext) => this.destroyNodes(context) },
    { name: 'mark-destroyed', run: (context: WorkflowContext) => this.markDestroyed(context) },
  ];

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly facts: ClusterFactsReader,
    private readonly teardown: NodeTeardown,
  ) {}

  async compensate(context: WorkflowContext, failure: WorkflowFailure): Promise<void> {
    await failOperation(this.dataSource, context, 'DESTROYING', `Step ${failure.step} failed: ${failure.message}`);
  }

  private async announce(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.mark(await this.nodes.ofCluster(context.clusterId), 'DESTROYING', context);
    return Step.done;
  }

  private async destroyNodes(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.destroyAll(await this.facts.read(context.clusterId), context);
    return Step.done;
  }

  private async markDestroyed(context: WorkflowContext): Promise<StepOutcome> {
    const ended = await endOperation(this.dataSource, context, 'DESTROYING', 'DESTROYED', 'Every node is destroyed');
    return ended ? Step.done : Step.superseded;
  }
}
