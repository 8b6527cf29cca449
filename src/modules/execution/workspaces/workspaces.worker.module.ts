import { Module } from '@nestjs/common';
import { FileSweeper } from './background/file-sweeper';
import { WorkspacesModule } from './workspaces.module';

@Module({
  imports: [WorkspacesModule],
  providers: [FileSweeper],
})
export class WorkspacesWorkerModule {}
