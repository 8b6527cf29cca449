import { Module } from '@nestjs/common';
import { ReferenceData } from './reference-data';
import { ReferenceDataRepository } from './reference-data.repository';
import { ReferenceDataStore } from './reference-data.store';

@Module({
  providers: [ReferenceDataRepository, ReferenceDataStore, { provide: ReferenceData, useExisting: ReferenceDataStore }],
  exports: [ReferenceData, ReferenceDataStore],
})
export class ReferenceDataModule {}
