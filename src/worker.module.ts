import { Module } from '@nestjs/common';
import { BillingWorkerModule } from './modules/execution/billing/billing.worker.module';
import { ClustersWorkerModule } from './modules/execution/clusters/clusters.worker.module';
import { CostsWorkerModule } from './modules/execution/costs/costs.worker.module';
import { NotebooksWorkerModule } from './modules/execution/notebooks/notebooks.worker.module';
import { RunsWorkerModule } from './modules/execution/runs/runs.worker.module';
import { WorkspacesWorkerModule } from './modules/execution/workspaces/workspaces.worker.module';
import { IamWorkerModule } from './modules/foundation/iam/iam.worker.module';
import { EnvironmentsWorkerModule } from './modules/infrastructure/environments/environments.worker.module';
import { StorageWorkerModule } from './modules/infrastructure/storage/storage.worker.module';
import { HealthModule } from './platform/http/health/health.module';
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

/** The worker process has the job handlers, workflows, the outbox relay and the reconcilers, but no controllers. */
@Module({
  imports: [
    PlatformModule.of('worker'),
    HealthModule,
    IamWorkerModule,
    EnvironmentsWorkerModule,
    StorageWorkerModule,
    ClustersWorkerModule,
    BillingWorkerModule,
    WorkspacesWorkerModule,
    RunsWorkerModule,
    NotebooksWorkerModule,
    CostsWorkerModule,
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
