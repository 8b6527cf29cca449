import { nameEnum } from '../../../platform/kernel/dto/named-enums';
import type { AcceleratorKind } from '../../../../libs/contracts/agent-protocol';
import { Field } from '../../../platform/kernel/dto/fields';
import { About } from '../../../platform/kernel/dto/schemas';
import type { CatalogTypeName, SECRET_TYPES } from './dto/lookup-values';

export const CLOUD_PROVIDERS = nameEnum(
  'CloudProvider',
  ['GCP', 'AWS', 'Azure', 'OnPrem', 'OCI'],
  'A provider of machines. Requests may also say `Proxmox` for OnPrem.',
  {
    GCP: 'Google Cloud',
    AWS: 'Amazon Web Services',
    Azure: 'Microsoft Azure',
    OnPrem: 'Proxmox VE, or nodes on the machine of the platform (`local://`)',
    OCI: 'Oracle Cloud Infrastructure',
  },
);
export type CloudProviderName = (typeof CLOUD_PROVIDERS)[number];
/** Alternative provider names that requests may use. */
export const CLOUD_PROVIDER_ALIASES = { Proxmox: 'OnPrem' } as const;
/** Provider ids, fixed by the API specification. */
export const CLOUD_PROVIDER_ID: Record<CloudProviderName, number> = { GCP: 0, AWS: 1, Azure: 2, OnPrem: 3, OCI: 4 };

export const LOCAL_DISK_BUSES = nameEnum(
  'LocalDiskBus',
  ['SCSI', 'NVME'],
  'How local disks are attached to a machine.',
);

export const STORAGE_TYPES = nameEnum(
  'StorageType',
  ['Amazon S3', 'Google Cloud Storage', 'ADLS Gen2', 'Custom S3'],
  'A type of object store.',
  {
    'ADLS Gen2': 'Azure Data Lake Storage',
    'Custom S3': 'any other store with the API of S3, at an endpoint of its own',
  },
);
export type StorageTypeName = (typeof STORAGE_TYPES)[number];
export const STORAGE_TYPE_ID: Record<StorageTypeName, number> = {
  'Google Cloud Storage': 0,
  'Amazon S3': 1,
  'ADLS Gen2': 2,
  'Custom S3': 3,
};

export const CATALOG_TYPE_ID: Record<CatalogTypeName, number> = { HIVE: 1, 'DATABRICKS UNITY': 2, 'AWS GLUE': 3 };

/** Returns the id of the provider in a list's filter, if the filter is set. */
export function requestedProviderId(name: string | undefined): number | undefined {
  return name === undefined ? undefined : CLOUD_PROVIDER_ID[name as CloudProviderName];
}

export const ARCHITECTURES = nameEnum(
  'ProcessorArchitecture',
  ['x86_64', 'aarch64'],
  'The architecture of processors.',
);
export const COMPUTE_TYPES = nameEnum(
  'MachineTypeCategory',
  [
    'compute_optimized',
    'memory_optimized',
    'general_purpose',
    'gpu_accelerated',
    'storage_optimized',
    'custom_compute',
  ],
  'Workload that a machine type is meant for.',
  { custom_compute: 'the number of processors and the memory are chosen, where the provider allows it' },
);

export const CREDENTIAL_TYPE_ID = {
  googleServiceAccount: 0,
  awsAccessSecretKeyPair: 1,
  azureServicePrincipal: 2,
  onPremBasicAuth: 3,
  ociApiKey: 4,
  customS3: 5,
} as const;

export type SecretTypeName = (typeof SECRET_TYPES)[number];
export const SECRET_TYPE_ID: Record<SecretTypeName, number> = {
  'HIVE KERBEROS': 1,
  'HIVE BASIC': 2,
  'DATABRICKS UNITY TOKEN': 3,
  'ENVIRONMENT VARIABLE': 4,
  'AWS ACCESS SECRET KEY PAIR': 5,
  'AZURE SERVICE PRINCIPAL': 6,
  'GOOGLE SERVICE ACCOUNT': 7,
};

@About('A reference to a cloud provider.')
export class CloudProviderRef {
  @Field.id() cloud_provider_id: number;
  @Field.text({ description: 'Name of the provider' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('Provider of a disk type.')
export class DiskTypeProviderRef {
  @Field.id() cloud_provider_id: number;
  @Field.text({ description: 'Name of the provider' }) name: string;
}

@About('A reference to a disk type.')
export class DiskTypeInfo {
  @Field.id() disk_type_id: number;
  @Field.object(() => DiskTypeProviderRef) cloud_provider: DiskTypeProviderRef;
  @Field.text({ description: 'Name of the disk type' }) name: string;
  @Field.boolean({ description: 'True if disks of this type have a fixed size' }) has_fixed_size: boolean;
  @Field.int64({ description: 'Minimum size in GB' }) min_size: number;
  @Field.int64({ description: 'Maximum size in GB' }) max_size: number;
  @Field.boolean({ optional: true, description: 'True if IOPS cannot be chosen' })
  has_fixed_iops?: boolean;
  @Field.int64({
    optional: true,
    nullable: true,
    description: 'Minimum IOPS; null if IOPS cannot be chosen',
  })
  min_iops?: number | null;
  @Field.int64({
    optional: true,
    nullable: true,
    description: 'Maximum IOPS; null if IOPS cannot be chosen',
  })
  max_iops?: number | null;
  @Field.boolean({ optional: true, description: 'True if the throughput cannot be chosen' })
  has_fixed_throughput?: boolean;
  @Field.int64({
    optional: true,
    nullable: true,
    description: 'Minimum throughput in MB/s; null if it cannot be chosen',
  })
  min_throughput?: number | null;
  @Field.int64({
    optional: true,
    nullable: true,
    description: 'Maximum throughput in MB/s; null if it cannot be chosen',
  })
  max_throughput?: number | null;
}

@About('A reference to an availability zone.')
export class AvailabilityZoneRef {
  @Field.id() availability_zone_id: number;
  @Field.text({ description: 'Name of the zone at its provider' }) name: string;
  @Field.id() cloud_provider_id: number;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.text({ description: 'Region of the provider to which the zone belongs' }) region: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A reference to a processor architecture.')
export class MachineArchitectureRef {
  @Field.id({ description: 'Id of the architecture' }) machine_architecture_type_id: number;
  @Field.oneOf(ARCHITECTURES, { description: 'Name of the architecture' }) machine_architecture_type: string;
}

@About('How the local disks of a machine are connected.')
export class LocalDiskBusTypeRef {
  @Field.id({ nullable: true, description: 'Id of the bus; null if there are no local disks' }) local_disk_bus_type_id:
    | number
    | null;
  @Field.oneOf(LOCAL_DISK_BUSES, { nullable: true, description: 'Name of the bus; null if there are no local disks' })
  local_disk_bus_type: string | null;
}

@About('A reference to a machine type.')
export class MachineTypeInfo {
  @Field.id() machine_type_id: number;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.text({ description: 'Name of the machine type at its provider' }) name: string;
  @Field.object(() => MachineArchitectureRef) machine_architecture_type: MachineArchitectureRef;
  @Field.int32({ description: 'Number of vCPUs' }) vCPUs: number;
  @Field.text({ description: 'Memory with its unit', example: '16 GiB' }) memory: string;
  @Field.boolean({ description: 'True if the machine has GPUs for CUDA' }) has_cuda: boolean;
  @Field.text({ nullable: true, description: 'Model of the GPUs; null if there are none' }) gpu_model: string | null;
  @Field.int32({ description: 'Number of GPUs' }) gpus: number;
  @Field.text({ nullable: true, description: 'Memory of the GPUs with its unit; null if there are none' }) gpu_memory:
    | string
    | null;
  @Field.texts({ description: 'Models of processors that the machine may have' }) cpu_model: string[];
  @Field.texts({ description: 'Base frequencies in GHz, in the order of cpu_model' }) cpu_min_frequency_GHz: string[];
  @Field.texts({ description: 'Maximum frequencies in GHz, in the order of cpu_model' })
  cpu_max_frequency_GHz: string[];
  @Field.boolean({ description: 'True if the machine has disks of its own' }) has_local_disk: boolean;
  @Field.int64({ nullable: true, description: 'Size of each local disk in GB; null if there are none' })
  local_disk_size_GB: number | null;
  @Field.int32({ nullable: true, description: 'Number of local disks; null if there are none' }) local_num_of_disks:
    | number
    | null;
  @Field.object(() => LocalDiskBusTypeRef, {
    nullable: true,
    description: 'How the local disks are connected; null if there are none',
  })
  local_disk_bus_type: LocalDiskBusTypeRef | null;
  @Field.int64({
    nullable: true,
    description: 'Throughput of the local disks in MB/s; null if it is not known, or if there are none',
  })
  local_disk_throughput_MB: number | null;
  @Field.number({ description: 'Price per hour in compute units' }) machine_price_ycu: number;
  @Field.boolean({
    optional: true,
    description: 'True if the provider offers the type as a spot machine; absent if it is not known',
  })
  has_spot_instance_support?: boolean;
}

@About('A reference to a Linux distribution.')
export class LinuxDistroRef {
  @Field.id() linux_distro_id: number;
  @Field.text({ description: 'Name of the distribution' }) distro_name: string;
  @Field.text({ description: 'Version of the distribution' }) distro_version: string;
}

@About('A reference to a type of credentials.')
export class CredentialTypeInfo {
  @Field.id() credential_type_id: number;
  @Field.text({ description: 'Name of the type' }) name: string;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
}

@About('A reference to a Spark version, with the versions and features that come with it.')
export class SparkInfraVersionRef {
  @Field.id() spark_infra_version_id: number;
  @Field.text({ description: 'Name of the image that nodes run' }) spark_docker_image_name: string;
  @Field.text({ description: 'Version of Spark' }) spark_version: string;
  @Field.text({ description: 'Version of the Hive client' }) hive_version: string;
  @Field.text({ description: 'Version of Hadoop' }) hadoop_version: string;
  @Field.text({ description: 'Version of Scala' }) scala_version: string;
  @Field.text({ description: 'Version of Python' }) python_version: string;
  @Field.boolean({ description: 'True if clusters can run notebooks' }) notebook_support: boolean;
  @Field.boolean({ description: 'True if clusters can use GPUs' }) has_cuda_support: boolean;
  @Field.boolean({ description: 'True if clusters can run SQL servers' }) thrift_support: boolean;
  @Field.boolean({ description: 'True if clusters can serve functions' }) platform_functions_support: boolean;
  @Field.boolean({ description: 'True if clusters can use DataFusion Comet' }) has_turbo_support: boolean;
  @Field.text({ nullable: true, description: 'Version of DataFusion Comet; null without it' }) turbo_version:
    | string
    | null;
  @Field.boolean({ description: 'True if clusters can use catalogs of Unity Catalog' }) has_unity_support: boolean;
  @Field.text({ nullable: true, description: 'Version of the connector to Unity Catalog; null without it' })
  unity_version: string | null;
  @Field.boolean({ description: 'True if clusters can use catalogs of a Hive metastore' }) has_hive_support: boolean;
  @Field.text({ nullable: true, description: 'Version of RAPIDS; null without it' }) cuda_rapids_version: string | null;
}

export interface StorageTypeRecord {
  id: number;
  name: string;
  cloudProviderId: number;
}

export interface EncryptionTypeRecord {
  id: number;
  name: string;
  cloudProviderId: number;
}

/** A secret type, with the uses that its secrets support. */
export interface SecretTypeRecord {
  id: number;
  name: SecretTypeName;
  supportsUnity: boolean;
  supportsHive: boolean;
  /** Name of the storage type that the secret gives access to, or null. */
  supportsStorageType: string | null;
}

export interface MetastoreCatalogTypeRecord {
  metastore_catalog_type_id: number;
  name: string;
  description: string | null;
}

/** Patterns that a provider requires of label keys and values. */
export interface LabelPattern {
  key: RegExp;
  value: RegExp;
  description: string;
}

/** A machine type with the values that scheduling and pricing use. */
export interface MachineTypeRecord {
  info: MachineTypeInfo;
  cloudProviderId: number;
  architectureId: number;
  memoryGib: number;
  categoryId: number;
  /** One of {@link COMPUTE_TYPES}. */
  category: string;
}

/** Finds rows of the lookup tables by id; returns undefined if there is none. */
export interface LookupRecords {
  cloudProvider(id: number): CloudProviderRef | undefined;
  diskType(id: number): DiskTypeInfo | undefined;
  availabilityZone(id: number): AvailabilityZoneRef | undefined;
  architecture(id: number): MachineArchitectureRef | undefined;
  machineType(id: number): MachineTypeRecord | undefined;
  linuxDistro(id: number): LinuxDistroRef | undefined;
  credentialType(id: number): CredentialTypeInfo | undefined;
  sparkInfraVersion(id: number): SparkInfraVersionRef | undefined;
  storageType(id: number): StorageTypeRecord | undefined;
  encryptionType(id: number): EncryptionTypeRecord | undefined;
  secretType(id: number): SecretTypeRecord | undefined;
  metastoreCatalogType(id: number): MetastoreCatalogTypeRecord | undefined;
}

/**
 * The lookup tables, cached in memory; a change in the database is visible within a second. Inject this class. Its own
 * methods also find closed rows, because records that refer to them must stay readable and usable. Validate new
 * references against `current`.
 */
export abstract class ReferenceData implements LookupRecords {
  abstract readonly current: LookupRecords;
  abstract cloudProvider(id: number): CloudProviderRef | undefined;
  abstract diskType(id: number): DiskTypeInfo | undefined;
  abstract availabilityZone(id: number): AvailabilityZoneRef | undefined;
  /** Returns the sorted names of the current zones of a region, without the zone that stands for the whole region. */
  abstract zonesOf(cloudProviderId: number, region: string): string[];
  abstract architecture(id: number): MachineArchitectureRef | undefined;
  abstract machineType(id: number): MachineTypeRecord | undefined;
  abstract machineTypes(): Iterable<MachineTypeRecord>;
  abstract linuxDistro(id: number): LinuxDistroRef | undefined;
  abstract credentialType(id: number): CredentialTypeInfo | undefined;
  abstract sparkInfraVersion(id: number): SparkInfraVersionRef | undefined;
  abstract sparkInfraVersions(): Iterable<SparkInfraVersionRef>;
  abstract storageType(id: number): StorageTypeRecord | undefined;
  abstract encryptionType(id: number): EncryptionTypeRecord | undefined;
  abstract secretType(id: number): SecretTypeRecord | undefined;
  abstract metastoreCatalogType(id: number): MetastoreCatalogTypeRecord | undefined;
  /** Returns whether runs of this job type and language accept arguments and configuration; true if there is no row. */
  abstract runtimeSupport(jobType: string, language: string): { arguments: boolean; conf: boolean };
  /** Returns which accelerators clusters of the type support; none if there is no row. */
  abstract acceleratorSupport(clusterType: string): Readonly<Record<AcceleratorKind, boolean>>;
  abstract labelPattern(cloudProviderId: number): LabelPattern | undefined;

  /** Returns the rows that a record may refer to: current ones, and the one it already refers to, even if closed. */
  selectable(id: number, before: number | null | undefined): LookupRecords {
    return id === before ? this : this.current;
  }
}
