import { Module } from '@nestjs/common';
import { CloudEnvsWorkerModule } from './modules/cloud-envs/cloud-envs.worker.module';
import { ClustersWorkerModule } from './modules/clusters/clusters.worker.module';
import { ClusterReconciler } from './modules/clusters/workflows/cluster-reconciler';
import { HealthModule } from './modules/health/health.module';
import { IamWorkerModule } from './modules/iam/iam.worker.module';
import { SsoLoginSweeper } from './modules/iam/login/workflows/sso-login-sweeper';
import { SessionSweeper } from './modules/iam/sessions/workflows/session-sweeper';
import { JobsWorkerModule } from './modules/jobs/jobs.worker.module';
import { JobReconciler } from './modules/jobs/workflows/job-reconciler';
import { LogsWorkerModule } from './modules/logs/logs.worker.module';
import { LogSettler } from './modules/logs/workflows/log-settler';
import { LogSweeper } from './modules/logs/workflows/log-sweeper';
import { ObjectStorageManagersWorkerModule } from './modules/object-storage-managers/object-storage-managers.worker.module';
import { FileIdSweeper } from './modules/object-storage-managers/workflows/file-id-sweeper';
import { FileSweeper } from './modules/workspaces/workflows/file-sweeper';
import { WorkspacesWorkerModule } from './modules/workspaces/workspaces.worker.module';
import { WorkerHealthServer } from './platform/health/worker-health-server';
import { OutboxRelay } from './platform/outbox/outbox-relay';
import { PlatformModule } from './platform/platform.module';
import { Queues } from './platform/queues/queues';
import { WorkerRuntime } from './platform/queues/worker-runtime';
import { RECONCILERS, type Reconciler, ReconcileLoop } from './platform/workflows/reconcile-loop';

/** The worker process: job handlers, workflows, the outbox relay and the reconcilers; no controllers. */
@Module({
  imports: [
    PlatformModule,
    HealthModule,
    CloudEnvsWorkerModule,
    ClustersWorkerModule,
    JobsWorkerModule,
    WorkspacesWorkerModule,
    LogsWorkerModule,
    IamWorkerModule,
    ObjectStorageManagersWorkerModule,
  ],
  providers: [
    Queues,
    OutboxRelay,
    WorkerRuntime,
    ReconcileLoop,
    WorkerHealthServer,
    {
      provide: RECONCILERS,
      inject: [
        ClusterReconciler,
        JobReconciler,
        FileSweeper,
        LogSweeper,
        SsoLoginSweeper,
        SessionSweeper,
        FileIdSweeper,
        LogSettler,
      ],
      useFactory: (...reconcilers: Reconciler[]) => reconcilers,
    },
  ],
})
export class WorkerModule {}
