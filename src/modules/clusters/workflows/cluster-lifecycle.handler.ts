import { Injectable } from '@nestjs/common';
import type { WorkflowPayload } from '../../../platform/queues/job-catalogue';
import { HandlesJobs, type JobHandler } from '../../../platform/queues/job-handler';
import type { WorkflowDefinition } from '../../../platform/workflows/workflow-definition';
import { WorkflowRunner } from '../../../platform/workflows/workflow-runner';
import { DestroyClusterWorkflow } from './destroy-cluster.workflow';
import { StartClusterWorkflow } from './start-cluster.workflow';
import { StopClusterWorkflow } from './stop-cluster.workflow';

type LifecycleJob = 'cluster.start' | 'cluster.stop' | 'cluster.destroy';

@Injectable()
@HandlesJobs('cluster.start', 'cluster.stop', 'cluster.destroy')
export class ClusterLifecycleHandler implements JobHandler<LifecycleJob> {
  private readonly definitions: Record<LifecycleJob, WorkflowDefinition>;

  constructor(
    private readonly runner: WorkflowRunner,
    start: StartClusterWorkflow,
    stop: StopClusterWorkflow,
    destroy: DestroyClusterWorkflow,
  ) {
    this.definitions = { 'cluster.start': start, 'cluster.stop': stop, 'cluster.destroy': destroy };
  }

  async handle(payload: WorkflowPayload, name: LifecycleJob): Promise<void> {
    await this.runner.continue(name, payload.workflow_job_instance_id, this.definitions[name]);
  }
}
