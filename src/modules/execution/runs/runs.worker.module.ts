import { Module } from '@nestjs/common';
import { bindAdapter } from '../../../platform/kernel/process/bind-adapter';
import { retention } from '../../../platform/background/workflows/retention';
import { ClusterUse } from '../clusters';
import { ENDED_CHANNELS } from './channels/run-channels.repository';
import { RunClusterUse } from './jobs/run-cluster-use.repository';
import { JobDispatchHandler } from './jobs/background/job-dispatch.handler';
import { JobReconciler } from './jobs/background/job-reconciler';
import { RunCountFolder } from './jobs/background/run-count-folder';
import { StopAllRunsWorkflow } from './jobs/background/stop-all-runs.workflow';
import { RunsModule } from './runs.module';

@Module({
  imports: [RunsModule, bindAdapter(ClusterUse, RunClusterUse)],
  providers: [JobDispatchHandler, JobReconciler, RunCountFolder, StopAllRunsWorkflow, retention(ENDED_CHANNELS)],
})
export class RunsWorkerModule {}
