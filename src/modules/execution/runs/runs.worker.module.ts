import { Module } from '@nestjs/common';
import { answering } from '../../../platform/kernel/process/answering';
import { ClusterUse } from '../clusters';
import { RunClusterUse } from './jobs/run-cluster-use.repository';
import { EndedChannelsSweeper } from './channels/workflows/ended-channels-sweeper';
import { JobDispatchHandler } from './jobs/workflows/job-dispatch.handler';
import { JobReconciler } from './jobs/workflows/job-reconciler';
import { RunCountFolder } from './jobs/workflows/run-count-folder';
import { StopAllRunsWorkflow } from './jobs/workflows/stop-all-runs.workflow';
import { RunsModule } from './runs.module';

@Module({
  imports: [RunsModule, answering(ClusterUse, RunClusterUse)],
  providers: [EndedChannelsSweeper, JobDispatchHandler, JobReconciler, RunCountFolder, StopAllRunsWorkflow],
})
export class RunsWorkerModule {}
