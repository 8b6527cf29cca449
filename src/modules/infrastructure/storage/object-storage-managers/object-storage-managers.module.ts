import { Module } from '@nestjs/common';
import { CredentialsConfsModule } from '../../environments/credentials/credentials-confs.module';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { FileAnswers } from './object-storage-file-answers';
import { ObjectStorageFilesRepository } from './object-storage-files.repository';
import { ObjectStorageFilesService } from './object-storage-files.service';
import { ObjectStorageManagersRepository } from './object-storage-managers.repository';
import { ObjectStorageManagersService } from './object-storage-managers.service';
import { ObjectStores } from './object-stores';

@Module({
  imports: [ReferenceDataModule, CredentialsConfsModule],
  providers: [
    ObjectStorageManagersService,
    ObjectStorageManagersRepository,
    ObjectStores,
    ObjectStorageFilesService,
    ObjectStorageFilesRepository,
    FileAnswers,
  ],
  exports: [ObjectStorageManagersService, ObjectStorageFilesService],
})
export class ObjectStorageManagersModule {}
