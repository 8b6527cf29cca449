import { keysToWire, productName, toWire } from '../../../platform/kernel/product/product-name';
import type {
  AvailabilityZoneLookup,
  CloudLabelPatternLookup,
  CloudProviderLookup,
  ClusterTypeLookup,
  CredentialTypeLookup,
  DiskTypeLookup,
  EncryptionTypeLookup,
  EngineClusterInstanceNodeStatus,
  EngineClusterInstanceStatus,
  GitCredentialPatternLookup,
  GitProviderLookup,
  LinuxDistroLookup,
  MachineArchitectureTypeLookup,
  MachineTypeLookup,
  MetastoreCatalogTypeLookup,
  SecretTypeLookup,
  SparkComputeTypeLookup,
  SparkInfraVersionLookup,
  SparkJobStatusLookup,
  SparkJobTypeLangLookup,
  SparkJobTypeLookup,
  StorageTypeLookup,
  WidgetTypeLookup,
  WorkflowExecutionStateLookup,
  WorkflowTypeLookup,
} from './dto/lookup-responses.dto';
import type { LookupName, LookupRow } from './lookup-tables';
import type {
  AvailabilityZoneRef,
  CloudProviderRef,
  CredentialTypeInfo,
  DiskTypeInfo,
  EncryptionTypeRecord,
  LabelPattern,
  LinuxDistroRef,
  MachineArchitectureRef,
  MachineTypeInfo,
  MachineTypeRecord,
  SecretTypeName,
  SecretTypeRecord,
  MetastoreCatalogTypeRecord,
  SparkInfraVersionRef,
  StorageTypeRecord,
} from './reference-data';

/** A row with its validity as ISO 8601 text. */
export type DatedRow<N extends LookupName> = LookupRow<N> & { from_date: string; to_date: string };

export type DatedRows = { [N in LookupName]: DatedRow<N>[] };

export interface LookupResponses {
  cloudProviders: CloudProviderLookup[];
  diskTypes: DiskTypeLookup[];
  availabilityZones: AvailabilityZoneLookup[];
  architectures: MachineArchitectureTypeLookup[];
  machineTypes: MachineTypeLookup[];
  labelPatterns: CloudLabelPatternLookup[];
  credentialTypes: CredentialTypeLookup[];
  clusterTypes: ClusterTypeLookup[];
  clusterStatuses: EngineClusterInstanceStatus[];
  clusterNodeStatuses: EngineClusterInstanceNodeStatus[];
  sparkComputeTypes: SparkComputeTypeLookup[];
  sparkInfraVersions: SparkInfraVersionLookup[];
  sparkJobStatuses: SparkJobStatusLookup[];
  sparkJobTypes: SparkJobTypeLookup[];
  sparkJobTypeLangs: SparkJobTypeLangLookup[];
  workflowExecutionStates: WorkflowExecutionStateLookup[];
  workflowTypes: WorkflowTypeLookup[];
  linuxDistros: LinuxDistroLookup[];
  metastoreCatalogTypes: MetastoreCatalogTypeLookup[];
  secretTypes: SecretTypeLookup[];
  storageTypes: StorageTypeLookup[];
  encryptionTypes: EncryptionTypeLookup[];
  gitProviders: GitProviderLookup[];
  gitCredentialPatterns: GitCredentialPatternLookup[];
  widgetTypes: WidgetTypeLookup[];
}

/** All lookup tables, rendered. The snapshot is replaced as a whole when a table changes. */
export interface LookupSnapshot {
  responses: LookupResponses;
  current: LookupMaps;
  /** Includes closed rows. */
  all: LookupMaps;
  labelPatterns: Map<number, LabelPattern>;
}

export interface LookupMaps {
  providers: Map<number, CloudProviderRef>;
  diskTypes: Map<number, DiskTypeInfo>;
  zones: Map<number, AvailabilityZoneRef>;
  architectures: Map<number, MachineArchitectureRef>;
  machineTypes: Map<number, MachineTypeRecord>;
  distros: Map<number, LinuxDistroRef>;
  credentialTypes: Map<number, CredentialTypeInfo>;
  infraVersions: Map<number, SparkInfraVersionRef>;
  storageTypes: Map<number, StorageTypeRecord>;
  encryptionTypes: Map<number, EncryptionTypeRecord>;
  secretTypes: Map<number, SecretTypeRecord>;
  catalogTypes: Map<number, MetastoreCatalogTypeRecord>;
}

/** Renders all rows. Responses hold current rows; these may refer only to current rows. */
export function renderLookups(rows: DatedRows): LookupSnapshot {
  const currentRows = Object.fromEntries(
    Object.entries(rows).map(([name, list]) => [name, list.filter(({ to_date }) => to_date === 'infinity')]),
  ) as unknown as DatedRows;
  const current = renderMaps(currentRows);
  return {
    responses: frozen(renderResponses(currentRows, current)),
    current,
    all: renderMaps(rows),
    labelPatterns: mapOf(currentRows.cloud_label_patterns, 'cloud_provider_id', (row) => ({
      key: new RegExp(row.key_regex, 'u'),
      value: new RegExp(row.value_regex, 'u'),
      description: row.description,
    })),
  };
}

function renderMaps(rows: DatedRows): LookupMaps {
  const providers = mapOf(rows.cloud_providers, 'cloud_provider_id', withoutValidity);
  const architectures = mapOf(rows.machine_architecture_types, 'machine_architecture_type_id', withoutValidity);
  const buses = mapOf(rows.local_disk_bus_types, 'local_disk_bus_type_id', withoutValidity);
  const categories = mapOf(rows.machine_type_categories, 'machine_type_category_id', ({ name }) => name);
  const provider = (row: { cloud_provider_id: number }) => found(providers, row.cloud_provider_id, 'cloud_providers');
  const machineInfo = (row: LookupRow<'machine_types'>): MachineTypeInfo => ({
    machine_type_id: row.machine_type_id,
    cloud_provider: provider(row),
    name: row.name,
    machine_architecture_type: found(architectures, row.machine_architecture_type_id, 'machine_architecture_types'),
    vCPUs: row.vcpus,
    memory: `${row.memory_gib} GiB`,
    has_cuda: row.gpus > 0,
    gpu_model: row.gpu_model,
    gpus: row.gpus,
    gpu_memory: row.gpu_memory,
    cpu_model: row.cpu_model,
    cpu_min_frequency_GHz: row.cpu_min_frequency_ghz,
    cpu_max_frequency_GHz: row.cpu_max_frequency_ghz,
    has_local_disk: row.local_disk_size_gb !== null,
    local_disk_size_GB: row.local_disk_size_gb,
    local_num_of_disks: row.local_num_of_disks,
    // Clients expect both keys even if the machine has no local disks.
    local_disk_bus_type: (row.local_disk_bus_type_id === null ? null : buses.get(row.local_disk_bus_type_id)) ?? {
      local_disk_bus_type_id: null,
      local_disk_bus_type: null,
    },
    local_disk_throughput_MB: row.local_disk_throughput_mb,
    machine_price_ycu: row.machine_price_ycu,
    has_spot_instance_support: row.has_spot_instance_support,
  });
  return {
    providers,
    diskTypes: mapOf(rows.disk_types, 'disk_type_id', (row) => diskTypeInfo(row, provider(row).name)),
    zones: mapOf(rows.availability_zones, 'availability_zone_id', (row) => ({
      availability_zone_id: row.availability_zone_id,
      name: row.name,
      cloud_provider_id: row.cloud_provider_id,
      cloud_provider: provider(row),
      region: row.region,
      description: row.description,
    })),
    architectures,
    machineTypes: mapOf(rows.machine_types, 'machine_type_id', (row): MachineTypeRecord => ({
      info: machineInfo(row),
      cloudProviderId: row.cloud_provider_id,
      architectureId: row.machine_architecture_type_id,
      memoryGib: row.memory_gib,
      categoryId: row.machine_type_category_id,
      category: found(categories, row.machine_type_category_id, 'machine_type_categories'),
    })),
    distros: mapOf(rows.linux_distros, 'linux_distro_id', withoutValidity),
    credentialTypes: mapOf(rows.credential_types, 'credential_type_id', (row) => ({
      credential_type_id: row.credential_type_id,
      name: row.name,
      cloud_provider: provider(row),
    })),
    infraVersions: mapOf(rows.spark_infra_versions, 'spark_infra_version_id', (row) =>
      keysToWire(withoutValidity(row)),
    ),
    storageTypes: mapOf(rows.storage_types, 'lookup_storage_type_id', (row) => ({
      id: row.lookup_storage_type_id,
      name: row.name,
      cloudProviderId: row.cloud_provider_id,
    })),
    encryptionTypes: mapOf(rows.encryption_types, 'lookup_encryption_type_id', (row) => ({
      id: row.lookup_encryption_type_id,
      name: row.name,
      cloudProviderId: row.cloud_provider_id,
    })),
    secretTypes: mapOf(rows.secret_types, 'lookup_secret_type_id', (row) => ({
      id: row.lookup_secret_type_id,
      name: row.name as SecretTypeName,
      supportsUnity: row.supports_unity,
      supportsHive: row.supports_hive,
      supportsStorageType: row.supports_storage_type,
    })),
    catalogTypes: mapOf(rows.metastore_catalog_types, 'metastore_catalog_type_id', withoutValidity),
  };
}

function renderResponses(rows: DatedRows, maps: LookupMaps): LookupResponses {
  const provider = (row: { cloud_provider_id: number }) =>
    found(maps.providers, row.cloud_provider_id, 'cloud_providers');
  const jobTypes = mapOf(rows.spark_job_types, 'spark_job_type_id', (row) => ({
    spark_job_type_id: row.spark_job_type_id,
    name: toWire(row.name),
    display_name: row.display_name,
  }));
  const gitProviders = mapOf(rows.git_providers, 'lookup_git_providers_id', (row) => ({
    git_provider_id: row.lookup_git_providers_id,
    name: row.name,
    description: row.description,
  }));
  return {
    cloudProviders: rows.cloud_providers,
    diskTypes: rows.disk_types.map((row) => ({
      disk_type_id: row.disk_type_id,
      cloud_provider: provider(row),
      name: row.name,
      has_fixed_size: row.has_fixed_size,
      min_size: row.min_size,
      max_size: row.max_size,
      ...validity(row),
    })),
    availabilityZones: rows.availability_zones.map((row) => {
      const { cloud_provider_id: _, ...zone } = found(maps.zones, row.availability_zone_id, 'availability_zones');
      return { ...zone, ...validity(row) };
    }),
    architectures: rows.machine_architecture_types.map((row) => ({
      id: row.machine_architecture_type_id,
      architecture_type: row.machine_architecture_type,
      ...validity(row),
    })),
    machineTypes: rows.machine_types.map((row) => {
      const { has_spot_instance_support: _, ...info } = found(
        maps.machineTypes,
        row.machine_type_id,
        'machine_types',
      ).info;
      return { ...info, ...validity(row) };
    }),
    labelPatterns: rows.cloud_label_patterns.map(({ cloud_provider_id, ...row }) => ({
      ...row,
      cloud_provider: provider({ cloud_provider_id }),
    })),
    credentialTypes: rows.credential_types.map(({ cloud_provider_id, ...row }) => ({
      ...row,
      cloud_provider: provider({ cloud_provider_id }),
    })),
    clusterTypes: rows.cluster_types.map((row) => ({ ...row, name: toWire(row.name) })),
    clusterStatuses: rows.engine_cluster_instance_statuses,
    clusterNodeStatuses: rows.engine_cluster_instance_node_statuses,
    sparkComputeTypes: rows.spark_compute_types.map((row) => ({ ...row, name: toWire(row.name) })),
    sparkInfraVersions: rows.spark_infra_versions.map(keysToWire),
    sparkJobStatuses: rows.spark_job_statuses,
    sparkJobTypes: rows.spark_job_types.map((row) => ({ ...row, name: toWire(row.name) })),
    sparkJobTypeLangs: rows.spark_job_type_langs.map(({ spark_job_type_id, ...row }) => ({
      ...row,
      spark_job_type: found(jobTypes, spark_job_type_id, 'spark_job_types'),
    })),
    workflowExecutionStates: rows.workflow_execution_states,
    workflowTypes: rows.workflow_types.map((row) => ({ ...row, queue_name: queueToWire(row.queue_name) })),
    linuxDistros: rows.linux_distros,
    metastoreCatalogTypes: rows.metastore_catalog_types,
    secretTypes: rows.secret_types,
    storageTypes: rows.storage_types.map(({ to_date, ...row }) => ({ ...row, end_date: to_date })),
    encryptionTypes: rows.encryption_types,
    gitProviders: rows.git_providers,
    gitCredentialPatterns: rows.git_credential_patterns.map((row) => {
      const { git_provider_id, ...pattern } = withoutValidity(row);
      return { ...pattern, git_provider: found(gitProviders, git_provider_id, 'git_providers') };
    }),
    widgetTypes: rows.widget_types,
  };
}

/** Freezes the responses, since all requests share them. */
function frozen(responses: LookupResponses): LookupResponses {
  for (const list of Object.values(responses) as object[][]) {
    for (const record of list) Object.freeze(record);
    Object.freeze(list);
  }
  return responses;
}

function diskTypeInfo(row: LookupRow<'disk_types'>, providerName: string): DiskTypeInfo {
  return {
    disk_type_id: row.disk_type_id,
    cloud_provider: { cloud_provider_id: row.cloud_provider_id, name: providerName },
    name: row.name,
    has_fixed_size: row.has_fixed_size,
    min_size: row.min_size,
    max_size: row.max_size,
    ...(row.has_fixed_iops === null ? {} : { has_fixed_iops: row.has_fixed_iops }),
    min_iops: row.min_iops,
    max_iops: row.max_iops,
    ...(row.has_fixed_throughput === null ? {} : { has_fixed_throughput: row.has_fixed_throughput }),
    min_throughput: row.min_throughput,
    max_throughput: row.max_throughput,
  };
}

/** On the wire, queue names start with the product's name in lower case. */
function queueToWire(queue: string): string {
  return queue.replace(/^platform\./, `${productName().toLowerCase()}.`);
}

function mapOf<Row, K extends keyof Row, T>(rows: readonly Row[], id: K, render: (row: Row) => T): Map<Row[K], T> {
  return new Map(rows.map((row) => [row[id], render(row)]));
}

function found<T>(map: Map<number, T>, id: number, table: string): T {
  const value = map.get(id);
  if (value === undefined)
    throw new Error(`A lookup row refers to row ${id} of ${table}, which does not exist or is closed`);
  return value;
}

function validity(row: { from_date: string; to_date: string }): { from_date: string; to_date: string } {
  return { from_date: row.from_date, to_date: row.to_date };
}

function withoutValidity<T extends { from_date: string; to_date: string }>(row: T): Omit<T, 'from_date' | 'to_date'> {
  const { from_date: _from, to_date: _to, ...rest } = row;
  return rest;
}
