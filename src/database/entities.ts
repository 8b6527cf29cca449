import { LedgerEntry } from '../modules/execution/billing/entities/ledger-entry.entity';
import { OpenInterval } from '../modules/execution/billing/entities/open-interval.entity';
import { StaleUsage } from '../modules/execution/billing/entities/stale-usage.entity';
import { UsageDay } from '../modules/execution/billing/entities/usage-day.entity';
import { UsageGroup } from '../modules/execution/billing/entities/usage-group.entity';
import { BootDiskImage } from '../modules/infrastructure/environments/boot-disk-images/entities/boot-disk-image.entity';
import {
  TenantCatalogSecret,
  UserCatalogSecret,
  WorkspaceCatalogSecret,
} from '../modules/execution/user-secrets/catalog-secrets/entities/catalog-secret.entity';
import { CloudEnv } from '../modules/infrastructure/environments/cloud-environments/entities/cloud-env.entity';
import { LocalHost } from '../modules/infrastructure/environments/cloud-environments/entities/local-host.entity';
import { ClusterConf } from '../modules/infrastructure/environments/cluster-configurations/entities/cluster-conf.entity';
import { AnsweredSecond } from '../modules/execution/clusters/model/entities/answered-second.entity';
import { BlockedOffer } from '../modules/execution/clusters/model/entities/blocked-offer.entity';
import { ClusterMount } from '../modules/execution/clusters/model/entities/cluster-mount.entity';
import { ClusterNode } from '../modules/execution/clusters/model/entities/cluster-node.entity';
import { ClusterStateEntry } from '../modules/execution/clusters/model/entities/cluster-state.entity';
import { Cluster } from '../modules/execution/clusters/model/entities/cluster.entity';
import { MachinePlace } from '../modules/execution/clusters/model/entities/machine-place.entity';
import { NodeStateEntry } from '../modules/execution/clusters/model/entities/node-state.entity';
import { NodeUtilizationStep } from '../modules/execution/clusters/model/entities/node-utilization.entity';
import { CredentialsConf } from '../modules/infrastructure/environments/credentials/entities/credentials-conf.entity';
import { DependencyRepository } from '../modules/infrastructure/storage/dependency-repositories/entities/dependency-repository.entity';
import { GroupRole } from '../modules/foundation/iam/entities/group-role.entity';
import { GroupUser } from '../modules/foundation/iam/entities/group-user.entity';
import { Group } from '../modules/foundation/iam/entities/group.entity';
import { RoleRecord } from '../modules/foundation/iam/entities/role.entity';
import { Session } from '../modules/foundation/iam/entities/session.entity';
import { SsoLogin } from '../modules/foundation/iam/entities/sso-login.entity';
import { Tenant } from '../modules/foundation/iam/entities/tenant.entity';
import { UserRole } from '../modules/foundation/iam/entities/user-role.entity';
import { User } from '../modules/foundation/iam/entities/user.entity';
import { JobConf } from '../modules/execution/runs/jobs/entities/job-conf.entity';
import { RunCount } from '../modules/execution/runs/jobs/entities/run-count.entity';
import { RunStateEntry } from '../modules/execution/runs/jobs/entities/run-state.entity';
import { Run } from '../modules/execution/runs/jobs/entities/run.entity';
import { MetastoreCatalog } from '../modules/infrastructure/metastores/entities/metastore-catalog.entity';
import { Mount } from '../modules/infrastructure/storage/mounts/entities/mount.entity';
import { NetworkConf } from '../modules/infrastructure/environments/networks/entities/network-conf.entity';
import { KernelClientPosition } from '../modules/execution/notebooks/instances/entities/kernel-client.entity';
import { KernelRequest } from '../modules/execution/notebooks/instances/entities/kernel-request.entity';
import { Kernel } from '../modules/execution/notebooks/instances/entities/kernel.entity';
import { NotebookCell } from '../modules/execution/notebooks/content/entities/notebook-cell.entity';
import { NotebookContent } from '../modules/execution/notebooks/content/entities/notebook-content.entity';
import { NotebookDocumentRow } from '../modules/execution/notebooks/content/entities/notebook-document.entity';
import { NotebookOutputPiece } from '../modules/execution/notebooks/content/entities/notebook-output.entity';
import { NotebookRevision } from '../modules/execution/notebooks/content/entities/notebook-revision.entity';
import { ObjectStorageFile } from '../modules/infrastructure/storage/object-storage-managers/entities/object-storage-file.entity';
import { ObjectStorageManager } from '../modules/infrastructure/storage/object-storage-managers/entities/object-storage-manager.entity';
import { LOOKUP_ENTITIES } from '../modules/foundation/reference-data/entities/lookup-tables.entity';
import { ReferenceDataVersion } from '../modules/foundation/reference-data/entities/reference-data-version.entity';
import { RunFrameLog } from '../modules/execution/runs/channels/entities/run-frame-log.entity';
import { RunFrames } from '../modules/execution/runs/channels/entities/run-frames.entity';
import { RunRequestQueue } from '../modules/execution/runs/channels/entities/run-request-queue.entity';
import { RunRequest } from '../modules/execution/runs/channels/entities/run-request.entity';
import {
  TenantSecret,
  UserSecret,
  WorkspaceSecret,
} from '../modules/execution/user-secrets/scoped-secrets/entities/scoped-secret.entity';
import { MasterKeyProbe } from '../modules/foundation/secrets/entities/master-key-probe.entity';
import { TenantDataKey } from '../modules/foundation/secrets/entities/tenant-data-key.entity';
import { ThriftAnswerAhead } from '../modules/execution/runs/thrift-sql/entities/thrift-answer-ahead.entity';
import { VolumeConf } from '../modules/infrastructure/environments/volumes/entities/volume-conf.entity';
import { ClusterWorkspace } from '../modules/execution/workspaces/entities/cluster-workspace.entity';
import { WorkspaceFileTotals } from '../modules/execution/workspaces/entities/workspace-file-totals.entity';
import { WorkspaceFile } from '../modules/execution/workspaces/entities/workspace-file.entity';
import {
  WorkspaceGroup,
  WorkspacePermissionRecord,
  WorkspaceUser,
} from '../modules/execution/workspaces/entities/workspace-permissions.entity';
import { Workspace } from '../modules/execution/workspaces/entities/workspace.entity';
import { AuditEvent } from '../platform/kernel/audit/audit-event.entity';
import { InstallationRow } from '../platform/kernel/installation/installation.entity';
import { OutboxMessage } from '../platform/background/outbox/outbox-message.entity';
import { IdempotencyKey } from '../platform/kernel/persistence/idempotency-key.entity';
import { RegisteredWorker } from '../platform/background/workers/registered-worker.entity';
import { WorkflowJobInstance } from '../platform/background/workflows/entities/workflow-job-instance.entity';
import { WorkflowJob } from '../platform/background/workflows/entities/workflow-job.entity';
import { WorkflowState } from '../platform/background/workflows/entities/workflow-state.entity';
import { WorkflowStep } from '../platform/background/workflows/entities/workflow-step.entity';
import { SchemaCompatibility } from './schema-compatibility.entity';

/**
 * Every entity, from all files named `*.entity.ts`; entities.spec.ts fails when one is missing. TypeORM could find them by their
 * file names, but in a bundle there are none.
 */
export const ENTITIES = [
  ...LOOKUP_ENTITIES,
  AnsweredSecond,
  AuditEvent,
  BlockedOffer,
  BootDiskImage,
  CloudEnv,
  Cluster,
  ClusterConf,
  ClusterMount,
  ClusterNode,
  ClusterStateEntry,
  ClusterWorkspace,
  CredentialsConf,
  DependencyRepository,
  Group,
  GroupRole,
  GroupUser,
  IdempotencyKey,
  InstallationRow,
  JobConf,
  Kernel,
  KernelClientPosition,
  KernelRequest,
  LedgerEntry,
  LocalHost,
  MachinePlace,
  MasterKeyProbe,
  MetastoreCatalog,
  Mount,
  NetworkConf,
  NodeStateEntry,
  NodeUtilizationStep,
  NotebookCell,
  NotebookContent,
  NotebookDocumentRow,
  NotebookOutputPiece,
  NotebookRevision,
  ObjectStorageFile,
  ObjectStorageManager,
  OpenInterval,
  OutboxMessage,
  ReferenceDataVersion,
  RegisteredWorker,
  RoleRecord,
  Run,
  RunCount,
  RunFrameLog,
  RunFrames,
  RunRequest,
  RunRequestQueue,
  RunStateEntry,
  SchemaCompatibility,
  Session,
  SsoLogin,
  StaleUsage,
  Tenant,
  TenantCatalogSecret,
  TenantDataKey,
  TenantSecret,
  ThriftAnswerAhead,
  UsageDay,
  UsageGroup,
  User,
  UserCatalogSecret,
  UserRole,
  UserSecret,
  VolumeConf,
  WorkflowJob,
  WorkflowJobInstance,
  WorkflowState,
  WorkflowStep,
  Workspace,
  WorkspaceCatalogSecret,
  WorkspaceFile,
  WorkspaceFileTotals,
  WorkspaceGroup,
  WorkspacePermissionRecord,
  WorkspaceSecret,
  WorkspaceUser,
];
