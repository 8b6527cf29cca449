import { Module } from '@nestjs/common';
import { NODE_AUTHENTICATOR } from '../../../platform/http/auth/authentication';
import { BillingModule } from '../../execution/billing/billing.module';
import { ClustersModule } from '../../execution/clusters/clusters.module';
import { JobsModule } from '../../execution/runs/jobs/jobs.module';
import { LogsModule } from '../../infrastructure/storage/logs/logs.module';
import { ObjectStorageManagersModule } from '../../infrastructure/storage/object-storage-managers/object-storage-managers.module';
import { FunctionsModule } from '../../execution/runs/functions/functions.module';
import { KernelFramesModule } from '../../execution/notebooks/instances/kernel-frames.module';
import { RunChannelsModule } from '../../execution/runs/channels/run-channels.module';
import { ThriftSqlModule } from '../../execution/runs/thrift-sql/thrift-sql.module';
import { WorkspacesModule } from '../../execution/workspaces/workspaces.module';
import { AgentBundles } from './agent-bundles';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';
import { AnswerProbe } from './answer-probe';
import { HeardNodes } from './heard-nodes';
import { NodeTokens } from './node-tokens';
import { NodeWakeUps } from './node-wakeups';
import { ReportedUtilization } from './reported-utilization';

@Module({
  imports: [
    // Whom transitions of nodes are told.
    BillingModule,
    ClustersModule,
    JobsModule,
    LogsModule,
    ObjectStorageManagersModule,
    RunChannelsModule,
    WorkspacesModule,
    // What frames of runs mean.
    FunctionsModule,
    KernelFramesModule,
    ThriftSqlModule,
  ],
  providers: [
    AgentBundles,
    AgentsService,
    AnswerProbe,
    HeardNodes,
    NodeTokens,
    NodeWakeUps,
    ReportedUtilization,
    { provide: NODE_AUTHENTICATOR, useExisting: NodeTokens },
  ],
  controllers: [AgentsController],
  exports: [NODE_AUTHENTICATOR],
})
export class AgentsApiModule {}
