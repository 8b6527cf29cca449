import { Injectable } from '@nestjs/common';
import { Step, type StepOutcome, type WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { TeardownWorkflow } from './teardown.workflow';

/** RUNNING → STOPPING → STOPPED: ends the processes of every node and keeps the disks. */
@Injectable()
export class StopClusterWorkflow extends TeardownWorkflow {
  readonly steps = [
    { name: 'announce', run: (context: WorkflowContext) => this.announce(context) },
    { name: 'stop-nodes', run: (context: WorkflowContext) => this.stopNodes(context) },
    { name: 'mark-stopped', run: (context: WorkflowContext) => this.mark(context) },
  ];
  protected readonly from = 'STOPPING';
  protected readonly to = 'STOPPED';

  private async stopNodes(context: WorkflowContext): Promise<StepOutcome> {
    await this.teardown.stopAll(await this.facts.read(context.clusterId), context);
    return Step.done;
  }
}
