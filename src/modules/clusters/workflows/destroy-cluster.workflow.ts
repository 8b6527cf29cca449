import { Injectable } from '@nestjs/common';
import { Step, type StepOutcome, type WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { TeardownWorkflow } from './teardown.workflow';

/** RUNNING, STOPPED or ERROR → DESTROYING → DESTROYED: nothing of the cluster is left at the provider. */
@Injectable()
export class DestroyClusterWorkflow extends TeardownWorkflow {
  readonly steps = [
    { name: 'announce', run: (context: WorkflowContext) => this.announce(context) },
    { name: 'destroy-nodes', run: (context: WorkflowContext) => this.destroyNodes(context) },
    { name: 'mark-destroyed', run: (context: WorkflowContext) => this.mark(context) },
  ];
  protected readonly from = 'DESTROYING';
  protected readonly to = 'DESTROYED';

  private async destroyNodes(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.destroyAll(await this.facts.read(context.clusterId), context);
    return Step.done;
  }
}
