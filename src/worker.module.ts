import { Module } from '@nestjs/common';
import { BillingWorkerModule } from './modules/execution/billing/billing.worker.module';
import { CloudEnvsWorkerModule } from './modules/infrastructure/environments/cloud-environments/cloud-envs.worker.module';
import { ClustersWorkerModule } from './modules/execution/clusters/clusters.worker.module';
import { HealthModule } from './platform/http/health/health.module';
import { IamWorkerModule } from './modules/foundation/iam/iam.worker.module';
import { JobsWorkerModule } from './modules/execution/runs/jobs/jobs.worker.module';
import { LogsWorkerModule } from './modules/infrastructure/storage/logs/logs.worker.module';
import { NotebooksWorkerModule } from './modules/execution/notebooks/content/notebooks.worker.module';
import { ObjectStorageManagersWorkerModule } from './modules/infrastructure/storage/object-storage-managers/object-storage-managers.worker.module';
import { NotebookInstancesWorkerModule } from './modules/execution/notebooks/instances/notebook-instances.worker.module';
import { RunChannelsWorkerModule } from './modules/execution/runs/channels/run-channels.worker.module';
import { WorkspacesWorkerModule } from './modules/execution/workspaces/workspaces.worker.module';
import { OutboxRelay } from './platform/background/outbox/outbox-relay';
import { PlatformModule } from './platform/platform.module';
import { Queues } from './platform/background/queues/queues';
import { WorkerRuntime } from './platform/background/queues/worker-runtime';
import { WorkflowJobs } from './platform/background/workflows/workflow-jobs';
import { WorkflowObserver } from './platform/background/workflows/workflow-observer';
import { WorkflowRunner } from './platform/background/workflows/workflow-runner';
import { ReconcileLoop } from './platform/background/workflows/reconcile-loop';
import { retention } from './platform/background/workflows/retention';
import { SPENT_ROWS } from './platform/background/workflows/spent-rows';
import { WorkflowReconciler } from './platform/background/workflows/workflow-reconciler';

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
