import { Module } from '@nestjs/common';
import { WorkspaceFilesController } from './workspace-files.controller';
import { WorkspacesController } from './workspaces.controller';
import { WorkspacesModule } from './workspaces.module';

@Module({ imports: [WorkspacesModule], controllers: [WorkspacesController, WorkspaceFilesController] })
export class WorkspacesApiModule {}
