import { Module } from '@nestjs/common';
import { JobsModule } from './jobs.module';
import { JobDispatchHandler } from './workflows/job-dispatch.handler';
import { JobReconciler } from './workflows/job-reconciler';
import { RunCountFolder } from './workflows/run-count-folder';

@Module({ imports: [JobsModule], providers: [JobDispatchHandler, JobReconciler, RunCountFolder] })
export class JobsWorkerModule {}
