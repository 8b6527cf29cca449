import type { AcceleratorKind } from '../../../../libs/contracts/agent-protocol';
import { Field } from '../../../platform/kernel/dto/fields';
import type { CatalogTypeName, SECRET_TYPES } from './dto/lookup-values';

export const CLOUD_PROVIDERS = ['GCP', 'AWS', 'Azure', 'OnPrem', 'OCI'] as const;
export type CloudProviderName = (typeof CLOUD_PROVIDERS)[number];
/** What clients also call a provider. */
export const CLOUD_PROVIDER_ALIASES = { Proxmox: 'OnPrem' } as const;
/** Ids of the providers; fixed by the specification. */
export const CLOUD_PROVIDER_ID: Record<CloudProviderName, number> = { GCP: 0, AWS: 1, Azure: 2, OnPrem: 3, OCI: 4 };

export const STORAGE_TYPES = ['Amazon S3', 'Google Cloud Storage', 'ADLS Gen2', 'Custom S3'] as const;
export type StorageTypeName = (typeof STORAGE_TYPES)[number];
/** Storage types by their ids in the lookup table. */
export const STORAGE_TYPE_ID: Record<StorageTypeName, number> = {
  'Google Cloud Storage': 0,
  'Amazon S3': 1,
  'ADLS Gen2': 2,
  'Custom S3': 3,
};

/** Types of metastore catalogs by their ids in the lookup table. */
export const CATALOG_TYPE_ID: Record<CatalogTypeName, number> = { HIVE: 1, 'DATABRICKS UNITY': 2, 'AWS GLUE': 3 };

/** Id of the provider that a list is asked for by its name, if it is. */
export function askedProviderId(name: string | undefined): number | undefined {
  return name === undefined ? undefined : CLOUD_PROVIDER_ID[name as CloudProviderName];
}

export const ARCHITECTURES = ['x86_64', 'aarch64'] as const;
export const COMPUTE_TYPES = [
  'compute_optimized',
  'memory_optimized',
  'general_purpose',
  'gpu_accelerated',
  'storage_optimized',
  'custom_compute',
] as const;

/** Credential types by their ids in the lookup table. */
export const CREDENTIAL_TYPE_ID = {
  googleServiceAccount: 0,
  awsAccessSecretKeyPair: 1,
  azureServicePrincipal: 2,
  onPremBasicAuth: 3,
  ociApiKey: 4,
  customS3: 5,
} as const;

export type SecretTypeName = (typeof SECRET_TYPES)[number];
/** Secret types by their ids in the lookup table. */
export const SECRET_TYPE_ID: Record<SecretTypeName, number> = {
  'HIVE KERBEROS': 1,
  'HIVE BASIC': 2,
  'DATABRICKS UNITY TOKEN': 3,
  'ENVIRONMENT VARIABLE': 4,
  'AWS ACCESS SECRET KEY PAIR': 5,
  'AZURE SERVICE PRINCIPAL': 6,
  'GOOGLE SERVICE ACCOUNT': 7,
};

export class CloudProviderRef {
  @Field.id() cloud_provider_id: number;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class DiskTypeProviderRef {
  @Field.id() cloud_provider_id: number;
  @Field.text() name: string;
}

export class DiskTypeInfo {
  @Field.id() disk_type_id: number;
  @Field.object(() => DiskTypeProviderRef) cloud_provider: DiskTypeProviderRef;
  @Field.text() name: string;
  @Field.boolean() has_fixed_size: boolean;
  @Field.int64({ description: 'GB' }) min_size: number;
  @Field.int64({ description: 'GB' }) max_size: number;
  @Field.boolean({ optional: true }) has_fixed_iops?: boolean;
  @Field.int64({ optional: true, nullable: true }) min_iops?: number | null;
  @Field.int64({ optional: true, nullable: true }) max_iops?: number | null;
  @Field.boolean({ optional: true }) has_fixed_throughput?: boolean;
  @Field.int64({ optional: true, nullable: true, description: 'MB/s' }) min_throughput?: number | null;
  @Field.int64({ optional: true, nullable: true, description: 'MB/s' }) max_throughput?: number | null;
}

export class AvailabilityZoneRef {
  @Field.id() availability_zone_id: number;
  @Field.text() name: string;
  @Field.id() cloud_provider_id: number;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.text() region: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class MachineArchitectureRef {
  @Field.id() machine_architecture_type_id: number;
  @Field.oneOf(ARCHITECTURES) machine_architecture_type: string;
}

export class LocalDiskBusTypeRef {
  @Field.id({ nullable: true }) local_disk_bus_type_id: number | null;
  @Field.oneOf(['SCSI', 'NVME'], { nullable: true }) local_disk_bus_type: string | null;
}

export class MachineTypeInfo {
  @Field.id() machine_type_id: number;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.text() name: string;
  @Field.object(() => MachineArchitectureRef) machine_architecture_type: MachineArchitectureRef;
  @Field.int32() vCPUs: number;
  @Field.text({ description: 'With its unit', example: '16 GiB' }) memory: string;
  @Field.boolean() has_cuda: boolean;
  @Field.text({ nullable: true }) gpu_model: string | null;
  @Field.int32() gpus: number;
  @Field.text({ nullable: true }) gpu_memory: string | null;
  @Field.texts() cpu_model: string[];
  @Field.texts() cpu_min_frequency_GHz: string[];
  @Field.texts() cpu_max_frequency_GHz: string[];
  @Field.boolean() has_local_disk: boolean;
  @Field.int64({ nullable: true }) local_disk_size_GB: number | null;
  @Field.int32({ nullable: true }) local_num_of_disks: number | null;
  @Field.object(() => LocalDiskBusTypeRef, { nullable: true }) local_disk_bus_type: LocalDiskBusTypeRef | null;
  @Field.int64({ nullable: true }) local_disk_throughput_MB: number | null;
  @Field.number({ description: 'Platform compute units per hour' }) machine_price_ycu: number;
  @Field.boolean({ optional: true }) has_spot_instance_support?: boolean;
}

export class LinuxDistroRef {
  @Field.id() linux_distro_id: number;
  @Field.text() distro_name: string;
  @Field.text() distro_version: string;
}

export class CredentialTypeInfo {
  @Field.id() credential_type_id: number;
  @Field.text() name: string;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
}

export class SparkInfraVersionRef {
  @Field.id() spark_infra_version_id: number;
  @Field.text() spark_docker_image_name: string;
  @Field.text() spark_version: string;
  @Field.text() hive_version: string;
  @Field.text() hadoop_version: string;
  @Field.text() scala_version: string;
  @Field.text() python_version: string;
  @Field.boolean() notebook_support: boolean;
  @Field.boolean() has_cuda_support: boolean;
  @Field.boolean() thrift_support: boolean;
  @Field.boolean() platform_functions_support: boolean;
  @Field.boolean() has_turbo_support: boolean;
  @Field.text({ nullable: true }) turbo_version: string | null;
  @Field.boolean() has_unity_support: boolean;
  @Field.text({ nullable: true }) unity_version: string | null;
  @Field.boolean() has_hive_support: boolean;
  @Field.text({ nullable: true }) cuda_rapids_version: string | null;
}

/** A kind of object store, which is of one cloud provider. */
export interface StorageTypeRecord {
  id: number;
  name: string;
  cloudProviderId: number;
}

/** How the object stores of a cloud provider keep what they hold secret. */
export interface EncryptionTypeRecord {
  id: number;
  name: string;
  cloudProviderId: number;
}

/** A kind of secret, and what a secret of it may be attached for. */
export interface SecretTypeRecord {
  id: number;
  name: SecretTypeName;
  supportsUnity: boolean;
  supportsHive: boolean;
  /** The kind of object store that it opens; null for none. */
  supportsStorageType: string | null;
}

/** What a metastore catalog is served by. */
export interface MetastoreCatalogTypeRecord {
  metastore_catalog_type_id: number;
  name: string;
  description: string | null;
}

/** Rules a label key and value must obey at a provider. */
export interface LabelPattern {
  key: RegExp;
  value: RegExp;
  description: string;
}

/** A machine type with what the platform computes with. */
export interface MachineTypeRecord {
  info: MachineTypeInfo;
  cloudProviderId: number;
  architectureId: number;
  memoryGib: number;
  categoryId: number;
  /** What its family is made for, one of {@link COMPUTE_TYPES}. */
  category: string;
}

/** Rows of the lookup tables by their ids; `undefined` means there is none. */
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
 * The lookup tables, held in memory: reads cost nothing and a change in the database shows within a second.
 * Inject this class. By itself it finds every row, those that an upgrade has closed, too: records that refer to them
 * must stay readable and usable. New references ask `current`.
 */
export abstract class ReferenceData implements LookupRecords {
  /** Current rows only. */
  abstract readonly current: LookupRecords;
  abstract cloudProvider(id: number): CloudProviderRef | undefined;
  abstract diskType(id: number): DiskTypeInfo | undefined;
  abstract availabilityZone(id: number): AvailabilityZoneRef | undefined;
  /** Names of the current zones of a provider's region, in order; those that stand for all of the region left out. */
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
  /** What a single run of jobs of this type, in this language, may be given; all of it where the lookup has no such row. */
  abstract runtimeSupport(jobType: string, language: string): { arguments: boolean; conf: boolean };
  /** Which accelerators clusters of the type may have; none where the lookup has no such row. */
  abstract acceleratorSupport(clusterType: string): Readonly<Record<AcceleratorKind, boolean>>;
  abstract labelPattern(cloudProviderId: number): LabelPattern | undefined;

  /** Where a record finds what it is to refer to: among current rows, and what it refers to already may be closed. */
  selectable(id: number, before: number | null | undefined): LookupRecords {
    return id === before ? this : this.current;
  }
}
