import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import { metastorePackages } from '../../../../../libs/spark/metastore-packages';
import { whyOwned } from '../../../../../libs/spark/owned-properties';
import { invalid, notFound } from '../../../../platform/kernel/errors/domain-error';
import { toWire } from '../../../../platform/kernel/product/product-name';
import {
  checkLabels,
  type CloudEnvData,
  type ClusterConfData,
  machineTypeOf,
  MAX_LABELS,
  reservedLabels,
  withoutReserved,
} from '../../../infrastructure/environments';
import type { MetastoreCatalogData } from '../../../infrastructure/metastores';
import {
  CATALOG_TYPE_ID,
  CLOUD_PROVIDER_ID,
  type MachineTypeInfo,
  type ReferenceData,
  type SparkInfraVersionRef,
} from '../../../foundation/reference-data';
import { acceleratorOf } from '../model/accelerators';
import { checkDisks, type OwnDisks } from './cluster-disks';
import { lacksAccelerator, lacksSpot } from '../model/compute-support';
import type { ClusterType } from '../model/cluster-state';
import type { SparkConfig } from '../model/dto/spark-config.dto';
import { driverMemoryMb, MIN_DRIVER_MB } from './driver-memory';
import type { Cluster } from '../model/entities/cluster.entity';
import { checkSecretNames, secretNames } from './secret-names';
import { assertNotOwned, checkConf, parseConfEntry } from './spark-conf';

const MAX_TOTAL_LABELS = 50;
/** Maximum number of labels of a machine by provider, if it is less than {@link MAX_TOTAL_LABELS}. */
const MACHINE_LABELS: Readonly<Record<number, number>> = { [CLOUD_PROVIDER_ID.OCI]: 10 };

/** The parts of a cluster that must fit together after a create or update request. */
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
  maxParallelJobs: number;
  metastoreCatalog: Pick<MetastoreCatalogData, 'name' | 'metastore_catalog_type_id'> | null;
  disks: OwnDisks;
}

/** References of an existing cluster. These lookup rows may be closed. */
type ReferencesBefore = Pick<Cluster, 'spark_infra_version_id' | 'disk_type_id'>;

/** Checks the draft as a whole. Throws a 400 that names what does not fit. */
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
  const version = referenceData.selectable(versionId, before?.spark_infra_version_id).sparkInfraVersion(versionId);
  if (!version)
    throw notFound('SPARK_INFRA_VERSION.NOT_FOUND', `There is no Spark infra version with id ${versionId}.`);
  checkAccelerators(draft, version, machine.info, referenceData);
  const { maxParallelJobs } = draft;
  if (driverMemoryMb(machine.memoryGib * 1024, maxParallelJobs) < MIN_DRIVER_MB)
    throw tooManyParallelJobs(machine.memoryGib, maxParallelJobs);
  checkCatalog(draft.metastoreCatalog, version, referenceData);
  if (draft.isSpotInstance && machine.info.has_spot_instance_support === false) {
    throw invalid('CLUSTER.SPOT_UNSUPPORTED', `Machine type ${machine.info.name} is not offered as a spot instance.`);
  }
  if (draft.isSpotInstance && lacksSpot(draft.cloudEnv.cloud_provider_id, draft.cloudEnv.endpoint)) {
    throw invalid('CLUSTER.SPOT_UNSUPPORTED', 'The provider of this cloud environment has no spot instances.');
  }
  checkInstances(draft);
  checkDisks(draft.disks, draft.clusterConf.volume_conf, provider, referenceData, before?.disk_type_id);
}

/**
 * Checks that a requested accelerator is supported by the Spark version, the cluster type, the environment and, for
 * CUDA, the machine type.
 */
function checkAccelerators(
  draft: ClusterDraft,
  version: SparkInfraVersionRef,
  machineType: MachineTypeInfo,
  referenceData: ReferenceData,
): void {
  const { isTurboEnabled, isCudaEnabled, clusterType, cloudEnv, numOfWorkers } = draft;
  const spark = `Spark infra version ${version.spark_docker_image_name}`;
  const typed = `A cluster of type ${toWire(clusterType)}`;
  const supports = referenceData.acceleratorSupport(clusterType);
  const these = (have: (one: SparkInfraVersionRef) => boolean): string => versionsThat(have, referenceData);
  const lacks = (one: AcceleratorKind): boolean => lacksAccelerator(cloudEnv.cloud_provider_id, cloudEnv.endpoint, one);
  const faults: [boolean, string][] = [
    [isTurboEnabled && isCudaEnabled, 'A cluster cannot have both turbo and CUDA.'],
    [
      isTurboEnabled && !version.has_turbo_support,
      `${spark} does not support turbo${these((one) => one.has_turbo_support)}`,
    ],
    [isTurboEnabled && !supports.turbo, `${typed} does not support turbo.`],
    [isTurboEnabled && lacks('turbo'), 'Nodes of this cloud environment do not support turbo.'],
    [
      isCudaEnabled && !version.has_cuda_support,
      `${spark} does not support CUDA${these((one) => one.has_cuda_support)}`,
    ],
    [isCudaEnabled && !supports.cuda, `${typed} does not support CUDA.`],
    [isCudaEnabled && lacks('cuda'), 'Nodes of this cloud environment have no GPUs.'],
    [isCudaEnabled && !machineType.has_cuda, `Machine type ${machineType.name} has no GPU.`],
    [
      isCudaEnabled && clusterType === 'STANDALONE' && (numOfWorkers ?? 1) > machineType.gpus,
      `Machine type ${machineType.name} has ${machineType.gpus} GPUs, fewer than num_of_workers.`,
    ],
  ];
  const fault = faults.find(([is]) => is);
  if (fault) throw invalid('CLUSTER.ACCELERATOR_UNSUPPORTED', fault[1]);
}

/** Throws a 400 for a Spark property that the accelerator of the cluster needs for itself. */
export function checkAcceleratedConf(
  config: SparkConfig,
  draft: Pick<ClusterDraft, 'isTurboEnabled' | 'isCudaEnabled'>,
): void {
  const accelerator = acceleratorOf({ is_turbo_enabled: draft.isTurboEnabled, is_cuda_enabled: draft.isCudaEnabled });
  if (accelerator === null) return;
  const named = (config.conf ?? []).flatMap((entry) => parseConfEntry(entry)?.key ?? []);
  for (const property of [...named, ...Object.keys(secretNames(config.conf_secret))])
    if (whyOwned(property) === null) assertNotOwned('CLUSTER', property, accelerator);
}

/** Returns a 400 for more parallel jobs than the memory of a machine allows. */
export function tooManyParallelJobs(memoryGib: number, jobs: number): Error {
  return invalid(
    'CLUSTER.TOO_MANY_PARALLEL_JOBS',
    `A machine of ${memoryGib} GB is too small for ${jobs} parallel Spark jobs: each needs ${MIN_DRIVER_MB} MB of driver memory.`,
  );
}

/** Checks that the Spark version supports the type of the metastore catalog. */
function checkCatalog(
  catalog: ClusterDraft['metastoreCatalog'],
  version: SparkInfraVersionRef,
  referenceData: ReferenceData,
): void {
  if (!catalog) return;
  const { metastore_catalog_type_id: type, name } = catalog;
  const supports = (one: SparkInfraVersionRef): boolean => supportsCatalog(one, type);
  if (supports(version)) return;
  throw invalid(
    'CLUSTER.CATALOG_UNSUPPORTED',
    `Spark infra version ${version.spark_docker_image_name} does not support the type of the catalog "${name}"` +
      versionsThat(supports, referenceData),
  );
}

function supportsCatalog(version: SparkInfraVersionRef, type: number): boolean {
  switch (type) {
    case CATALOG_TYPE_ID.HIVE:
      return version.has_hive_support;
    case CATALOG_TYPE_ID['DATABRICKS UNITY']:
      return version.has_unity_support;
    case CATALOG_TYPE_ID['AWS GLUE']:
      return metastorePackages('glue', version.spark_version) !== null;
    default:
      return true;
  }
}

/** Ends a message about a version that lacks something with the versions that have it. */
function versionsThat(have: (version: SparkInfraVersionRef) => boolean, referenceData: ReferenceData): string {
  const current = [...referenceData.sparkInfraVersions()].filter(
    (one) => referenceData.current.sparkInfraVersion(one.spark_infra_version_id) !== undefined,
  );
  const names = current.filter(have).map((one) => one.spark_docker_image_name);
  return names.length === 0 ? '.' : `. Versions that do: ${names.join(', ')}.`;
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

/** Azure ignores the case of tags. Two that differ only by case are the same, so the machine could not be created. */
function checkAlike(keys: Iterable<string>): void {
  const seen = new Map<string, string>();
  for (const key of keys) {
    const other = seen.get(key.toLowerCase());
    if (other !== undefined)
      throw invalid('LABEL.INVALID', `The provider treats the labels "${other}" and "${key}" as the same.`, { key });
    seen.set(key.toLowerCase(), key);
  }
}

/**
 * Returns the labels to store: the caller's own and the reserved ones. Checks them against those of the environment.
 */
export function clusterLabels(
  requested: Readonly<Record<string, unknown>>,
  cloudEnv: CloudEnvData,
  tenantId: string,
  referenceData: ReferenceData,
): Record<string, string> {
  const own = withoutReserved(requested, tenantId);
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
  if (cloudEnv.cloud_provider_id === CLOUD_PROVIDER_ID.Azure) checkAlike(together);
  const limit = MACHINE_LABELS[cloudEnv.cloud_provider_id] ?? MAX_TOTAL_LABELS;
  if (together.size > limit) {
    const explanation = limit < MAX_TOTAL_LABELS ? ': its machines cannot have more' : '';
    throw invalid(
      'CLUSTER.TOO_MANY_LABELS',
      `A cluster and its cloud environment may have at most ${limit} labels together, 3 reserved ones included${explanation}.`,
    );
  }
  return { ...own, ...reserved };
}

const ENVIRONMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** Checks the Spark settings of a request. Null clears a key. */
export function checkSparkConfig(config: SparkConfig): void {
  checkConf('CLUSTER', config.conf);
  for (const entry of config.env_var ?? []) {
    if (!ENVIRONMENT.test(entry))
      throw invalid('CLUSTER.INVALID_ENV_VAR', `The env_var entry "${entry}" is not KEY=VALUE.`);
  }
  checkSecretNames(config);
}
