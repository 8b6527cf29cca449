import { Module } from '@nestjs/common';
import { WorkflowRunner } from '../../platform/workflows/workflow-runner';
import { LocalConfinementModule } from '../cloud-envs/local-confinement.module';
import { CredentialsConfsModule } from '../credentials-confs/credentials-confs.module';
import { OpenTenantsModule } from '../iam/open-tenants.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { ClustersModule } from './clusters.module';
import { ClusterFactsReader } from './workflows/cluster-facts';
import { ClusterLifecycleHandler } from './workflows/cluster-lifecycle.handler';
import { ClusterReconciler } from './workflows/cluster-reconciler';
import { DestroyClusterWorkflow } from './workflows/destroy-cluster.workflow';
import { Drivers } from './workflows/drivers';
import { NodeTeardown } from './workflows/node-teardown';
import { StartClusterWorkflow } from './workflows/start-cluster.workflow';
import { StopClusterWorkflow } from './workflows/stop-cluster.workflow';

@Module({
  imports: [ClustersModule, CredentialsConfsModule, LocalConfinementModule, OpenTenantsModule, ReferenceDataModule],
  providers: [
    WorkflowRunner,
    Drivers,
    ClusterFactsReader,
    NodeTeardown,
    StartClusterWorkflow,
    StopClusterWorkflow,
    DestroyClusterWorkflow,
    ClusterLifecycleHandler,
    ClusterReconciler,
  ],
  exports: [ClusterReconciler],
})
export class ClustersWorkerModule {}
