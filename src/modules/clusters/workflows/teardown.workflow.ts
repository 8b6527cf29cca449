import { Injectable } from '@nestjs/common';
import {
  Step,
  type StepOutcome,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
  type WorkflowStep,
} from '../../../platform/workflows/workflow-definition';
import { ClusterLifecycle } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { ClusterSecretsService } from '../cluster-secrets.service';
import type { ClusterStatus } from '../cluster-state';
import { ClusterFactsReader } from './cluster-facts';
import { COMPENSATION_MS, failureReason } from './failure-reason';
import { NodeTeardown, type TeardownStatus } from './node-teardown';
import { heedingFaults } from './provider-faults';

const LOOK_AGAIN_MS = 3_000;

/** What stop and destroy share: announce it on every node, do it at the provider, mark the cluster. */
@Injectable()
export abstract class TeardownWorkflow implements Workflow<'cluster'> {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly compensationMs = COMPENSATION_MS;
  abstract readonly steps: readonly WorkflowStep<'cluster'>[];
  protected abstract readonly from: ClusterStatus & TeardownStatus;
  protected abstract readonly to: ClusterStatus;

  constructor(
    private readonly lifecycle: ClusterLifecycle,
    private readonly nodes: ClusterNodesRepository,
    protected readonly facts: ClusterFactsReader,
    protected readonly teardown: NodeTeardown,
    private readonly secrets: ClusterSecretsService,
  ) {}

  async compensate(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    const left = await this.teardown.leftBehind(context.subject.id);
    const reason = failureReason(failure, left && `It may still have ${left}`);
    await this.lifecycle.fail(context, this.from, reason);
  }

  /** The clean-up only marks the cluster. */
  giveUp(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    return this.compensate(context, failure);
  }

  protected async announce(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    await this.teardown.mark(await this.nodes.ofCluster(context.subject.id), this.from, context);
    return Step.done;
  }

  /** Looks again until the provider has done it. */
  protected atProvider(work: () => Promise<boolean>): Promise<StepOutcome> {
    return heedingFaults(async () => ((await work()) ? Step.done : Step.wait(LOOK_AGAIN_MS)));
  }

  protected async mark(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const reason = `Every node is ${this.to.toLowerCase()}`;
    await this.lifecycle.whileCurrent(context, this.from, (tx) => this.secrets.forget(tx, context.subject.id));
    const ended = await this.lifecycle.end(context, this.from, this.to, reason);
    return ended ? Step.done : Step.superseded;
  }
}
