import { Module } from '@nestjs/common';
import { BootDiskImagesController } from './boot-disk-images/boot-disk-images.controller';
import { CloudEnvsController } from './cloud-environments/cloud-envs.controller';
import { OnPremNodesController } from './cloud-environments/onprem-nodes.controller';
import { ClusterConfsController } from './cluster-configurations/cluster-confs.controller';
import { CredentialsConfsController } from './credentials/credentials-confs.controller';
import { EnvironmentsModule } from './environments.module';
import { NetworkConfsController } from './networks/network-confs.controller';
import { VolumeConfsController } from './volumes/volume-confs.controller';

@Module({
  imports: [EnvironmentsModule],
  controllers: [
    BootDiskImagesController,
    CloudEnvsController,
    OnPremNodesController,
    ClusterConfsController,
    CredentialsConfsController,
    NetworkConfsController,
    VolumeConfsController,
  ],
})
export class EnvironmentsApiModule {}
