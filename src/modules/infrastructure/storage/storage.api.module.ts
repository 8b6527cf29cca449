import { Module } from '@nestjs/common';
import { DependencyRepositoriesController } from './dependency-repositories/dependency-repositories.controller';
import { MountsController } from './mounts/mounts.controller';
import { ObjectStorageFilesController } from './object-storage-managers/object-storage-files.controller';
import { ObjectStorageManagersController } from './object-storage-managers/object-storage-managers.controller';
import { StorageModule } from './storage.module';

@Module({
  imports: [StorageModule],
  controllers: [
    DependencyRepositoriesController,
    MountsController,
    ObjectStorageManagersController,
    ObjectStorageFilesController,
  ],
})
export class StorageApiModule {}
