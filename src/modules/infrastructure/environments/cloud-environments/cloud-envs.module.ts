import { Module } from '@nestjs/common';
import { BootDiskImagesModule } from '../boot-disk-images/boot-disk-images.module';
import { CredentialsConfsModule } from '../credentials/credentials-confs.module';
import { OpenTenantsModule } from '../../../foundation/iam/open-tenants.module';
import { NetworkConfsModule } from '../networks/network-confs.module';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { CloudEnvsRepository } from './cloud-envs.repository';
import { CloudEnvsService } from './cloud-envs.service';
import { Hypervisors } from './hypervisors';
import { LocalHostsRepository } from './local-hosts.repository';
import { OnPremNodesService } from './onprem-nodes.service';

@Module({
  imports: [ReferenceDataModule, OpenTenantsModule, NetworkConfsModule, CredentialsConfsModule, BootDiskImagesModule],
  providers: [CloudEnvsService, CloudEnvsRepository, OnPremNodesService, Hypervisors, LocalHostsRepository],
  exports: [CloudEnvsService, OnPremNodesService],
})
export class CloudEnvsModule {}
