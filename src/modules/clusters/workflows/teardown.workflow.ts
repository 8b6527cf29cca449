import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  Step,
  type StepOutcome,
  type WorkflowContext,
  type WorkflowDefinition,
  type WorkflowFailure,
  type WorkflowStep,
} from '../../../platform/workflows/workflow-definition';
import { endOperation, failOperation, whileCurrent } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { ClusterSecretsService } from '../cluster-secrets.service';
import type { ClusterStatus, NodeStatus } from '../cluster-state';
import { COMPENSATION_MS } from '../operation-deadlines';
import { ClusterFactsReader } from './cluster-facts';
import { failureReason } from './failure-reason';
import { NodeTeardown } from './node-teardown';

/** What stop and destroy share: announce it on every node, do it at the provider, mark the cluster. */
@Injectable()
export abstract class TeardownWorkflow implements WorkflowDefinition {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly compensationMs = COMPENSATION_MS;
  abstract readonly steps: readonly WorkflowStep[];
  protected abstract readonly from: ClusterStatus & NodeStatus;
  protected abstract readonly to: ClusterStatus;

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    protected readonly facts: ClusterFactsReader,
    protected readonly teardown: NodeTeardown,
    private readonly secrets: ClusterSecretsService,
  ) {}

  async compensate(context: WorkflowContext, failure: WorkflowFailure): Promise<void> {
    const left = await this.teardown.leftBehind(context.clusterId);
    const reason = failureReason(failure, left && `It may still have ${left}`);
    await failOperation(this.dataSource, context, this.from, reason);
  }

  /** The clean-up is nothing but the mark. */
  giveUp(context: WorkflowContext, failure: WorkflowFailure): Promise<void> {
    return this.compensate(context, failure);
  }

  protected async announce(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.mark(await this.nodes.ofCluster(context.clusterId), this.from, context);
    return Step.done;
  }

  protected async mark(context: WorkflowContext): Promise<StepOutcome> {
    const reason = `Every node is ${this.to.toLowerCase()}`;
    await whileCurrent(this.dataSource, context.clusterId, context.instanceId, this.from, (tx) =>
      this.secrets.forget(tx, context.clusterId),
    );
    const ended = await endOperation(this.dataSource, context, this.from, this.to, reason);
    return ended ? Step.done : Step.superseded;
  }
}
