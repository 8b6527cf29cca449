import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { NetworkConfsRepository } from './network-confs.repository';
import { NetworkConfsService } from './network-confs.service';

@Module({
  imports: [ReferenceDataModule],
  providers: [NetworkConfsService, NetworkConfsRepository],
  exports: [NetworkConfsService],
})
export class NetworkConfsModule {}
