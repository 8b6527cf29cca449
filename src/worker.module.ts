import { Module } from '@nestjs/common';
import { BillingWorkerModule } from './modules/billing/billing.worker.module';
import { CloudEnvsWorkerModule } from './modules/cloud-envs/cloud-envs.worker.module';
import { ClustersWorkerModule } from './modules/clusters/clusters.worker.module';
import { HealthModule } from './modules/health/health.module';
import { IamWorkerModule } from './modules/iam/iam.worker.module';
import { JobsWorkerModule } from './modules/jobs/jobs.worker.module';
import { LogsWorkerModule } from './modules/logs/logs.worker.module';
import { NotebooksWorkerModule } from './modules/notebooks/notebooks.worker.module';
import { ObjectStorageManagersWorkerModule } from './modules/object-storage-managers/object-storage-managers.worker.module';
import { NotebookInstancesWorkerModule } from './modules/notebook-instances/notebook-instances.worker.module';
import { RunChannelsWorkerModule } from './modules/run-channels/run-channels.worker.module';
import { WorkspacesWorkerModule } from './modules/workspaces/workspaces.worker.module';
import { OutboxRelay } from './platform/outbox/outbox-relay';
import { PlatformModule } from './platform/platform.module';
import { Queues } from './platform/queues/queues';
import { WorkerRuntime } from './platform/queues/worker-runtime';
import { WorkflowJobs } from './platform/workflows/workflow-jobs';
import { WorkflowObserver } from './platform/workflows/workflow-observer';
import { WorkflowRunner } from './platform/workflows/workflow-runner';
import { ReconcileLoop } from './platform/workflows/reconcile-loop';
import { retention } from './platform/workflows/retention';
import { SPENT_ROWS } from './platform/workflows/spent-rows';
import { WorkflowReconciler } from './platform/workflows/workflow-reconciler';

/** The worker process: job handlers, workflows, the outbox relay and the reconcilers; no controllers. */
@Module({
  imports: [
    PlatformModule.of('worker'),
    HealthModule,
    BillingWorkerModule,
    CloudEnvsWorkerModule,
    ClustersWorkerModule,
    JobsWorkerModule,
    NotebooksWorkerModule,
    RunChannelsWorkerModule,
    NotebookInstancesWorkerModule,
    WorkspacesWorkerModule,
    LogsWorkerModule,
    IamWorkerModule,
    ObjectStorageManagersWorkerModule,
  ],
  providers: [
    Queues,
    OutboxRelay,
    WorkerRuntime,
    WorkflowJobs,
    WorkflowObserver,
    WorkflowRunner,
    WorkflowReconciler,
    retention(SPENT_ROWS),
    ReconcileLoop,
  ],
})
export class WorkerModule {}
