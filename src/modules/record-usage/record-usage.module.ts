import { Module } from '@nestjs/common';
import { RecordUsageService } from './record-usage.service';

@Module({ providers: [RecordUsageService], exports: [RecordUsageService] })
export class RecordUsageModule {}
