import { Module } from '@nestjs/common';
import { ReferenceData } from './reference-data.contract';
import { ReferenceDataStore } from './reference-data.store';

@Module({
  providers: [ReferenceDataStore, { provide: ReferenceData, useExisting: ReferenceDataStore }],
  exports: [ReferenceData, ReferenceDataStore],
})
export class ReferenceDataModule {}
