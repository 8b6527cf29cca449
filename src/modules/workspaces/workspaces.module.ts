import { Module } from '@nestjs/common';
import { WORKSPACE_AUTHORIZER } from '../../platform/auth/authentication';
import { WorkspaceFilesRepository } from './workspace-files.repository';
import { WorkspaceFilesService } from './workspace-files.service';
import { WorkspacesRepository } from './workspaces.repository';
import { WorkspacesService } from './workspaces.service';

@Module({
  providers: [
    WorkspacesService,
    WorkspacesRepository,
    WorkspaceFilesService,
    WorkspaceFilesRepository,
    { provide: WORKSPACE_AUTHORIZER, useExisting: WorkspacesService },
  ],
  exports: [WorkspacesService, WorkspaceFilesService, WORKSPACE_AUTHORIZER],
})
export class WorkspacesModule {}
