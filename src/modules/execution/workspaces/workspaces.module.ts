import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { WORKSPACE_AUTHORIZER } from '../../../platform/http/auth/authentication';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { ClustersModule } from '../clusters/clusters.module';
import { ClusterWorkspacesRepository } from './cluster-workspaces.repository';
import { ClusterWorkspacesService } from './cluster-workspaces.service';
import { FileUses } from './file-uses';
import { WorkspaceFileMovesService } from './workspace-file-moves.service';
import { WorkspaceFilesRepository } from './workspace-files.repository';
import { WorkspaceFilesService } from './workspace-files.service';
import { WorkspacesRepository } from './workspaces.repository';
import { WorkspacesService } from './workspaces.service';

@Module({
  imports: [ClustersModule, ReferenceDataModule, DiscoveryModule],
  providers: [
    ClusterWorkspacesService,
    ClusterWorkspacesRepository,
    WorkspacesService,
    WorkspacesRepository,
    WorkspaceFilesService,
    WorkspaceFileMovesService,
    WorkspaceFilesRepository,
    FileUses,
    { provide: WORKSPACE_AUTHORIZER, useExisting: WorkspacesService },
  ],
  exports: [
    ClusterWorkspacesService,
    WorkspacesService,
    WorkspaceFilesService,
    WorkspaceFileMovesService,
    WORKSPACE_AUTHORIZER,
  ],
})
export class WorkspacesModule {}
