import { Module } from '@nestjs/common';
import { bindAdapter } from '../../../platform/kernel/process/bind-adapter';
import { MountUse } from '../../infrastructure/storage';
import { ClusterMountUse } from './definition/cluster-mount-use.repository';
import { ActiveTenantsModule } from '../../foundation/iam/active-tenants.module';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../foundation/secrets/secrets.module';
import { EnvironmentsModule } from '../../infrastructure/environments/environments.module';
import { MetastoresModule } from '../../infrastructure/metastores/metastores.module';
import { StorageModule } from '../../infrastructure/storage/storage.module';
import { BootstrapTokens } from './nodes/bootstrap-tokens';
import { ClusterChecksService } from './definition/cluster-checks.service';
import { ClusterDefinitionsService } from './definition/cluster-definitions.service';
import { ClusterEvents } from './lifecycle/cluster-events';
import { ClusterHistoriesRepository } from './lifecycle/cluster-histories.repository';
import { ClusterHistoriesService } from './lifecycle/cluster-histories.service';
import { ClusterLifecycle } from './lifecycle/cluster-lifecycle';
import { ClusterMetricsService } from './nodes/cluster-metrics.service';
import { ClusterMountsRepository } from './definition/cluster-mounts.repository';
import { ClusterMountsService } from './definition/cluster-mounts.service';
import { ClusterNodesRepository } from './model/cluster-nodes.repository';
import { ClusterNodesService } from './nodes/cluster-nodes.service';
import { ClusterOperationsService } from './lifecycle/cluster-operations.service';
import { ClusterRowsRepository } from './model/cluster-rows.repository';
import { ClusterSecretsService } from './lifecycle/cluster-secrets.service';
import { ClusterSlotsService } from './nodes/cluster-slots.service';
import { ClusterResizesService } from './definition/cluster-resizes.service';
import { ClusterStartsService } from './lifecycle/cluster-starts.service';
import { ClusterDefinitionsRepository } from './definition/cluster-definitions.repository';
import { NodeUtilizationRepository } from './nodes/node-utilization.repository';

@Module({
  imports: [
    ReferenceDataModule,
    EnvironmentsModule,
    StorageModule,
    ActiveTenantsModule,
    SecretsModule,
    MetastoresModule,
    bindAdapter(MountUse, ClusterMountUse),
  ],
  providers: [
    BootstrapTokens,
    ClusterChecksService,
    ClusterDefinitionsService,
    ClusterOperationsService,
    ClusterHistoriesService,
    ClusterHistoriesRepository,
    ClusterLifecycle,
    ClusterEvents,
    ClusterDefinitionsRepository,
    ClusterRowsRepository,
    ClusterMountsService,
    ClusterMountsRepository,
    ClusterNodesService,
    ClusterNodesRepository,
    ClusterResizesService,
    ClusterSecretsService,
    ClusterSlotsService,
    ClusterStartsService,
    ClusterMetricsService,
    NodeUtilizationRepository,
  ],
  exports: [
    ClusterChecksService,
    ClusterDefinitionsService,
    ClusterOperationsService,
    ClusterHistoriesService,
    ClusterResizesService,
    ClusterLifecycle,
    ClusterRowsRepository,
    ClusterMountsService,
    ClusterNodesService,
    ClusterSlotsService,
    ClusterSecretsService,
    ClusterNodesRepository,
    BootstrapTokens,
    ClusterMetricsService,
  ],
})
export class ClustersModule {}
