/** Maps PostgreSQL column types to the types that the driver returns. */
interface ColumnTypes {
  integer: number;
  bigint: number;
  'double precision': number;
  text: string;
  boolean: boolean;
  'text[]': string[];
}

export interface LookupColumn<T = unknown> {
  type: keyof ColumnTypes;
  nullable: boolean;
  references?: string;
  /** Carries the value's type at compile time; never set. */
  value?: T;
}

function column<K extends keyof ColumnTypes>(type: K): LookupColumn<ColumnTypes[K]> {
  return { type, nullable: false };
}

function orNull<T>(of: LookupColumn<T>): LookupColumn<T | null> {
  return { type: of.type, nullable: true, references: of.references };
}

function idOf(references: string): LookupColumn<number> {
  return { type: 'integer', nullable: false, references };
}

const text = column('text');
const bool = column('boolean');
const int = column('integer');
const bigint = column('bigint');
const float = column('double precision');
const texts = column('text[]');

export interface LookupTable<
  Id extends string = string,
  C extends Record<string, LookupColumn> = Record<string, LookupColumn>,
> {
  /** Name of the entity, which foreign keys of other modules refer to. */
  entity: string;
  idColumn: Id;
  columns: C;
}

function table<const Id extends string, C extends Record<string, LookupColumn>>(
  entity: string,
  idColumn: Id,
  columns: C,
): LookupTable<Id, C> {
  return { entity, idColumn, columns };
}

const nameAndDescription = { name: text, description: orNull(text) };

/** Lookup tables by database name, in dependency order: referenced tables come first. */
export const LOOKUP_TABLES = {
  cloud_providers: table('CloudProvider', 'cloud_provider_id', nameAndDescription),
  machine_architecture_types: table('MachineArchitectureType', 'machine_architecture_type_id', {
    machine_architecture_type: text,
  }),
  local_disk_bus_types: table('LocalDiskBusType', 'local_disk_bus_type_id', { local_disk_bus_type: text }),
  machine_type_categories: table('MachineTypeCategory', 'machine_type_category_id', { name: text }),
  disk_types: table('DiskType', 'disk_type_id', {
    cloud_provider_id: idOf('cloud_providers'),
    name: text,
    has_fixed_size: bool,
    min_size: bigint,
    max_size: bigint,
    has_fixed_iops: orNull(bool),
    min_iops: orNull(bigint),
    max_iops: orNull(bigint),
    has_fixed_throughput: orNull(bool),
    min_throughput: orNull(bigint),
    max_throughput: orNull(bigint),
  }),
  availability_zones: table('AvailabilityZone', 'availability_zone_id', {
    cloud_provider_id: idOf('cloud_providers'),
    name: text,
    region: text,
    description: orNull(text),
  }),
  machine_types: table('MachineType', 'machine_type_id', {
    cloud_provider_id: idOf('cloud_providers'),
    name: text,
    machine_architecture_type_id: idOf('machine_architecture_types'),
    machine_type_category_id: idOf('machine_type_categories'),
    vcpus: int,
    memory_gib: float,
    gpu_model: orNull(text),
    gpus: int,
    gpu_memory: orNull(text),
    cpu_model: texts,
    cpu_min_frequency_ghz: texts,
    cpu_max_frequency_ghz: texts,
    local_disk_size_gb: orNull(bigint),
    local_num_of_disks: orNull(int),
    local_disk_bus_type_id: orNull(idOf('local_disk_bus_types')),
    local_disk_throughput_mb: orNull(bigint),
    machine_price_ycu: float,
    has_spot_instance_support: bool,
  }),
  cloud_label_patterns: table('CloudLabelPattern', 'cloud_label_pattern_id', {
    cloud_provider_id: idOf('cloud_providers'),
    key_regex: text,
    value_regex: text,
    description: text,
  }),
  credential_types: table('CredentialType', 'credential_type_id', {
    name: text,
    cloud_provider_id: idOf('cloud_providers'),
  }),
  cluster_types: table('ClusterType', 'cluster_type_id', {
    ...nameAndDescription,
    has_turbo_support: bool,
    has_cuda_support: bool,
  }),
  engine_cluster_instance_statuses: table('ClusterStatus', 'engine_cluster_instance_status_id', nameAndDescription),
  engine_cluster_instance_node_statuses: table(
    'ClusterNodeStatus',
    'engine_cluster_instance_node_status_id',
    nameAndDescription,
  ),
  spark_compute_types: table('SparkComputeType', 'spark_compute_type_id', nameAndDescription),
  spark_infra_versions: table('SparkInfraVersion', 'spark_infra_version_id', {
    spark_docker_image_name: text,
    spark_version: text,
    hive_version: text,
    hadoop_version: text,
    scala_version: text,
    python_version: text,
    notebook_support: bool,
    has_cuda_support: bool,
    thrift_support: bool,
    platform_functions_support: bool,
    has_turbo_support: bool,
    turbo_version: orNull(text),
    has_unity_support: bool,
    unity_version: orNull(text),
    has_hive_support: bool,
    cuda_rapids_version: orNull(text),
  }),
  spark_job_statuses: table('SparkJobStatus', 'spark_job_status_id', nameAndDescription),
  spark_job_types: table('SparkJobType', 'spark_job_type_id', {
    name: text,
    display_name: text,
    should_display: bool,
    description: orNull(text),
  }),
  spark_job_type_langs: table('SparkJobTypeLang', 'spark_job_type_lang_id', {
    spark_job_type_id: idOf('spark_job_types'),
    lang_name: text,
    display_name: text,
    support_runtime_args: bool,
    support_runtime_conf: bool,
    description: orNull(text),
  }),
  workflow_execution_states: table('WorkflowExecutionState', 'workflow_execution_state_id', nameAndDescription),
  workflow_types: table('WorkflowType', 'workflow_type_id', {
    name: text,
    queue_name: text,
    description: orNull(text),
  }),
  linux_distros: table('LinuxDistro', 'linux_distro_id', { distro_name: text, distro_version: text }),
  metastore_catalog_types: table('MetastoreCatalogType', 'metastore_catalog_type_id', nameAndDescription),
  secret_types: table('SecretType', 'lookup_secret_type_id', {
    ...nameAndDescription,
    supports_unity: bool,
    supports_hive: bool,
    supports_storage_type: orNull(text),
  }),
  storage_types: table('StorageType', 'lookup_storage_type_id', {
    ...nameAndDescription,
    cloud_provider_id: idOf('cloud_providers'),
  }),
  encryption_types: table('EncryptionType', 'lookup_encryption_type_id', {
    ...nameAndDescription,
    cloud_provider_id: idOf('cloud_providers'),
  }),
  git_providers: table('GitProvider', 'lookup_git_providers_id', {
    name: text,
    display_name: text,
    identity_label: text,
    password_label: text,
    description: orNull(text),
  }),
  git_credential_patterns: table('GitCredentialPattern', 'git_credential_pattern_id', {
    git_provider_id: idOf('git_providers'),
    username_regex: text,
    token_regex: text,
    username_description: text,
    token_description: text,
  }),
  widget_types: table('WidgetType', 'widget_type_id', nameAndDescription),
};

export type LookupName = keyof typeof LOOKUP_TABLES;
export const LOOKUP_NAMES = Object.keys(LOOKUP_TABLES) as LookupName[];

type ValuesOf<T> =
  T extends LookupTable<infer Id, infer C>
    ? { [K in Id]: number } & { [K in keyof C]: C[K] extends LookupColumn<infer V> ? V : never }
    : never;

/** A row of a lookup table without its validity. */
export type LookupRow<N extends LookupName> = ValuesOf<(typeof LOOKUP_TABLES)[N]>;

export type LookupRows = { [N in LookupName]: LookupRow<N>[] };

/** Returns a table with its general type, for code that handles all tables alike. */
export function lookupTable(name: LookupName): LookupTable {
  return LOOKUP_TABLES[name];
}
