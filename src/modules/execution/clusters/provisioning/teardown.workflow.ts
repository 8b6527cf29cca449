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

const LOOK_AGAIN_MS = 3_000;
const AWAIT_RESIZE_MS = 300;

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
    protected readonly snapshots: ClusterSnapshots,
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

  /** A resize that was called off ends first: until then it may yet make a machine. */
  protected async announce(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    if (!(await this.lifecycle.resizeHasEnded(context.subject.id)))
      return Step.wait(AWAIT_RESIZE_MS, 'The resize that was called off has not ended yet.');
    await this.markNodes(await this.nodes.ofCluster(context.subject.id), context);
    return Step.done;
  }

  /** Marks the nodes with what is about to happen to them. */
  protected abstract markNodes(nodes: readonly ClusterNode[], context: WorkflowContext<'cluster'>): Promise<void>;

  /** Looks again until the provider has done it. */
  protected atProvider(work: () => Promise<boolean>): Promise<StepOutcome> {
    return handlingFaults(async () => ((await work()) ? Step.done : Step.wait(LOOK_AGAIN_MS)));
  }

  protected async mark(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const reason = `Every node is ${this.to.toLowerCase()}`;
    await this.lifecycle.whileCurrent(context, this.from, (tx) => this.secrets.forget(tx, context.subject.id));
    const ended = await this.lifecycle.end(context, this.from, this.to, reason);
    return ended ? Step.done : Step.superseded;
  }
}
