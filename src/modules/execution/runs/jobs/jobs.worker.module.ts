import { Module } from '@nestjs/common';
import { JobsModule } from './jobs.module';
import { JobDispatchHandler } from './workflows/job-dispatch.handler';
import { JobReconciler } from './workflows/job-reconciler';
import { RunCountFolder } from './workflows/run-count-folder';
import { StopAllRunsWorkflow } from './workflows/stop-all-runs.workflow';

@Module({ imports: [JobsModule], providers: [JobDispatchHandler, JobReconciler, RunCountFolder, StopAllRunsWorkflow] })
export class JobsWorkerModule {}
