import { Module } from '@nestjs/common';
import { ObjectStorageManagersController } from './object-storage-managers.controller';
import { ObjectStorageManagersModule } from './object-storage-managers.module';

@Module({ imports: [ObjectStorageManagersModule], controllers: [ObjectStorageManagersController] })
export class ObjectStorageManagersApiModule {}
