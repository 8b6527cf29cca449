import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, RouterModule } from '@nestjs/core';
import { AGENT_BASE_PATH } from '../libs/contracts/agent-protocol';
import type { Served } from './config/http.config';
import { BillingApiModule } from './modules/execution/billing/billing.api.module';
import { CostsApiModule } from './modules/execution/costs/costs.api.module';
import { ClustersApiModule } from './modules/execution/clusters/clusters.api.module';
import { NotebooksApiModule } from './modules/execution/notebooks/notebooks.api.module';
import { RunsApiModule } from './modules/execution/runs/runs.api.module';
import { UserSecretsApiModule } from './modules/execution/user-secrets/user-secrets.api.module';
import { WorkspacesApiModule } from './modules/execution/workspaces/workspaces.api.module';
import { WorkspacesModule } from './modules/execution/workspaces/workspaces.module';
import { AuditApiModule } from './modules/foundation/audit/audit.api.module';
import { IamApiModule } from './modules/foundation/iam/iam.api.module';
import { IamModule } from './modules/foundation/iam/iam.module';
import { ReferenceDataApiModule } from './modules/foundation/reference-data/reference-data.api.module';
import { EnvironmentsApiModule } from './modules/infrastructure/environments/environments.api.module';
import { MetastoresApiModule } from './modules/infrastructure/metastores/metastores.api.module';
import { StorageApiModule } from './modules/infrastructure/storage/storage.api.module';
import { AgentsApiModule } from './modules/interfaces/agents/agents.api.module';
import { CatalogBrowsingApiModule } from './modules/interfaces/catalog-browsing/catalog-browsing.api.module';
import { EventsApiModule } from './modules/interfaces/events/events.api.module';
import { HealthApiModule } from './platform/http/health/health.api.module';
import { GUARDS } from './platform/http/auth/guards';
import { ErrorFilter } from './platform/http/error.filter';
import { HttpModule } from './platform/http/http.module';
import { API_PREFIX } from './platform/http/openapi';
import { PlatformModule } from './platform/platform.module';

const CLIENT_MODULES = [
  ReferenceDataApiModule,
  EnvironmentsApiModule,
  StorageApiModule,
  MetastoresApiModule,
  RunsApiModule,
  NotebooksApiModule,
  ClustersApiModule,
  WorkspacesApiModule,
  UserSecretsApiModule,
  CatalogBrowsingApiModule,
  IamApiModule,
  AuditApiModule,
  BillingApiModule,
  EventsApiModule,
  CostsApiModule,
];

/** The API process: controllers over the domains, no job handlers and no compute drivers. */
@Module({
  // The guards need IamModule and WorkspacesModule to identify a caller and to check permissions in a workspace.
  imports: [PlatformModule.of('api'), HttpModule, IamModule, WorkspacesModule, HealthApiModule],
  providers: [...GUARDS, { provide: APP_FILTER, useClass: ErrorFilter }],
})
export class ApiModule {
  /** Returns a module with the probes and the routes for `served`: clients, node agents or both. */
  static serving(served: readonly Served[], more: readonly Type[] = []): DynamicModule {
    const domains = [...(served.includes('clients') ? CLIENT_MODULES : []), ...more];
    const agents = served.includes('agents') ? [AgentsApiModule] : [];
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
