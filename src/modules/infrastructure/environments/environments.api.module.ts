import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { BootDiskImagesController } from './boot-disk-images/boot-disk-images.controller';
import { CloudEnvsController } from './cloud-environments/cloud-envs.controller';
import { OnPremNodesController } from './cloud-environments/onprem-nodes.controller';
import { SparkInfraVersionsController } from './cloud-environments/spark-infra-versions.controller';
import { ClusterConfsController } from './cluster-configurations/cluster-confs.controller';
import { CredentialsConfsController } from './credentials/credentials-confs.controller';
import { EnvironmentsModule } from './environments.module';
import { NetworkConfsController } from './networks/network-confs.controller';
import { VolumeConfsController } from './volumes/volume-confs.controller';

@Module({
  imports: [EnvironmentsModule, ReferenceDataModule],
  controllers: [
    BootDiskImagesController,
    CloudEnvsController,
    OnPremNodesController,
    SparkInfraVersionsController,
    ClusterConfsController,
    CredentialsConfsController,
    NetworkConfsController,
    VolumeConfsController,
  ],
})
export class EnvironmentsApiModule {}
