import { Module } from '@nestjs/common';
import { FileIdSweeper } from './workflows/file-id-sweeper';

@Module({ providers: [FileIdSweeper] })
export class ObjectStorageManagersWorkerModule {}
