import { Module } from '@nestjs/common';
import { CredentialsConfsModule } from '../../environments/credentials/credentials-confs.module';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { AttachedMountsService } from './attached-mounts.service';
import { MountsRepository } from './mounts.repository';
import { MountsService } from './mounts.service';

@Module({
  imports: [ReferenceDataModule, CredentialsConfsModule],
  providers: [MountsService, AttachedMountsService, MountsRepository],
  exports: [MountsService, AttachedMountsService],
})
export class MountsModule {}
