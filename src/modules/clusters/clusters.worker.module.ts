import { Module } from '@nestjs/common';
import { LocalConfinementModule } from '../cloud-envs/local-confinement.module';
import { CredentialsConfsModule } from '../credentials-confs/credentials-confs.module';
import { OpenTenantsModule } from '../iam/open-tenants.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { ClustersModule } from './clusters.module';
import { ClusterFactsReader } from './workflows/cluster-facts';
import { ClusterReconciler } from './workflows/cluster-reconciler';
import { DestroyClusterWorkflow } from './workflows/destroy-cluster.workflow';
import { DownedNodeReconciler } from './workflows/downed-node-reconciler';
import { Drivers } from './workflows/drivers';
import { IdleClusterReconciler } from './workflows/idle-cluster-reconciler';
import { IdleClustersRepository } from './workflows/idle-clusters.repository';
import { NodeUtilizationSweeper } from './workflows/node-utilization-sweeper';
import { NodeTeardown } from './workflows/node-teardown';
import { StartClusterWorkflow } from './workflows/start-cluster.workflow';
import { StopClusterWorkflow } from './workflows/stop-cluster.workflow';

@Module({
  imports: [ClustersModule, CredentialsConfsModule, LocalConfinementModule, OpenTenantsModule, ReferenceDataModule],
  providers: [
    Drivers,
    ClusterFactsReader,
    NodeTeardown,
    StartClusterWorkflow,
    StopClusterWorkflow,
    DestroyClusterWorkflow,
    ClusterReconciler,
    DownedNodeReconciler,
    IdleClustersRepository,
    IdleClusterReconciler,
    NodeUtilizationSweeper,
  ],
})
export class ClustersWorkerModule {}
