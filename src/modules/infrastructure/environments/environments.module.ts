import { Module } from '@nestjs/common';
import { ActiveTenantsModule } from '../../foundation/iam/active-tenants.module';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../foundation/secrets/secrets.module';
import { BootDiskImagesRepository } from './boot-disk-images/boot-disk-images.repository';
import { BootDiskImagesService } from './boot-disk-images/boot-disk-images.service';
import { CloudEnvsRepository } from './cloud-environments/cloud-envs.repository';
import { CloudEnvsService } from './cloud-environments/cloud-envs.service';
import { EnvironmentSparksService } from './cloud-environments/environment-sparks.service';
import { Hypervisors } from './cloud-environments/hypervisors';
import { LocalHostsRepository } from './cloud-environments/local-hosts.repository';
import { OnPremNodesService } from './cloud-environments/onprem-nodes.service';
import { ClusterConfsRepository } from './cluster-configurations/cluster-confs.repository';
import { ClusterConfsService } from './cluster-configurations/cluster-confs.service';
import { CredentialsCheckService } from './credentials/credentials-check.service';
import { CredentialsConfsRepository } from './credentials/credentials-confs.repository';
import { CredentialsConfsService } from './credentials/credentials-confs.service';
import { NetworkConfsRepository } from './networks/network-confs.repository';
import { NetworkConfsService } from './networks/network-confs.service';
import { VolumeConfsRepository } from './volumes/volume-confs.repository';
import { VolumeConfsService } from './volumes/volume-confs.service';

@Module({
  imports: [ReferenceDataModule, ActiveTenantsModule, SecretsModule],
  providers: [
    BootDiskImagesService,
    BootDiskImagesRepository,
    CloudEnvsService,
    CloudEnvsRepository,
    OnPremNodesService,
    EnvironmentSparksService,
    Hypervisors,
    LocalHostsRepository,
    ClusterConfsService,
    ClusterConfsRepository,
    CredentialsConfsService,
    CredentialsCheckService,
    CredentialsConfsRepository,
    NetworkConfsService,
    NetworkConfsRepository,
    VolumeConfsService,
    VolumeConfsRepository,
  ],
  exports: [
    BootDiskImagesService,
    CloudEnvsService,
    OnPremNodesService,
    EnvironmentSparksService,
    ClusterConfsService,
    CredentialsConfsService,
    CredentialsCheckService,
    LocalHostsRepository,
    NetworkConfsService,
    VolumeConfsService,
  ],
})
export class EnvironmentsModule {}
