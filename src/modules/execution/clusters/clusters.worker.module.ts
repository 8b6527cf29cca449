import { Module } from '@nestjs/common';
import { retention } from '../../../platform/background/workflows/retention';
import { OpenTenantsModule } from '../../foundation/iam/open-tenants.module';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { EnvironmentsModule } from '../../infrastructure/environments/environments.module';
import { EnvironmentsWorkerModule } from '../../infrastructure/environments/environments.worker.module';
import { ClustersModule } from './clusters.module';
import { MachinePlacesRepository } from './machine-places.repository';
import { AGED_UTILIZATION } from './node-utilization.repository';
import { AGED_OFFERS, BlockedOffersRepository } from './workflows/blocked-offers.repository';
import { CloudRegistrations } from './workflows/cloud-registrations';
import { ClusterFactsReader } from './workflows/cluster-facts';
import { ClusterReconciler } from './workflows/cluster-reconciler';
import { ClusterScaler } from './workflows/cluster-scaler';
import { DestroyClusterWorkflow } from './workflows/destroy-cluster.workflow';
import { DownedNodeReconciler } from './workflows/downed-node-reconciler';
import { Drivers } from './workflows/drivers';
import { IdleClusterReconciler } from './workflows/idle-cluster-reconciler';
import { IdleClustersRepository } from './workflows/idle-clusters.repository';
import { NodeMachines } from './workflows/node-machines';
import { NodePlaces } from './workflows/node-places';
import { NodePlanner } from './workflows/node-planner';
import { NodeTeardown } from './workflows/node-teardown';
import { OrphanSweeper } from './workflows/orphan-sweeper';
import { ResizeClusterDownWorkflow, ResizeClusterUpWorkflow } from './workflows/resize-cluster.workflow';
import { ScalingReconciler } from './workflows/scaling-reconciler';
import { ScalingRepository } from './workflows/scaling.repository';
import { StartClusterWorkflow } from './workflows/start-cluster.workflow';
import { StopClusterWorkflow } from './workflows/stop-cluster.workflow';

@Module({
  imports: [ClustersModule, EnvironmentsModule, EnvironmentsWorkerModule, OpenTenantsModule, ReferenceDataModule],
  providers: [
    CloudRegistrations,
    Drivers,
    ClusterFactsReader,
    NodeTeardown,
    NodeMachines,
    NodePlaces,
    NodePlanner,
    StartClusterWorkflow,
    StopClusterWorkflow,
    DestroyClusterWorkflow,
    ResizeClusterUpWorkflow,
    ResizeClusterDownWorkflow,
    ScalingRepository,
    ClusterScaler,
    ScalingReconciler,
    ClusterReconciler,
    MachinePlacesRepository,
    OrphanSweeper,
    DownedNodeReconciler,
    IdleClustersRepository,
    IdleClusterReconciler,
    BlockedOffersRepository,
    retention(AGED_OFFERS),
    retention(AGED_UTILIZATION),
  ],
})
export class ClustersWorkerModule {}
