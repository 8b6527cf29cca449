import { Module } from '@nestjs/common';
import { CloudEnvUsageService } from './cloud-env-usage.service';

@Module({ providers: [CloudEnvUsageService], exports: [CloudEnvUsageService] })
export class CloudEnvUsageModule {}
