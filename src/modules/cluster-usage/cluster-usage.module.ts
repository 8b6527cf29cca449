import { Module } from '@nestjs/common';
import { ClusterUsageService } from './cluster-usage.service';

@Module({ providers: [ClusterUsageService], exports: [ClusterUsageService] })
export class ClusterUsageModule {}
