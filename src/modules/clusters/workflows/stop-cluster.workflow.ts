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

/** RUNNING → STOPPING → STOPPED: ends the processes of every node and keeps the disks. */
@Injectable()
export class StopClusterWorkflow implements WorkflowDefinition {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly steps = [
    { name: 'announce', run: (context: WorkflowContext) => this.announce(context) },
    { name: 'stop-nodes', run: (context: WorkflowContext) => this.stopNodes(context) },
    { name: 'mark-stopped', run: (context: WorkflowContext) => this.markStopped(context) },
  ];

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly facts: ClusterFactsReader,
    private readonly teardown: NodeTeardown,
  ) {}

  async compensate(context: WorkflowContext, failure: WorkflowFailure): Promise<void> {
    await failOperation(this.dataSource, context, 'STOPPING', `Step ${failure.step} failed: ${failure.message}`);
  }

  private async announce(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.mark(await this.nodes.ofCluster(context.clusterId), 'STOPPING', context);
    return Step.done;
  }

  private async stopNodes(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.stopAll(await this.facts.read(context.clusterId), context);
    return Step.done;
  }

  private async markStopped(context: WorkflowContext): Promise<StepOutcome> {
    const ended = await endOperation(this.dataSource, context, 'STOPPING', 'STOPPED', 'Every node is stopped');
    return ended ? Step.done : Step.superseded;
  }
}
