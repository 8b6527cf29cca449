import { Injectable } from '@nestjs/common';
import type { StepOutcome, WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../platform/workflows/workflow-jobs';
import { STOP_CLUSTER } from '../cluster-workflows';
import { TeardownWorkflow } from './teardown.workflow';

/** RUNNING → STOPPING → STOPPED: ends the processes of every node and keeps the disks. */
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

  private stopNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    return this.atProvider(async () => this.teardown.stopAll(await this.facts.read(context.subject.id), context));
  }
}
