import { LedgerEntry } from '../modules/billing/entities/ledger-entry.entity';
import { OpenInterval } from '../modules/billing/entities/open-interval.entity';
import { StaleUsage } from '../modules/billing/entities/stale-usage.entity';
import { UsageDay } from '../modules/billing/entities/usage-day.entity';
import { UsageGroup } from '../modules/billing/entities/usage-group.entity';
import { BootDiskImage } from '../modules/boot-disk-images/entities/boot-disk-image.entity';
import {
  TenantCatalogSecret,
  UserCatalogSecret,
  WorkspaceCatalogSecret,
} from '../modules/catalog-secrets/entities/catalog-secret.entity';
import { CloudEnv } from '../modules/cloud-envs/entities/cloud-env.entity';
import { LocalHost } from '../modules/cloud-envs/entities/local-host.entity';
import { ClusterConf } from '../modules/cluster-confs/entities/cluster-conf.entity';
import { AnsweredSecond } from '../modules/clusters/entities/answered-second.entity';
import { BlockedOffer } from '../modules/clusters/entities/blocked-offer.entity';
import { ClusterMount } from '../modules/clusters/entities/cluster-mount.entity';
import { ClusterNode } from '../modules/clusters/entities/cluster-node.entity';
import { ClusterStateEntry } from '../modules/clusters/entities/cluster-state.entity';
import { Cluster } from '../modules/clusters/entities/cluster.entity';
import { MachinePlace } from '../modules/clusters/entities/machine-place.entity';
import { NodeStateEntry } from '../modules/clusters/entities/node-state.entity';
import { NodeUtilizationStep } from '../modules/clusters/entities/node-utilization.entity';
import { CredentialsConf } from '../modules/credentials-confs/entities/credentials-conf.entity';
import { DependencyRepository } from '../modules/dependency-repositories/entities/dependency-repository.entity';
import { GroupRole } from '../modules/iam/entities/group-role.entity';
import { GroupUser } from '../modules/iam/entities/group-user.entity';
import { Group } from '../modules/iam/entities/group.entity';
import { RoleRecord } from '../modules/iam/entities/role.entity';
import { Session } from '../modules/iam/entities/session.entity';
import { SsoLogin } from '../modules/iam/entities/sso-login.entity';
import { Tenant } from '../modules/iam/entities/tenant.entity';
import { UserRole } from '../modules/iam/entities/user-role.entity';
import { User } from '../modules/iam/entities/user.entity';
import { JobConf } from '../modules/jobs/entities/job-conf.entity';
import { RunCount } from '../modules/jobs/entities/run-count.entity';
import { RunStateEntry } from '../modules/jobs/entities/run-state.entity';
import { Run } from '../modules/jobs/entities/run.entity';
import { MetastoreCatalog } from '../modules/metastore-catalogs/entities/metastore-catalog.entity';
import { Mount } from '../modules/mounts/entities/mount.entity';
import { NetworkConf } from '../modules/network-confs/entities/network-conf.entity';
import { KernelClientPosition } from '../modules/notebook-instances/entities/kernel-client.entity';
import { KernelRequest } from '../modules/notebook-instances/entities/kernel-request.entity';
import { Kernel } from '../modules/notebook-instances/entities/kernel.entity';
import { NotebookCell } from '../modules/notebooks/entities/notebook-cell.entity';
import { NotebookContent } from '../modules/notebooks/entities/notebook-content.entity';
import { NotebookDocumentRow } from '../modules/notebooks/entities/notebook-document.entity';
import { NotebookOutputPiece } from '../modules/notebooks/entities/notebook-output.entity';
import { NotebookRevision } from '../modules/notebooks/entities/notebook-revision.entity';
import { ObjectStorageFile } from '../modules/object-storage-managers/entities/object-storage-file.entity';
import { ObjectStorageManager } from '../modules/object-storage-managers/entities/object-storage-manager.entity';
import { LOOKUP_ENTITIES } from '../modules/reference-data/entities/lookup-tables.entity';
import { ReferenceDataVersion } from '../modules/reference-data/entities/reference-data-version.entity';
import { RunFrameLog } from '../modules/run-channels/entities/run-frame-log.entity';
import { RunFrames } from '../modules/run-channels/entities/run-frames.entity';
import { RunRequestQueue } from '../modules/run-channels/entities/run-request-queue.entity';
import { RunRequest } from '../modules/run-channels/entities/run-request.entity';
import { TenantSecret, UserSecret, WorkspaceSecret } from '../modules/scoped-secrets/entities/scoped-secret.entity';
import { MasterKeyProbe } from '../modules/secrets/entities/master-key-probe.entity';
import { TenantDataKey } from '../modules/secrets/entities/tenant-data-key.entity';
import { ThriftAnswerAhead } from '../modules/thrift-sql/entities/thrift-answer-ahead.entity';
import { VolumeConf } from '../modules/volume-confs/entities/volume-conf.entity';
import { ClusterWorkspace } from '../modules/workspaces/entities/cluster-workspace.entity';
import { WorkspaceFileTotals } from '../modules/workspaces/entities/workspace-file-totals.entity';
import { WorkspaceFile } from '../modules/workspaces/entities/workspace-file.entity';
import {
  WorkspaceGroup,
  WorkspacePermissionRecord,
  WorkspaceUser,
} from '../modules/workspaces/entities/workspace-permissions.entity';
import { Workspace } from '../modules/workspaces/entities/workspace.entity';
import { AuditEvent } from '../platform/audit/audit-event.entity';
import { InstallationRow } from '../platform/installation/installation.entity';
import { OutboxMessage } from '../platform/outbox/outbox-message.entity';
import { IdempotencyKey } from '../platform/persistence/idempotency-key.entity';
import { RegisteredWorker } from '../platform/workers/registered-worker.entity';
import { WorkflowJobInstance } from '../platform/workflows/entities/workflow-job-instance.entity';
import { WorkflowJob } from '../platform/workflows/entities/workflow-job.entity';
import { WorkflowState } from '../platform/workflows/entities/workflow-state.entity';
import { WorkflowStep } from '../platform/workflows/entities/workflow-step.entity';
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
