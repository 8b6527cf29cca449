import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import { metastorePackages } from '../../../../../libs/spark/metastore-packages';
import { whyOwned } from '../../../../../libs/spark/owned-properties';
import {
  type DomainError,
  invalid,
  invalidField,
  notFound,
  orRefusal,
} from '../../../../platform/kernel/errors/domain-error';
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
  type MachineTypeRecord,
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
  const [first] = draftFaults(draft, referenceData, before);
  if (first) throw first;
}

/** Returns everything in the draft that does not fit the rest. The details of each fault name the field. */
export function draftFaults(
  draft: ClusterDraft,
  referenceData: ReferenceData,
  before?: ReferencesBefore,
): DomainError[] {
  const machine = machineTypeOf(draft.clusterConf, referenceData);
  const { cloud_provider_id: provider } = draft.cloudEnv;
  const disks = orRefusal(() =>
    checkDisks(draft.disks, draft.clusterConf.volume_conf, provider, referenceData, before?.disk_type_id),
  );
  return [
    ...placeFaults(draft.cloudEnv, machine),
    ...sparkFaults(draft, machine.info, referenceData, before),
    ...slotFaults(draft.maxParallelJobs, machine),
    ...spotFaults(draft, machine.info),
    ...instanceFaults(draft),
    ...(disks ? [disks] : []),
  ];
}

/** Returns why machines of the type cannot be nodes in the environment. */
export function placeFaults(
  { cloud_provider_id: provider, boot_disk_image: image }: CloudEnvData,
  machine: MachineTypeRecord,
): DomainError[] {
  if (machine.cloudProviderId !== provider) {
    const text = 'The cluster configuration and the cloud environment belong to different cloud providers.';
    return [invalidField('cluster_conf_id', 'CLUSTER.PROVIDER_MISMATCH', text)];
  }
  if (machine.architectureId === image.architecture_type_id) return [];
  const text = 'The machine type and the boot disk image have different architectures.';
  return [invalidField('cluster_conf_id', 'CLUSTER.ARCHITECTURE_MISMATCH', text)];
}

function sparkFaults(
  draft: ClusterDraft,
  machine: MachineTypeInfo,
  referenceData: ReferenceData,
  before?: ReferencesBefore,
): DomainError[] {
  const id = draft.sparkInfraVersionId;
  const version = referenceData.selectable(id, before?.spark_infra_version_id).sparkInfraVersion(id);
  if (version) {
    return [
      ...acceleratorFaults(draft, version, machine, referenceData),
      ...catalogFaults(draft.metastoreCatalog, version, referenceData),
    ];
  }
  const fields = { spark_infra_version_id: [`There is no Spark infra version with id ${id}.`] };
  return [notFound('SPARK_INFRA_VERSION.NOT_FOUND', `There is no Spark infra version with id ${id}.`, { fields })];
}

function slotFaults(jobs: number, { memoryGib }: MachineTypeRecord): DomainError[] {
  return driverMemoryMb(memoryGib * 1024, jobs) < MIN_DRIVER_MB ? [tooManyParallelJobs(memoryGib, jobs)] : [];
}

function spotFaults({ isSpotInstance, cloudEnv }: ClusterDraft, machine: MachineTypeInfo): DomainError[] {
  if (!isSpotInstance) return [];
  const fault = (text: string) => [invalidField('is_spot_instance', 'CLUSTER.SPOT_UNSUPPORTED', text)];
  if (machine.has_spot_instance_support === false)
    return fault(`Machine type ${machine.name} is not offered as a spot instance.`);
  return lacksSpot(cloudEnv.cloud_provider_id, cloudEnv.endpoint)
    ? fault('The provider of this cloud environment has no spot instances.')
    : [];
}

/**
 * Returns the first reason for which a requested accelerator is not supported by the Spark version, the cluster type, the
 * environment or, for CUDA, the machine type.
 */
function acceleratorFaults(
  draft: ClusterDraft,
  version: SparkInfraVersionRef,
  machineType: MachineTypeInfo,
  referenceData: ReferenceData,
): DomainError[] {
  const { isTurboEnabled, isCudaEnabled, clusterType, cloudEnv, numOfWorkers } = draft;
  const spark = `Spark infra version ${version.spark_docker_image_name}`;
  const typed = `A cluster of type ${toWire(clusterType)}`;
  const supports = referenceData.acceleratorSupport(clusterType);
  const these = (have: (one: SparkInfraVersionRef) => boolean): string => versionsThat(have, referenceData);
  const lacks = (one: AcceleratorKind): boolean => lacksAccelerator(cloudEnv.cloud_provider_id, cloudEnv.endpoint, one);
  const turbo: [boolean, string][] = [
    [!version.has_turbo_support, `${spark} does not support turbo${these((one) => one.has_turbo_support)}`],
    [!supports.turbo, `${typed} does not support turbo.`],
    [lacks('turbo'), 'Nodes of this cloud environment do not support turbo.'],
  ];
  const cuda: [boolean, string][] = [
    [isTurboEnabled, 'A cluster cannot have both turbo and CUDA.'],
    [!version.has_cuda_support, `${spark} does not support CUDA${these((one) => one.has_cuda_support)}`],
    [!supports.cuda, `${typed} does not support CUDA.`],
    [lacks('cuda'), 'Nodes of this cloud environment have no GPUs.'],
    [!machineType.has_cuda, `Machine type ${machineType.name} has no GPU.`],
    [
      clusterType === 'STANDALONE' && (numOfWorkers ?? 1) > machineType.gpus,
      `Machine type ${machineType.name} has ${machineType.gpus} GPUs, fewer than num_of_workers.`,
    ],
  ];
  const faultOf = (field: string, reasons: [boolean, string][]): DomainError[] => {
    const reason = reasons.find(([is]) => is);
    return reason ? [invalidField(field, 'CLUSTER.ACCELERATOR_UNSUPPORTED', reason[1])] : [];
  };
  return [
    ...(isCudaEnabled ? faultOf('is_cuda_enabled', cuda) : []),
    ...(isTurboEnabled ? faultOf('is_turbo_enabled', turbo) : []),
  ];
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
export function tooManyParallelJobs(memoryGib: number, jobs: number): DomainError {
  return invalidField(
    'engine_cluster_spark_config.max_parallel_spark_job_execution_per_instance',
    'CLUSTER.TOO_MANY_PARALLEL_JOBS',
    `A machine of ${memoryGib} GB is too small for ${jobs} parallel Spark jobs: each needs ${MIN_DRIVER_MB} MB of driver memory.`,
  );
}

function catalogFaults(
  catalog: ClusterDraft['metastoreCatalog'],
  version: SparkInfraVersionRef,
  referenceData: ReferenceData,
): DomainError[] {
  if (!catalog) return [];
  const { metastore_catalog_type_id: type, name } = catalog;
  const supports = (one: SparkInfraVersionRef): boolean => supportsCatalog(one, type);
  if (supports(version)) return [];
  const text =
    `Spark infra version ${version.spark_docker_image_name} does not support the type of the catalog "${name}"` +
    versionsThat(supports, referenceData);
  return [invalidField('metastore_catalog_id', 'CLUSTER.CATALOG_UNSUPPORTED', text)];
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

function instanceFaults({ clusterType, minInstances, maxInstances }: ClusterDraft): DomainError[] {
  if (clusterType !== 'CLUSTER' && (minInstances === null || maxInstances === null)) {
    const missing = minInstances === null ? 'min_instances' : 'max_instances';
    const text = 'min_instances and max_instances are required for this cluster type.';
    return [invalidField(missing, 'CLUSTER.INSTANCES_REQUIRED', text)];
  }
  if (minInstances === null || maxInstances === null || minInstances <= maxInstances) return [];
  const text = 'min_instances is greater than max_instances.';
  return [invalidField('max_instances', 'CLUSTER.INSTANCES_INVALID', text)];
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
