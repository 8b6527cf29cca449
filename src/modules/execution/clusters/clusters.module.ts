import { Module } from '@nestjs/common';
import { OpenTenantsModule } from '../../foundation/iam/open-tenants.module';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../foundation/secrets/secrets.module';
import { EnvironmentsModule } from '../../infrastructure/environments/environments.module';
import { MetastoresModule } from '../../infrastructure/metastores/metastores.module';
import { StorageModule } from '../../infrastructure/storage/storage.module';
import { BootstrapTokens } from './bootstrap-tokens';
import { ClusterDefinitionsService } from './cluster-definitions.service';
import { ClusterEvents } from './cluster-events';
import { ClusterHistoriesService } from './cluster-histories.service';
import { ClusterLifecycle } from './cluster-lifecycle';
import { ClusterMetricsService } from './cluster-metrics.service';
import { ClusterMountsRepository } from './cluster-mounts.repository';
import { ClusterMountsService } from './cluster-mounts.service';
import { ClusterNodesRepository } from './cluster-nodes.repository';
import { ClusterNodesService } from './cluster-nodes.service';
import { ClusterOperationsService } from './cluster-operations.service';
import { ClusterRowsRepository } from './cluster-rows.repository';
import { ClusterSecretsService } from './cluster-secrets.service';
import { ClusterSlotsService } from './cluster-slots.service';
import { ClusterStartsService } from './cluster-starts.service';
import { ClustersRepository } from './clusters.repository';
import { NodeUtilizationRepository } from './node-utilization.repository';

@Module({
  imports: [ReferenceDataModule, EnvironmentsModule, StorageModule, OpenTenantsModule, SecretsModule, MetastoresModule],
  providers: [
    BootstrapTokens,
    ClusterDefinitionsService,
    ClusterOperationsService,
    ClusterHistoriesService,
    ClusterLifecycle,
    ClusterEvents,
    ClustersRepository,
    ClusterRowsRepository,
    ClusterMountsService,
    ClusterMountsRepository,
    ClusterNodesService,
    ClusterNodesRepository,
    ClusterSecretsService,
    ClusterSlotsService,
    ClusterStartsService,
    ClusterMetricsService,
    NodeUtilizationRepository,
  ],
  exports: [
    ClusterDefinitionsService,
    ClusterOperationsService,
    ClusterHistoriesService,
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
