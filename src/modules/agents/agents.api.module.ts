import { Module } from '@nestjs/common';
import { ClustersModule } from '../clusters/clusters.module';
import { JobsModule } from '../jobs/jobs.module';
import { LogsModule } from '../logs/logs.module';
import { ObjectStorageManagersModule } from '../object-storage-managers/object-storage-managers.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';
import { AnswerProbe } from './answer-probe';
import { NodeTokenGuard } from './node-token.guard';
import { NodeWakeUps } from './node-wakeups';

@Module({
  imports: [ClustersModule, JobsModule, LogsModule, ObjectStorageManagersModule, WorkspacesModule],
  providers: [AgentsService, AnswerProbe, NodeTokenGuard, NodeWakeUps],
  controllers: [AgentsController],
})
export class AgentsApiModule {}
