import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { EnvironmentsModule } from '../environments/environments.module';
import { DependencyRepositoriesRepository } from './dependency-repositories/dependency-repositories.repository';
import { DependencyRepositoriesService } from './dependency-repositories/dependency-repositories.service';
import { LogsService } from './logs/logs.service';
import { AttachedMountsService } from './mounts/attached-mounts.service';
import { MountsRepository } from './mounts/mounts.repository';
import { MountsService } from './mounts/mounts.service';
import { FileResponses } from './object-storage-managers/object-storage-file-responses';
import { ObjectStorageFilesRepository } from './object-storage-managers/object-storage-files.repository';
import { ObjectStorageFilesService } from './object-storage-managers/object-storage-files.service';
import { ObjectStorageManagersRepository } from './object-storage-managers/object-storage-managers.repository';
import { ObjectStorageManagersService } from './object-storage-managers/object-storage-managers.service';
import { ObjectStores } from './object-storage-managers/object-stores';

@Module({
  imports: [ReferenceDataModule, EnvironmentsModule],
  providers: [
    DependencyRepositoriesService,
    DependencyRepositoriesRepository,
    LogsService,
    MountsService,
    AttachedMountsService,
    MountsRepository,
    ObjectStorageManagersService,
    ObjectStorageManagersRepository,
    ObjectStores,
    ObjectStorageFilesService,
    ObjectStorageFilesRepository,
    FileResponses,
  ],
  exports: [
    DependencyRepositoriesService,
    LogsService,
    MountsService,
    AttachedMountsService,
    ObjectStorageManagersService,
    ObjectStorageFilesService,
  ],
})
export class StorageModule {}
