import { Module } from '@nestjs/common';
import { NetworkConfsController } from './network-confs.controller';
import { NetworkConfsModule } from './network-confs.module';

@Module({ imports: [NetworkConfsModule], controllers: [NetworkConfsController] })
export class NetworkConfsApiModule {}
