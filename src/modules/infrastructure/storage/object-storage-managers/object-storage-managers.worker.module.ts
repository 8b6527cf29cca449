import { Module } from '@nestjs/common';
import { retention } from '../../../../platform/background/workflows/retention';
import { ENDED_FILES } from './object-storage-files.repository';

@Module({ providers: [retention(ENDED_FILES)] })
export class ObjectStorageManagersWorkerModule {}
