import { Module } from '@nestjs/common';
import { retention } from '../../../platform/background/workflows/retention';
import { ActiveTenantsModule } from '../../foundation/iam/active-tenants.module';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { EnvironmentsModule } from '../../infrastructure/environments/environments.module';
import { EnvironmentsWorkerModule } from '../../infrastructure/environments/environments.worker.module';
import { ClustersModule } from './clusters.module';
import { AGED_UTILIZATION } from './nodes/node-utilization.repository';
import { AGED_OFFERS, BlockedOffersRepository } from './provisioning/blocked-offers.repository';
import { MachinePlacesRepository } from './provisioning/machine-places.repository';
import { CloudRegistrations } from './provisioning/cloud-registrations';
import { ClusterSnapshots } from './provisioning/cluster-snapshot';
import { ClusterReconciler } from './provisioning/cluster-reconciler';
import { DestroyClusterWorkflow } from './provisioning/destroy-cluster.workflow';
import { DownedNodeReconciler } from './provisioning/downed-node-reconciler';
import { Drivers } from './provisioning/drivers';
import { IdleClusterReconciler } from './scaling/idle-cluster-reconciler';
import { IdleClustersRepository } from './scaling/idle-clusters.repository';
import { NodeTeardown } from './provisioning/node-teardown';
import { NodeMachines } from './provisioning/node-machines';
import { NodePlaces } from './provisioning/node-places';
import { NodePlanner } from './provisioning/node-planner';
import { ClusterScaler } from './scaling/cluster-scaler';
import { ResizeClusterDownWorkflow, ResizeClusterUpWorkflow } from './scaling/resize-cluster.workflow';
import { OrphanSweeper } from './provisioning/orphan-sweeper';
import { ScalingReconciler } from './scaling/scaling-reconciler';
import { ScalingRepository } from './scaling/scaling.repository';
import { StartClusterWorkflow } from './provisioning/start-cluster.workflow';
import { StopClusterWorkflow } from './provisioning/stop-cluster.workflow';

@Module({
  imports: [ClustersModule, EnvironmentsModule, EnvironmentsWorkerModule, ActiveTenantsModule, ReferenceDataModule],
  providers: [
    CloudRegistrations,
    Drivers,
    ClusterSnapshots,
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
