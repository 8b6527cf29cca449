import { Module } from '@nestjs/common';
import { MountsController } from './mounts.controller';
import { MountsModule } from './mounts.module';

@Module({ imports: [MountsModule], controllers: [MountsController] })
export class MountsApiModule {}
