import { Module } from '@nestjs/common';
import { JobsModule } from './jobs.module';
import { JobDispatchHandler } from './workflows/job-dispatch.handler';
import { JobReconciler } from './workflows/job-reconciler';

@Module({ imports: [JobsModule], providers: [JobDispatchHandler, JobReconciler] })
export class JobsWorkerModule {}
