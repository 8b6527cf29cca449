import { Module } from '@nestjs/common';
import { NODE_AUTHENTICATOR } from '../../../platform/http/auth/authentication';
import { BillingModule } from '../../execution/billing/billing.module';
import { ClustersModule } from '../../execution/clusters/clusters.module';
import { NotebooksAgentsModule } from '../../execution/notebooks/notebooks.agents.module';
import { RunsAgentsModule } from '../../execution/runs/runs.agents.module';
import { RunsModule } from '../../execution/runs/runs.module';
import { WorkspacesModule } from '../../execution/workspaces/workspaces.module';
import { StorageModule } from '../../infrastructure/storage/storage.module';
import { AgentBundles } from './agent-bundles';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';
import { AnswerProbe } from './answer-probe';
import { HeartbeatBatcher } from './heartbeat-batcher';
import { NodeTokens } from './node-tokens';
import { NodeNotifications } from './node-notifications';
import { ReportedUtilization } from './reported-utilization';

@Module({
  imports: [
    BillingModule,
    ClustersModule,
    RunsModule,
    StorageModule,
    WorkspacesModule,
    RunsAgentsModule,
    NotebooksAgentsModule,
  ],
  providers: [
    AgentBundles,
    AgentsService,
    AnswerProbe,
    HeartbeatBatcher,
    NodeTokens,
    NodeNotifications,
    ReportedUtilization,
    { provide: NODE_AUTHENTICATOR, useExisting: NodeTokens },
  ],
  exports: [NODE_AUTHENTICATOR],
  controllers: [AgentsController],
})
export class AgentsApiModule {}
