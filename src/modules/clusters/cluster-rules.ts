import { conflict, invalid, notFound } from '../../platform/errors/domain-error';
import { openEnded } from '../../platform/http/answers';
import {
  type CloudEnvData,
  checkLabels,
  MAX_LABELS,
  reservedLabels,
  withoutReserved,
} from '../cloud-envs/cloud-envs.contract';
import { type ClusterConfData, machineTypeOf } from '../cluster-confs/cluster-confs.contract';
import type { ReferenceData } from '../reference-data/reference-data.contract';
import { checkDisks, type OwnDisks } from './cluster-disks';
import type { ClusterStatus, ClusterType } from './cluster-state';
import type { ClusterSettings } from './dto/cluster-input.dto';
import type { SparkConfig } from './dto/cluster-fields.dto';
import type { Cluster } from './entities/cluster.entity';

const MAX_TOTAL_LABELS = 50;

/** What must fit together in a cluster, after a create or update request is applied. */
export interface ClusterDraft {
  clusterType: ClusterType;
  cloudEnv: CloudEnvData;
  clusterConf: ClusterConfData;
  sparkInfraVersionId: number;
  isTurboEnabled: boolean;
  isCudaEnabled: boolean;
  isSpotInstance: boolean;
  minInstances: number | null;
  maxInstances: number | null;
  numOfWorkers: number | null;
  disks: OwnDisks;
}

/** What an existing cluster already refers to: these rows may be closed. */
type ReferencesBefore = Pick<Cluster, 'spark_infra_version_id' | 'disk_type_id'>;

/** Checks the draft as a whole; throws a 400 that says what does not fit. */
export function checkDraft(draft: ClusterDraft, referenceData: ReferenceData, before?: ReferencesBefore): void {
  const machine = machineTypeOf(draft.clusterConf, referenceData);
  const { cloud_provider_id: provider } = draft.cloudEnv;
  if (machine.cloudProviderId !== provider) {
    throw invalid(
      'CLUSTER.PROVIDER_MISMATCH',
      'The cluster configuration and the cloud environment belong to different cloud providers.',
    );
  }
  if (machine.architectureId !== draft.cloudEnv.boot_disk_image.architecture_type_id) {
    throw invalid(
      'CLUSTER.ARCHITECTURE_MISMATCH',
      'The machine type and the boot disk image have different architectures.',
    );
  }
  const versionId = draft.sparkInfraVersionId;
  if (!referenceData.selectable(versionId, before?.spark_infra_version_id).sparkInfraVersion(versionId))
    throw notFound('SPARK_INFRA_VERSION.NOT_FOUND', `There is no Spark infra version with id ${versionId}.`);
  if (draft.isTurboEnabled || draft.isCudaEnabled) {
    throw invalid('CLUSTER.ACCELERATOR_UNSUPPORTED', 'This release does not start clusters with turbo or CUDA.');
  }
  if (draft.isSpotInstance && machine.info.has_spot_instance_support === false) {
    throw invalid('CLUSTER.SPOT_UNSUPPORTED', `Machine type ${machine.info.name} is not offered as a spot instance.`);
  }
  checkInstances(draft);
  checkDisks(draft.disks, draft.clusterConf.volume_conf, provider, referenceData, before?.disk_type_id);
}

function checkInstances(draft: ClusterDraft): void {
  const { clusterType, minInstances, maxInstances } = draft;
  if (clusterType !== 'CLUSTER' && (minInstances === null || maxInstances === null)) {
    throw invalid('CLUSTER.INSTANCES_REQUIRED', 'min_instances and max_instances are required for this cluster type.');
  }
  if (minInstances !== null && maxInstances !== null && minInstances > maxInstances) {
    throw invalid('CLUSTER.INSTANCES_INVALID', 'min_instances is greater than max_instances.');
  }
}

/** The labels to store: the caller's own with the reserved ones; checked against those of the environment. */
export function clusterLabels(
  given: Readonly<Record<string, unknown>>,
  cloudEnv: CloudEnvData,
  tenantId: string,
  referenceData: ReferenceData,
): Record<string, string> {
  const own = withoutReserved(given, tenantId);
  checkLabels(own, referenceData.labelPattern(cloudEnv.cloud_provider_id));
  const reserved = reservedLabels(tenantId);
  const ownKeys = Object.keys(own).filter((key) => !Object.hasOwn(cloudEnv.labels, key));
  if (ownKeys.length + Object.keys(reserved).length > MAX_LABELS) {
    throw invalid(
      'CLUSTER.TOO_MANY_LABELS',
      `A cluster may have at most ${MAX_LABELS} labels beyond those of its cloud environment, 3 reserved ones included.`,
    );
  }
  const together = new Set([...ownKeys, ...Object.keys(cloudEnv.labels), ...Object.keys(reserved)]);
  if (together.size > MAX_TOTAL_LABELS) {
    throw invalid(
      'CLUSTER.TOO_MANY_LABELS',
      `A cluster and its cloud environment may have at most ${MAX_TOTAL_LABELS} labels together.`,
    );
  }
  return { ...own, ...reserved };
}

const CONF = /^[^\s=]+[\s=]/;
const ENVIRONMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** Checks the Spark settings of a request; null clears a key. */
export function checkSparkConfig(config: SparkConfig): void {
  for (const entry of config.conf ?? []) {
    if (!CONF.test(entry)) throw invalid('CLUSTER.INVALID_SPARK_CONF', `The conf entry "${entry}" is not "key value".`);
  }
  for (const entry of config.env_var ?? []) {
    if (!ENVIRONMENT.test(entry))
      throw invalid('CLUSTER.INVALID_ENV_VAR', `The env_var entry "${entry}" is not KEY=VALUE.`);
  }
  for (const key of ['conf_secret', 'env_var_secret'] as const) {
    const wanted = Object.entries(config[key] ?? {}).find(([, reference]) => reference !== null);
    if (wanted) throw notFound('SECRET.NOT_FOUND', `${key} refers to a secret for "${wanted[0]}" that does not exist.`);
  }
}

/** References to kinds of records that no tenant of this release can have yet. */
export function checkFurtherReferences(body: ClusterSettings): void {
  const { metastore_catalog_id: catalog } = body;
  if (catalog !== undefined && catalog !== null) {
    throw notFound('METASTORE_CATALOG.NOT_FOUND', `There is no metastore catalog with id ${catalog}.`);
  }
}

/** 409 for a disabled cluster. */
export function assertEnabled(row: Pick<Cluster, 'name' | 'to_date'>): void {
  if (openEnded(row.to_date) === null) return;
  throw conflict('CLUSTER.DISABLED', `The cluster "${row.name}" is disabled. Enable it first.`);
}

/** A 409 that says which states an operation requires. */
export function invalidState(
  cluster: Pick<Cluster, 'name' | 'status'>,
  rule: string,
  needed: readonly ClusterStatus[],
): Error {
  return conflict('CLUSTER.INVALID_STATE', `The cluster "${cluster.name}" is ${cluster.status}: ${rule}.`, {
    cluster_status: cluster.status,
    needed,
  });
}
