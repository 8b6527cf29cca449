import { Initial1795232383435 } from './migrations/1795232383435-initial';
import { AuditEvents1795301209690 } from './migrations/1795301209690-audit-events';
import { SessionTokens1795301784196 } from './migrations/1795301784196-session-tokens';
import { ExternalLogins1795302731580 } from './migrations/1795302731580-external-logins';
import { RoleHolderIndexes1795303151950 } from './migrations/1795303151950-role-holder-indexes';
import { ObjectStorageManagers1795312395160 } from './migrations/1795312395160-object-storage-managers';
import { SearchIndexes1795313444328 } from './migrations/1795313444328-search-indexes';
import { LocalHosts1795313513865 } from './migrations/1795313513865-local-hosts';
import { Mounts1795313552340 } from './migrations/1795313552340-mounts';
import { ObjectStorageFiles1795313777691 } from './migrations/1795313777691-object-storage-files';
import { StoreSearchIndexes1795316076149 } from './migrations/1795316076149-store-search-indexes';
import { EndedRows1795326685495 } from './migrations/1795326685495-ended-rows';
import { SpentBootstrapTokens1795349001451 } from './migrations/1795349001451-spent-bootstrap-tokens';
import { OwnersOfUsersAndGroups1795350452427 } from './migrations/1795350452427-owners-of-users-and-groups';
import { AnsweredSeconds1795351316272 } from './migrations/1795351316272-answered-seconds';
import { SessionNetworks1795351436874 } from './migrations/1795351436874-session-networks';
import { ConfinedJobs1795352304328 } from './migrations/1795352304328-confined-jobs';
import { WorkspaceFileTotals1795353906772 } from './migrations/1795353906772-workspace-file-totals';
import { ComputeTypesOfMachineTypes1795362759150 } from './migrations/1795362759150-compute-types-of-machine-types';
import { PlatformNow1795373376616 } from './migrations/1795373376616-platform-now';
import { WorkflowSubjects1795375354925 } from './migrations/1795375354925-workflow-subjects';
import { LogPieces1795375946886 } from './migrations/1795375946886-log-pieces';
import { NodePrices1795379872246 } from './migrations/1795379872246-node-prices';
import { IdempotencyKeyAges1795388323670 } from './migrations/1795388323670-idempotency-key-ages';
import { SignsOfLifeInPlace1795398341207 } from './migrations/1795398341207-signs-of-life-in-place';
import { Workers1795398395759 } from './migrations/1795398395759-workers';
import { UnfinishedRuns1795398857126 } from './migrations/1795398857126-unfinished-runs';
import { SharedWorkspaces1795423197041 } from './migrations/1795423197041-shared-workspaces';
import { DependencyRepositories1795434279772 } from './migrations/1795434279772-dependency-repositories';
import { ScopedSecrets1795448930822 } from './migrations/1795448930822-scoped-secrets';
import { MetastoreCatalogs1795449600000 } from './migrations/1795449600000-metastore-catalogs';
import { CatalogSecrets1795450800000 } from './migrations/1795450800000-catalog-secrets';
import { PlacesOfCatalogs1795455000000 } from './migrations/1795455000000-places-of-catalogs';
import { RunChannels1795460000000 } from './migrations/1795460000000-run-channels';
import { NotebookKind1795462000000 } from './migrations/1795462000000-notebook-kind';
import { NotebookDocuments1795463000000 } from './migrations/1795463000000-notebook-documents';
import { Kernels1795465000000 } from './migrations/1795465000000-kernels';
import { Billing1795470000000 } from './migrations/1795470000000-billing';
import { ThriftAnswersAhead1795475000000 } from './migrations/1795475000000-thrift-answers-ahead';
import { Installation1795480000000 } from './migrations/1795480000000-installation';
import { NodeLoad1795490000000 } from './migrations/1795490000000-node-load';
import { ClusterResizes1795491000000 } from './migrations/1795491000000-cluster-resizes';
import { CompleteHistories1795495000000 } from './migrations/1795495000000-complete-histories';
import { NodeUtilization1795505000000 } from './migrations/1795505000000-node-utilization';
import { MachinePlaces1795510000000 } from './migrations/1795510000000-machine-places';
import { BlockedOffers1795520000000 } from './migrations/1795520000000-blocked-offers';
import { SchemaCompatibility1795530000000 } from './migrations/1795530000000-schema-compatibility';
import { MasterKeyProbes1795531000000 } from './migrations/1795531000000-master-key-probes';
import { ClearedOutputs1795532000000 } from './migrations/1795532000000-cleared-outputs';
import { LocalSparkVersions1795533000000 } from './migrations/1795533000000-local-spark-versions';
import { EndedTokens1795534000000 } from './migrations/1795534000000-ended-tokens';

/** Every migration, oldest first; entities.spec.ts fails when one of the folder is missing. */
export const MIGRATIONS = [
  Initial1795232383435,
  AuditEvents1795301209690,
  SessionTokens1795301784196,
  ExternalLogins1795302731580,
  RoleHolderIndexes1795303151950,
  ObjectStorageManagers1795312395160,
  SearchIndexes1795313444328,
  LocalHosts1795313513865,
  Mounts1795313552340,
  ObjectStorageFiles1795313777691,
  StoreSearchIndexes1795316076149,
  EndedRows1795326685495,
  SpentBootstrapTokens1795349001451,
  OwnersOfUsersAndGroups1795350452427,
  AnsweredSeconds1795351316272,
  SessionNetworks1795351436874,
  ConfinedJobs1795352304328,
  WorkspaceFileTotals1795353906772,
  ComputeTypesOfMachineTypes1795362759150,
  PlatformNow1795373376616,
  WorkflowSubjects1795375354925,
  LogPieces1795375946886,
  NodePrices1795379872246,
  IdempotencyKeyAges1795388323670,
  SignsOfLifeInPlace1795398341207,
  Workers1795398395759,
  UnfinishedRuns1795398857126,
  SharedWorkspaces1795423197041,
  DependencyRepositories1795434279772,
  ScopedSecrets1795448930822,
  MetastoreCatalogs1795449600000,
  CatalogSecrets1795450800000,
  PlacesOfCatalogs1795455000000,
  RunChannels1795460000000,
  NotebookKind1795462000000,
  NotebookDocuments1795463000000,
  Kernels1795465000000,
  Billing1795470000000,
  ThriftAnswersAhead1795475000000,
  Installation1795480000000,
  NodeLoad1795490000000,
  ClusterResizes1795491000000,
  CompleteHistories1795495000000,
  NodeUtilization1795505000000,
  MachinePlaces1795510000000,
  BlockedOffers1795520000000,
  SchemaCompatibility1795530000000,
  MasterKeyProbes1795531000000,
  ClearedOutputs1795532000000,
  LocalSparkVersions1795533000000,
  EndedTokens1795534000000,
];
