import { Module } from '@nestjs/common';
import { WorkspaceUsageService } from './workspace-usage.service';

@Module({ providers: [WorkspaceUsageService], exports: [WorkspaceUsageService] })
export class WorkspaceUsageModule {}
