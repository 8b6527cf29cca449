import { Injectable } from '@nestjs/common';
import type { ClusterPayload } from '../../../../../platform/background/queues/job-catalogue';
import { HandlesJobs, type JobHandler } from '../../../../../platform/background/queues/job-handler';
import { RunScheduler } from '../run-scheduler.service';

/** Schedules the waiting runs of a cluster whose state has changed. */
@Injectable()
@HandlesJobs('job.dispatch')
export class JobDispatchHandler implements JobHandler<'job.dispatch'> {
  constructor(private readonly scheduler: RunScheduler) {}

  async handle(payload: ClusterPayload): Promise<void> {
    await this.scheduler.schedule(payload.cluster_id);
  }
}
