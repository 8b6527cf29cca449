import { Injectable } from '@nestjs/common';
import {
  Step,
  type StepOutcome,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
  type WorkflowStep,
} from '../../../../platform/background/workflows/workflow-definition';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterSecretsService } from '../lifecycle/cluster-secrets.service';
import type { ClusterStatus } from '../model/cluster-state';
import { ClusterSnapshots } from './cluster-snapshot';
import { COMPENSATION_MS, failureReason } from './failure-reason';
import { NodeTeardown, type TeardownStatus } from './node-teardown';
import { handlingFaults } from './provider-faults';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

const POLL_INTERVAL_MS = 3_000;
const RESIZE_POLL_INTERVAL_MS = 300;

/** The common part of stop and destroy: announces it on every node, does it at the provider, and marks the cluster. */
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
    protected readonly snapshots: ClusterSnapshots,
    protected readonly teardown: NodeTeardown,
    private readonly secrets: ClusterSecretsService,
  ) {}

  async compensate(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    const leftovers = await this.teardown.describeLeftovers(context.subject.id);
    const reason = failureReason(
      failure,
      leftovers && `The provider may still have ${leftovers}. Destroy the cluster to remove them`,
    );
    await this.lifecycle.failOperation(context, this.from, reason);
  }

  giveUp(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    return this.compensate(context, failure);
  }

  /** Waits for the end of a cancelled resize, which may still create a machine until then. */
  protected async announce(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    if (!(await this.lifecycle.resizeHasEnded(context.subject.id)))
      return Step.wait(RESIZE_POLL_INTERVAL_MS, 'The cancelled resize has not ended yet.');
    await this.markNodes(await this.nodes.ofCluster(context.subject.id), context);
    return Step.done;
  }

  /** Marks the nodes with what is about to happen to them. */
  protected abstract markNodes(nodes: readonly ClusterNode[], context: WorkflowContext<'cluster'>): Promise<void>;

  /** Repeats the step until the provider is done. */
  protected atProvider(work: () => Promise<boolean>): Promise<StepOutcome> {
    return handlingFaults(async () => ((await work()) ? Step.done : Step.wait(POLL_INTERVAL_MS)));
  }

  protected async mark(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const reason = `Every node is ${this.to.toLowerCase()}`;
    await this.lifecycle.whileCurrent(context, this.from, (tx) => this.secrets.forget(tx, context.subject.id));
    const ended = await this.lifecycle.endOperation(context, this.from, this.to, reason);
    return ended ? Step.done : Step.superseded;
  }
}
