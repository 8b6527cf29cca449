import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, DomainError } from '../../../../platform/kernel/errors/domain-error';
import { type Message, openEnded } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import type { Page } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import {
  CloudEnvsService,
  ClusterConfsService,
  EnvironmentSparksService,
  reservedLabels,
} from '../../../infrastructure/environments';
import { DependencyRepositoriesService, ObjectStorageManagersService } from '../../../infrastructure/storage';
import { ActiveTenantsService } from '../../../foundation/iam';
import { MetastoreCatalogsService } from '../../../infrastructure/metastores';
import { CLOUD_PROVIDER_ID, type CloudProviderName, ReferenceData } from '../../../foundation/reference-data';
import { readCluster, summarizeCluster, writeCluster } from './cluster-responses';
import { ClusterMountsService } from './cluster-mounts.service';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { changedDraft, newClusterColumns, newDraft, restrictedColumns } from './cluster-draft';
import {
  type ClusterDraft,
  checkAcceleratedConf,
  checkDraft,
  checkSparkConfig,
  clusterLabels,
  tooManyParallelJobs,
} from './cluster-rules';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import { driverMemoryMb, MIN_DRIVER_MB } from './driver-memory';
import { EDITABLE_STATUSES } from '../model/cluster-state';
import { type ClusterRow, ClusterDefinitionsRepository } from './cluster-definitions.repository';
import type { ClusterRead, ClusterSummary, ClusterWrite } from './dto/cluster-responses.dto';
import type {
  ClusterListQuery,
  ClusterSearchQuery,
  ClusterSettings,
  CreateCluster,
  DriverMemoryQuery,
  UpdateCluster,
} from './dto/cluster-input.dto';
import type { Cluster } from '../model/entities/cluster.entity';
import { assertEnabled, invalidState } from '../lifecycle/operation-rules';

/** Fields that may change in every state. All others may change only in DESTROYED or ERROR. */
export const ALWAYS_EDITABLE: readonly string[] = [
  'name',
  'description',
  'idle_timeout_ms',
  'clean_up_timeout',
  'spark_config',
];

@Injectable()
export class ClusterDefinitionsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: ClusterDefinitionsRepository,
    private readonly rows: ClusterRowsRepository,
    private readonly cloudEnvs: CloudEnvsService,
    private readonly clusterConfs: ClusterConfsService,
    private readonly referenceData: ReferenceData,
    private readonly activeTenants: ActiveTenantsService,
    private readonly objectStorageManagers: ObjectStorageManagersService,
    private readonly lifecycle: ClusterLifecycle,
    private readonly nodes: ClusterNodesRepository,
    private readonly mounts: ClusterMountsService,
    private readonly dependencies: DependencyRepositoriesService,
    private readonly metastoreCatalogs: MetastoreCatalogsService,
    private readonly sparks: EnvironmentSparksService,
  ) {}

  async list(scope: TenantScope, query: ClusterListQuery | ClusterSearchQuery): Promise<Page<ClusterRead>> {
    const page = await this.repository.list(
      scope,
      query,
      (conditions) => {
        conditions
          .only('status', query.cluster_status)
          .only('cluster_conf_id', query.cluster_conf_id)
          .onlyEnabled(query.enable)
          .only('cluster_type', query.cluster_types)
          .only('spark_infra_version_id', query.spark_infra_version_ids)
          .only('created_by_user_id', query.created_by_ids)
          .only('modified_by_user_id', query.modified_by_ids);
        this.repository.usesParts({
          clusterConfName: query.cluster_conf_name,
          machineTypeIds: query.machine_type_ids,
          cloudProviderIds: query.cloud_providers?.map((name) => CLOUD_PROVIDER_ID[name as CloudProviderName]),
        })(conditions);
      },
      'cluster_name' in query ? query.cluster_name : undefined,
    );
    const mounts = await this.mounts.of(scope, page.data);
    return { ...page, data: page.data.map((row) => readCluster(row, mounts, this.referenceData)) };
  }

  async get(scope: TenantScope, selector: RecordSelector): Promise<ClusterRead> {
    const row = await this.repository.get(scope, selector);
    return readCluster(row, await this.mounts.of(scope, [row]), this.referenceData);
  }

  async create(scope: TenantScope, body: CreateCluster): Promise<ClusterWrite> {
    return this.transactions.run((tx) => this.createWithin(tx, scope, body));
  }

  async createWithin(tx: Tx, scope: TenantScope, body: CreateCluster): Promise<ClusterWrite> {
    checkSparkConfig(body.spark_config ?? {});
    await this.activeTenants.lock(tx, scope.tenantId);
    await this.dependencies.check('CLUSTER', scope, body.spark_config ?? {}, tx);
    const cloudEnv = await this.cloudEnvs.getRow(scope, { id: body.cloud_env_id }, tx);
    const clusterConf = await this.clusterConfs.getRow(scope, { id: body.cluster_conf_id }, tx);
    await this.holdObjectStorageManager(scope, body, tx);
    const metastoreCatalog = await this.holdCatalog(scope, body.metastore_catalog_id, tx);
    const draft = newDraft(body, { cloudEnv, clusterConf, metastoreCatalog });
    checkDraft(draft, this.referenceData);
    await this.assertSpark(draft, tx);
    checkAcceleratedConf(body.spark_config ?? {}, draft);
    const labels = clusterLabels(body.labels ?? {}, cloudEnv, scope.tenantId, this.referenceData);
    const row = await this.repository.insert(tx, scope, newClusterColumns(body, draft, labels));
    await this.lifecycle.beginHistory(tx, row, scope.userId);
    const mountIds = await this.mounts.replace(tx, scope, row.cluster_id, body.mount_ids);
    return writeCluster({ ...row, mount_ids: mountIds }, this.referenceData);
  }

  async update(scope: TenantScope, selector: RecordSelector, body: UpdateCluster): Promise<ClusterWrite> {
    return this.transactions.run((tx) => this.updateWithin(tx, scope, selector, body));
  }

  async updateWithin(tx: Tx, scope: TenantScope, selector: RecordSelector, body: UpdateCluster): Promise<ClusterWrite> {
    assertChanges(body);
    const changed = Object.entries(body).filter(([, value]) => value !== undefined);
    checkSparkConfig(body.spark_config ?? {});
    const row = await this.repository.get(scope, selector, tx, true);
    const restricted = changed.map(([key]) => key).filter((key) => !ALWAYS_EDITABLE.includes(key));
    if (restricted.length > 0 && !EDITABLE_STATUSES.includes(row.status)) {
      throw invalidState(
        row,
        `${restricted.join(', ')} can change only in ${EDITABLE_STATUSES.join(' or ')}`,
        EDITABLE_STATUSES,
      );
    }
    if (body.cloud_env_id !== undefined && body.cloud_env_id !== row.cloud_env_id) await this.assertNoMachines(row, tx);
    await this.dependencies.check('CLUSTER', scope, body.spark_config ?? {}, tx);
    if (body.mount_ids) await this.mounts.replace(tx, scope, row.cluster_id, body.mount_ids);
    const values = await this.changedColumns(scope, row, body, restricted.length > 0, tx);
    return writeCluster(await this.repository.update(tx, scope, row.cluster_id, values), this.referenceData);
  }

  async disable(scope: TenantScope, selector: RecordSelector): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const row = await this.repository.get(scope, selector, tx, true);
      assertEnabled({ name: row.name, active: openEnded(row.to_date) === null });
      if (row.status !== 'DESTROYED')
        throw invalidState(row, 'only a DESTROYED cluster can be disabled', ['DESTROYED']);
      await this.repository.setEnd(tx, scope, row.cluster_id, false);
      return { message: `The cluster "${row.name}" (id ${row.cluster_id}) is disabled.` };
    });
  }

  /** Returns a cluster to STOPPED without nodes: the way to run a destroyed cluster again. */
  async enable(scope: TenantScope, selector: RecordSelector): Promise<ClusterWrite> {
    return this.transactions.run(async (tx) => {
      await this.activeTenants.lock(tx, scope.tenantId);
      const row = await this.repository.get(scope, selector, tx, true);
      if (openEnded(row.to_date) === null) {
        throw conflict('CLUSTER.INVALID_STATE', `The cluster "${row.name}" is already enabled.`, {
          cluster_status: row.status,
        });
      }
      await this.assertStillFits(scope, row, tx);
      await this.repository.setEnd(tx, scope, row.cluster_id, true);
      const cluster = await this.lifecycle.lockOrThrow(tx, row.cluster_id);
      if (cluster.status === 'DESTROYED') {
        await this.lifecycle.transition(tx, cluster, {
          to: 'STOPPED',
          reason: 'Enabled again',
          userId: scope.userId,
          workflowInstanceId: null,
        });
      }
      return writeCluster(await this.repository.get(scope, { id: row.cluster_id }, tx), this.referenceData);
    });
  }

  driverMemory(query: DriverMemoryQuery): Message {
    const { machine_memory: memory, max_parallel_spark_job_execution_per_instance: jobs } = query;
    const megabytes = driverMemoryMb(memory * 1024, jobs);
    if (megabytes < MIN_DRIVER_MB) throw tooManyParallelJobs(memory, jobs);
    const text = megabytes % 1024 === 0 ? `${megabytes / 1024} GB` : `${megabytes} MB`;
    return {
      message: `Each of the ${jobs} parallel Spark jobs on a machine of ${memory} GB gets ${text} of driver memory.`,
    };
  }

  /** Returns the id of a cluster of the tenant, for operations of other domains. */
  async idOf(scope: TenantScope, selector: RecordSelector): Promise<number> {
    return (await this.rows.identify(scope, selector)).cluster_id;
  }

  /** Returns the cluster of the tenant as `tx` sees it; 404 if there is none. */
  named(scope: TenantScope, selector: RecordSelector, tx: Tx): Promise<Pick<Cluster, 'cluster_id' | 'name'>> {
    return this.rows.identify(scope, selector, tx);
  }

  /** Returns those of the clusters that belong to the tenant, by id, including disabled ones. */
  async summaries(scope: TenantScope, ids: readonly number[]): Promise<ClusterSummary[]> {
    const clusters = await this.repository.findAllEver(scope, ids);
    return clusters.map((row) => summarizeCluster(row, this.referenceData));
  }

  private async changedColumns(
    scope: TenantScope,
    row: ClusterRow,
    body: UpdateCluster,
    isRestricted: boolean,
    tx: Tx,
  ): Promise<Values<Cluster>> {
    const always = {
      name: body.name,
      description: body.description,
      idle_timeout_ms: body.idle_timeout_ms,
      clean_up_timeout: body.clean_up_timeout,
      spark_config: body.spark_config && { ...row.spark_config, ...defined(body.spark_config) },
    };
    if (!isRestricted) {
      const { is_turbo_enabled: isTurboEnabled, is_cuda_enabled: isCudaEnabled } = row;
      checkAcceleratedConf(body.spark_config ?? {}, { isTurboEnabled, isCudaEnabled });
      return always;
    }
    const cloudEnv = await this.cloudEnvs.getRow(scope, { id: body.cloud_env_id ?? row.cloud_env_id }, tx);
    const clusterConf = await this.clusterConfs.getRow(scope, { id: body.cluster_conf_id ?? row.cluster_conf_id }, tx);
    await this.holdObjectStorageManager(scope, body, tx);
    const catalogId = body.metastore_catalog_id;
    const metastoreCatalog =
      catalogId === undefined ? row.metastore_catalog : await this.holdCatalog(scope, catalogId, tx);
    const draft = changedDraft(row, body, { cloudEnv, clusterConf, metastoreCatalog }, this.referenceData);
    checkDraft(draft, this.referenceData, row);
    // A cluster whose Spark is no longer installed may still change in other ways.
    if (body.spark_infra_version_id !== undefined || body.cloud_env_id !== undefined) await this.assertSpark(draft, tx);
    checkAcceleratedConf(always.spark_config ?? row.spark_config, draft);
    const labels = body.labels ?? ownLabels(row.labels, scope.tenantId);
    return {
      ...always,
      ...restrictedColumns(body, draft, clusterLabels(labels, cloudEnv, scope.tenantId, this.referenceData)),
    };
  }

  private async assertSpark({ cloudEnv, sparkInfraVersionId }: ClusterDraft, tx: Tx): Promise<void> {
    const version = this.referenceData.sparkInfraVersion(sparkInfraVersionId);
    if (version) await this.sparks.assertSpark(tx, cloudEnv.endpoint, version.spark_version);
  }

  /** A cluster in ERROR may have machines, which could not be removed from another environment. */
  private async assertNoMachines(row: ClusterRow, tx: Tx): Promise<void> {
    if (await this.nodes.hasNodes(tx, row.cluster_id))
      throw invalidState(
        row,
        'it may still have machines in its cloud environment. Destroy it before you change the environment',
        ['DESTROYED'],
      );
  }

  /** Throws a 404 unless the tenant has the requested manager. Locks the manager until the transaction ends. */
  private async holdObjectStorageManager(
    scope: TenantScope,
    { object_storage_manager_id: id }: Pick<ClusterSettings, 'object_storage_manager_id'>,
    tx: Tx,
  ): Promise<void> {
    if (id !== undefined && id !== null) await this.objectStorageManagers.getRow(scope, { id }, tx);
  }

  /** Returns the requested catalog, if any, locked until the transaction ends; 404 unless the tenant has it. */
  private async holdCatalog(
    scope: TenantScope,
    id: number | null | undefined,
    tx: Tx,
  ): Promise<ClusterDraft['metastoreCatalog']> {
    return id === undefined || id === null ? null : this.metastoreCatalogs.getRow(scope, { id }, tx);
  }

  /**
   * Checks that all parts of a cluster without nodes exist and fit together, because they may have been changed or
   * deleted meanwhile. Afterwards they stay so, because the cluster uses them.
   */
  private async assertStillFits(scope: TenantScope, row: ClusterRow, tx: Tx): Promise<void> {
    const cloudEnv = await current(() => this.cloudEnvs.getRow(scope, { id: row.cloud_env_id }, tx));
    const clusterConf = await current(() => this.clusterConfs.getRow(scope, { id: row.cluster_conf_id }, tx));
    await current(() => this.holdObjectStorageManager(scope, row, tx));
    await current(() => this.mounts.hold(tx, scope, row.mount_ids));
    const metastoreCatalog = await current(() => this.holdCatalog(scope, row.metastore_catalog_id, tx));
    const draft = changedDraft(row, {}, { cloudEnv, clusterConf, metastoreCatalog }, this.referenceData);
    checkDraft(draft, this.referenceData, row);
    clusterLabels(ownLabels(row.labels, scope.tenantId), cloudEnv, scope.tenantId, this.referenceData);
  }
}

/** Explains that the cluster still refers to a deleted record, which the caller did not name. */
async function current<T>(get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'not-found') throw error;
    throw conflict(
      'CLUSTER.REFERENCE_DELETED',
      `${error.message} It was deleted. Assign another one to the cluster first.`,
    );
  }
}

function defined(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Returns the stored labels without the reserved ones, which are added again later. */
function ownLabels(labels: Record<string, string>, tenantId: string): Record<string, string> {
  const reserved = reservedLabels(tenantId);
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !Object.hasOwn(reserved, key)));
}
