import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, RouterModule } from '@nestjs/core';
import { AGENT_BASE_PATH } from '../libs/contracts/agent-protocol';
import type { Served } from './config/http.config';
import { AgentsApiModule } from './modules/interfaces/agents/agents.api.module';
import { AuditApiModule } from './modules/foundation/audit/audit.api.module';
import { BillingApiModule } from './modules/execution/billing/billing.api.module';
import { BootDiskImagesApiModule } from './modules/infrastructure/environments/boot-disk-images/boot-disk-images.api.module';
import { CatalogSecretsApiModule } from './modules/execution/user-secrets/catalog-secrets/catalog-secrets.api.module';
import { CloudEnvsApiModule } from './modules/infrastructure/environments/cloud-environments/cloud-envs.api.module';
import { CatalogBrowsingApiModule } from './modules/interfaces/catalog-browsing/catalog-browsing.api.module';
import { ClusterConfsApiModule } from './modules/infrastructure/environments/cluster-configurations/cluster-confs.api.module';
import { ClustersApiModule } from './modules/execution/clusters/clusters.api.module';
import { CredentialsConfsApiModule } from './modules/infrastructure/environments/credentials/credentials-confs.api.module';
import { DependencyRepositoriesApiModule } from './modules/infrastructure/storage/dependency-repositories/dependency-repositories.api.module';
import { HealthApiModule } from './platform/http/health/health.api.module';
import { IamApiModule } from './modules/foundation/iam/iam.api.module';
import { IamModule } from './modules/foundation/iam/iam.module';
import { FunctionsApiModule } from './modules/execution/runs/functions/functions.api.module';
import { ThriftSqlApiModule } from './modules/execution/runs/thrift-sql/thrift-sql.api.module';
import { NotebookInstancesApiModule } from './modules/execution/notebooks/instances/notebook-instances.api.module';
import { JobsApiModule } from './modules/execution/runs/jobs/jobs.api.module';
import { MetastoreCatalogsApiModule } from './modules/infrastructure/metastores/metastore-catalogs.api.module';
import { MountsApiModule } from './modules/infrastructure/storage/mounts/mounts.api.module';
import { NetworkConfsApiModule } from './modules/infrastructure/environments/networks/network-confs.api.module';
import { NotebooksApiModule } from './modules/execution/notebooks/content/notebooks.api.module';
import { ObjectStorageManagersApiModule } from './modules/infrastructure/storage/object-storage-managers/object-storage-managers.api.module';
import { ReferenceDataApiModule } from './modules/foundation/reference-data/reference-data.api.module';
import { ScopedSecretsApiModule } from './modules/execution/user-secrets/scoped-secrets/scoped-secrets.api.module';
import { VolumeConfsApiModule } from './modules/infrastructure/environments/volumes/volume-confs.api.module';
import { WorkspaceDocumentsApiModule } from './modules/execution/notebooks/workspace-documents/workspace-documents.api.module';
import { WorkspacesApiModule } from './modules/execution/workspaces/workspaces.api.module';
import { WorkspacesModule } from './modules/execution/workspaces/workspaces.module';
import { GUARDS } from './platform/http/auth/guards';
import { ErrorFilter } from './platform/http/error.filter';
import { HttpModule } from './platform/http/http.module';
import { API_PREFIX } from './platform/http/openapi';
import { PlatformModule } from './platform/platform.module';

/** Among routes of equal rank Express tries the first ones first: these get the most requests. */
const OF_CLIENTS = [
  ReferenceDataApiModule,
  VolumeConfsApiModule,
  NetworkConfsApiModule,
  BootDiskImagesApiModule,
  CredentialsConfsApiModule,
  CloudEnvsApiModule,
  ClusterConfsApiModule,
  ObjectStorageManagersApiModule,
  MountsApiModule,
  DependencyRepositoriesApiModule,
  MetastoreCatalogsApiModule,
  JobsApiModule,
  NotebooksApiModule,
  NotebookInstancesApiModule,
  FunctionsApiModule,
  ThriftSqlApiModule,
  ClustersApiModule,
  WorkspacesApiModule,
  WorkspaceDocumentsApiModule,
  ScopedSecretsApiModule,
  CatalogSecretsApiModule,
  CatalogBrowsingApiModule,
  IamApiModule,
  AuditApiModule,
  BillingApiModule,
];

/** The API process: controllers over the domains, no job handlers and no compute drivers. */
@Module({
  // What the guard uses: who a caller is, and what they may do in a workspace.
  imports: [PlatformModule.of('api'), HttpModule, IamModule, WorkspacesModule, HealthApiModule],
  providers: [...GUARDS, { provide: APP_FILTER, useClass: ErrorFilter }],
})
export class ApiModule {
  /** Probes, and the routes of those whom the process serves. */
  static serving(whom: readonly Served[], more: readonly Type[] = []): DynamicModule {
    const domains = [...(whom.includes('clients') ? OF_CLIENTS : []), ...more];
    const agents = whom.includes('agents') ? [AgentsApiModule] : [];
    return {
      module: ApiModule,
      imports: [
        ...domains,
        ...agents,
        RouterModule.register([
          ...[HealthApiModule, ...domains].map((module) => ({ path: API_PREFIX, module })),
          ...agents.map((module) => ({ path: AGENT_BASE_PATH, module })),
        ]),
      ],
    };
  }
}
