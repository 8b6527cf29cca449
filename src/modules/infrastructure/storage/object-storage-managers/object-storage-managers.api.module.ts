import { Module } from '@nestjs/common';
import { ObjectStorageFilesController } from './object-storage-files.controller';
import { ObjectStorageManagersController } from './object-storage-managers.controller';
import { ObjectStorageManagersModule } from './object-storage-managers.module';

@Module({
  imports: [ObjectStorageManagersModule],
  controllers: [ObjectStorageManagersController, ObjectStorageFilesController],
})
export class ObjectStorageManagersApiModule {}
