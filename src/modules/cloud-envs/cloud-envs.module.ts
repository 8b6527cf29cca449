import { Module } from '@nestjs/common';
import { BootDiskImagesModule } from '../boot-disk-images/boot-disk-images.module';
import { CredentialsConfsModule } from '../credentials-confs/credentials-confs.module';
import { OpenTenantsModule } from '../iam/open-tenants.module';
import { NetworkConfsModule } from '../network-confs/network-confs.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
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
