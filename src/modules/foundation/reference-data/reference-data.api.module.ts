import { Module } from '@nestjs/common';
import { LookupsController } from './lookups.controller';
import { LookupsService } from './lookups.service';
import { ReferenceDataModule } from './reference-data.module';

@Module({
  imports: [ReferenceDataModule],
  providers: [LookupsService],
  controllers: [LookupsController],
})
export class ReferenceDataApiModule {}
