import { IntersectionType, OmitType } from '@nestjs/swagger';
import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import {
  AvailabilityZoneRef,
  CloudProviderRef,
  CredentialTypeInfo,
  LinuxDistroRef,
  MachineTypeInfo,
  SparkInfraVersionRef,
  ARCHITECTURES,
  STORAGE_TYPES,
} from '../reference-data';
import {
  CATALOG_TYPES,
  CLUSTER_NODE_STATUSES,
  CLUSTER_STATUSES,
  CLUSTER_TYPES,
  GIT_PROVIDERS,
  SECRET_TYPES,
  SPARK_JOB_TYPES,
} from './lookup-values';

class ValidFrom {
  @Field.timestamp({ description: 'When the entry was added' }) from_date: string;
}

/** Validity of a lookup row. Dates are strings because rows are rendered once, when the tables are loaded. */
class LookupValidity extends ValidFrom {
  @Field.validityEnd() to_date: string;
}

class Described extends LookupValidity {
  @Field.text({ description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A cloud provider. Clusters of each are described by its own records.')
export class CloudProviderLookup extends IntersectionType(CloudProviderRef, LookupValidity) {}

@About('A type of disks of a provider.')
export class DiskTypeLookup extends LookupValidity {
  @Field.id() disk_type_id: number;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.text({ description: 'Name of the disk type' }) name: string;
  @Field.boolean({ description: 'True if disks of this type have a fixed size' }) has_fixed_size: boolean;
  @Field.int64({ description: 'Minimum size in GB' }) min_size: number;
  @Field.int64({ description: 'Maximum size in GB' }) max_size: number;
}

@About('An availability zone: a data centre of a region of a provider.')
export class AvailabilityZoneLookup extends IntersectionType(
  OmitType(AvailabilityZoneRef, ['cloud_provider_id']),
  LookupValidity,
) {}

@About('A processor architecture.')
export class MachineArchitectureTypeLookup extends LookupValidity {
  @Field.id({ description: 'Id of the architecture' }) id: number;
  @Field.oneOf(ARCHITECTURES, { description: 'Name of the architecture' }) architecture_type: string;
}

@About('A machine type of a provider with its processors, memory, GPUs and price.')
export class MachineTypeLookup extends IntersectionType(
  OmitType(MachineTypeInfo, ['has_spot_instance_support']),
  LookupValidity,
) {}

@About('The rule of a provider for labels of its resources.')
export class CloudLabelPatternLookup extends LookupValidity {
  @Field.id({ description: 'Id of the rule' }) cloud_label_pattern_id: number;
  @Field.text({ description: 'Regular expression that keys must match' }) key_regex: string;
  @Field.text({ description: 'Regular expression that values must match' }) value_regex: string;
  @Field.text({ description: 'The rule in words' }) description: string;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
}

@About('A credential type, which determines the keys of credentials.')
export class CredentialTypeLookup extends IntersectionType(CredentialTypeInfo, LookupValidity) {}

@About('A cluster type: how Spark runs on the nodes.')
export class ClusterTypeLookup extends LookupValidity {
  @Field.id({ description: 'Id of the type' }) cluster_type_id: number;
  @Field.oneOf(CLUSTER_TYPES, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean({ description: 'True if clusters of the type can use DataFusion Comet' }) has_turbo_support: boolean;
  @Field.boolean({ description: 'True if clusters of the type can use GPUs' }) has_cuda_support: boolean;
}

@About('A state of clusters.')
export class EngineClusterInstanceStatus extends LookupValidity {
  @Field.id({ description: 'Id of the state' }) engine_cluster_instance_status_id: number;
  @Field.oneOf(CLUSTER_STATUSES, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A state of nodes.')
export class EngineClusterInstanceNodeStatus extends LookupValidity {
  @Field.id({ description: 'Id of the state' }) engine_cluster_instance_node_status_id: number;
  @Field.oneOf(CLUSTER_NODE_STATUSES, { description: 'Name, which requests and responses use as a value' })
  name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A kind of computation.')
export class SparkComputeTypeLookup extends Described {
  @Field.id({ description: 'Id of the compute type' }) spark_compute_type_id: number;
}

@About('A Spark version that clusters can run, with the versions and features that come with it.')
export class SparkInfraVersionLookup extends IntersectionType(SparkInfraVersionRef, LookupValidity) {}

@About('A status of jobs and notebook instances.')
export class SparkJobStatusLookup extends Described {
  @Field.id({ description: 'Id of the status' }) spark_job_status_id: number;
}

@About('A reference to a type of jobs.')
class SparkJobTypeRef {
  @Field.id({ description: 'Id of the type' }) spark_job_type_id: number;
  @Field.oneOf(SPARK_JOB_TYPES, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text() display_name: string;
}

@About('A type of jobs.')
export class SparkJobTypeLookup extends IntersectionType(SparkJobTypeRef, LookupValidity) {
  @Field.boolean({ description: 'True if clients should offer the type to users' }) should_display: boolean;
  @Field.text({ optional: true, nullable: true, description: 'Free-text description; null or absent if there is none' })
  description?: string | null;
}

@About('A language of a type of jobs.')
export class SparkJobTypeLangLookup extends LookupValidity {
  @Field.id({ description: 'Id of the language' }) spark_job_type_lang_id: number;
  @Field.object(() => SparkJobTypeRef, { description: 'The type of jobs' }) spark_job_type: SparkJobTypeRef;
  @Field.text({ description: 'Name, which requests and responses use as a value' }) lang_name: string;
  @Field.text() display_name: string;
  @Field.boolean({ description: 'True if a single run can have arguments of its own' }) support_runtime_args: boolean;
  @Field.boolean({ description: 'True if a single run can have Spark properties of its own' })
  support_runtime_conf: boolean;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A state of an execution of a workflow.')
export class WorkflowExecutionStateLookup extends Described {
  @Field.int64({ description: 'Id of the state; -1 for NONE' }) workflow_execution_state_id: number;
}

@About('A type of workflows.')
export class WorkflowTypeLookup extends Described {
  @Field.id({ description: 'Id of the type' }) workflow_type_id: number;
  @Field.text({ description: 'Name of the queue in the contract of the API; the platform has queues of its own' })
  queue_name: string;
}

@About('A Linux distribution of boot disk images.')
export class LinuxDistroLookup extends IntersectionType(LinuxDistroRef, LookupValidity) {}

@About('A type of metastores.')
export class MetastoreCatalogTypeLookup extends LookupValidity {
  @Field.id({ description: 'Id of the type' }) metastore_catalog_type_id: number;
  @Field.oneOf(CATALOG_TYPES, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A secret type, which determines the values of secrets.')
export class SecretTypeLookup extends LookupValidity {
  @Field.id({ description: 'Id of the type' }) lookup_secret_type_id: number;
  @Field.oneOf(SECRET_TYPES, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean({ description: 'True if secrets of the type open Unity Catalog' }) supports_unity: boolean;
  @Field.boolean({ description: 'True if secrets of the type open a Hive metastore' }) supports_hive: boolean;
  @Field.text({
    nullable: true,
    description: 'Name of the storage type that secrets of the type open; null if they open none',
  })
  supports_storage_type: string | null;
}

@About('A type of object stores for mounts.')
export class StorageTypeLookup extends ValidFrom {
  @Field.id({ description: 'Id of the type' }) lookup_storage_type_id: number;
  @Field.oneOf(STORAGE_TYPES, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.id() cloud_provider_id: number;
  @Field.validityEnd({
    description: 'When the entry ceased to be valid, in ISO 8601; `infinity` while it is valid; null means the same',
  })
  end_date: string;
}

@About('An encryption at rest of an object store.')
export class EncryptionTypeLookup extends Described {
  @Field.id({ description: 'Id of the encryption' }) lookup_encryption_type_id: number;
  @Field.id() cloud_provider_id: number;
}

@About('A Git provider.')
export class GitProviderLookup extends LookupValidity {
  @Field.id({ description: 'Id of the provider' }) lookup_git_providers_id: number;
  @Field.oneOf(GIT_PROVIDERS, { description: 'Name, which requests and responses use as a value' }) name: string;
  @Field.text() display_name: string;
  @Field.text({ description: 'What the provider calls the user name of credentials' }) identity_label: string;
  @Field.text({ description: 'What the provider calls the password of credentials' }) password_label: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A reference to a Git provider.')
class GitProviderRef {
  @Field.id({ description: 'Id of the provider' }) git_provider_id: number;
  @Field.oneOf(GIT_PROVIDERS, { description: 'Name of the provider' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('The rule of a Git provider for credentials.')
export class GitCredentialPatternLookup {
  @Field.id({ description: 'Id of the rule' }) git_credential_pattern_id: number;
  @Field.text({ description: 'Regular expression that user names must match' }) username_regex: string;
  @Field.text({ description: 'Regular expression that tokens must match' }) token_regex: string;
  @Field.text({ description: 'The rule for user names in words' }) username_description: string;
  @Field.text({ description: 'The rule for tokens in words' }) token_description: string;
  @Field.object(() => GitProviderRef, { description: 'The provider' }) git_provider: GitProviderRef;
}

@About('A type of widgets in notebooks.')
export class WidgetTypeLookup extends Described {
  @Field.id({ description: 'Id of the type' }) widget_type_id: number;
}
