import { Module } from '@nestjs/common';
import { IamModule } from '../../foundation/iam/iam.module';
import { ClusterWorkspacesController } from './cluster-workspaces.controller';
import {
  WorkspaceGroupsController,
  WorkspacePermissionsController,
  WorkspaceUsersController,
} from './workspace-access.controller';
import { WorkspaceAccessRepository } from './workspace-access.repository';
import { WorkspaceAccessService } from './workspace-access.service';
import { WorkspaceFilesController } from './workspace-files.controller';
import { WorkspacesController } from './workspaces.controller';
import { WorkspacesModule } from './workspaces.module';

@Module({
  imports: [IamModule, WorkspacesModule],
  providers: [WorkspaceAccessService, WorkspaceAccessRepository],
  controllers: [
    WorkspacesController,
    WorkspacePermissionsController,
    WorkspaceUsersController,
    WorkspaceGroupsController,
    ClusterWorkspacesController,
    WorkspaceFilesController,
  ],
})
export class WorkspacesApiModule {}
