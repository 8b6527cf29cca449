import { Module } from '@nestjs/common';
import { CloudEnvsModule } from '../cloud-envs/cloud-envs.module';
import { ClusterConfsModule } from '../cluster-confs/cluster-confs.module';
import { OpenTenantsModule } from '../iam/open-tenants.module';
import { LogsModule } from '../logs/logs.module';
import { ObjectStorageManagersModule } from '../object-storage-managers/object-storage-managers.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { ClusterNodesRepository } from './cluster-nodes.repository';
import { ClusterNodesService } from './cluster-nodes.service';
import { ClusterSlotsService } from './cluster-slots.service';
import { ClustersRepository } from './clusters.repository';
import { ClustersService } from './clusters.service';

@Module({
  imports: [
    ReferenceDataModule,
    CloudEnvsModule,
    ClusterConfsModule,
    ObjectStorageManagersModule,
    LogsModule,
    OpenTenantsModule,
  ],
  providers: [ClustersService, ClustersRepository, ClusterNodesService, ClusterNodesRepository, ClusterSlotsService],
  exports: [ClustersService, ClusterNodesService, ClusterSlotsService, ClusterNodesRepository],
})
export class ClustersModule {}
