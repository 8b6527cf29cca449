import { IntersectionType, OmitType } from '@nestjs/swagger';
import { Field } from '../../../../platform/kernel/dto/fields';
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
  @Field.timestamp() from_date: string;
}

/** Validity of a lookup row. Dates are strings because rows are rendered once, when the tables are loaded. */
class LookupValidity extends ValidFrom {
  @Field.validityEnd() to_date: string;
}

class Described extends LookupValidity {
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class CloudProviderLookup extends IntersectionType(CloudProviderRef, LookupValidity) {}

export class DiskTypeLookup extends LookupValidity {
  @Field.id() disk_type_id: number;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.text() name: string;
  @Field.boolean() has_fixed_size: boolean;
  @Field.int64({ description: 'GB' }) min_size: number;
  @Field.int64({ description: 'GB' }) max_size: number;
}

export class AvailabilityZoneLookup extends IntersectionType(
  OmitType(AvailabilityZoneRef, ['cloud_provider_id']),
  LookupValidity,
) {}

export class MachineArchitectureTypeLookup extends LookupValidity {
  @Field.id() id: number;
  @Field.oneOf(ARCHITECTURES) architecture_type: string;
}

export class MachineTypeLookup extends IntersectionType(
  OmitType(MachineTypeInfo, ['has_spot_instance_support']),
  LookupValidity,
) {}

export class CloudLabelPatternLookup extends LookupValidity {
  @Field.id() cloud_label_pattern_id: number;
  @Field.text() key_regex: string;
  @Field.text() value_regex: string;
  @Field.text() description: string;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
}

export class CredentialTypeLookup extends IntersectionType(CredentialTypeInfo, LookupValidity) {}

export class ClusterTypeLookup extends LookupValidity {
  @Field.id() cluster_type_id: number;
  @Field.oneOf(CLUSTER_TYPES) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean() has_turbo_support: boolean;
  @Field.boolean() has_cuda_support: boolean;
}

export class EngineClusterInstanceStatus extends LookupValidity {
  @Field.id() engine_cluster_instance_status_id: number;
  @Field.oneOf(CLUSTER_STATUSES) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class EngineClusterInstanceNodeStatus extends LookupValidity {
  @Field.id() engine_cluster_instance_node_status_id: number;
  @Field.oneOf(CLUSTER_NODE_STATUSES) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class SparkComputeTypeLookup extends Described {
  @Field.id() spark_compute_type_id: number;
}

export class SparkInfraVersionLookup extends IntersectionType(SparkInfraVersionRef, LookupValidity) {}

export class SparkJobStatusLookup extends Described {
  @Field.id() spark_job_status_id: number;
}

class SparkJobTypeRef {
  @Field.id() spark_job_type_id: number;
  @Field.oneOf(SPARK_JOB_TYPES) name: string;
  @Field.text() display_name: string;
}

export class SparkJobTypeLookup extends IntersectionType(SparkJobTypeRef, LookupValidity) {
  @Field.boolean() should_display: boolean;
  @Field.text({ optional: true, nullable: true }) description?: string | null;
}

export class SparkJobTypeLangLookup extends LookupValidity {
  @Field.id() spark_job_type_lang_id: number;
  @Field.object(() => SparkJobTypeRef) spark_job_type: SparkJobTypeRef;
  @Field.text() lang_name: string;
  @Field.text() display_name: string;
  @Field.boolean() support_runtime_args: boolean;
  @Field.boolean() support_runtime_conf: boolean;
  @Field.text({ nullable: true }) description: string | null;
}

export class WorkflowExecutionStateLookup extends Described {
  @Field.int64() workflow_execution_state_id: number;
}

export class WorkflowTypeLookup extends Described {
  @Field.id() workflow_type_id: number;
  @Field.text() queue_name: string;
}

export class LinuxDistroLookup extends IntersectionType(LinuxDistroRef, LookupValidity) {}

export class MetastoreCatalogTypeLookup extends LookupValidity {
  @Field.id() metastore_catalog_type_id: number;
  @Field.oneOf(CATALOG_TYPES) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class SecretTypeLookup extends LookupValidity {
  @Field.id() lookup_secret_type_id: number;
  @Field.oneOf(SECRET_TYPES) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean() supports_unity: boolean;
  @Field.boolean() supports_hive: boolean;
  @Field.text({ nullable: true }) supports_storage_type: string | null;
}

export class StorageTypeLookup extends ValidFrom {
  @Field.id() lookup_storage_type_id: number;
  @Field.oneOf(STORAGE_TYPES) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.id() cloud_provider_id: number;
  @Field.validityEnd() end_date: string;
}

export class EncryptionTypeLookup extends Described {
  @Field.id() lookup_encryption_type_id: number;
  @Field.id() cloud_provider_id: number;
}

export class GitProviderLookup extends LookupValidity {
  @Field.id() lookup_git_providers_id: number;
  @Field.oneOf(GIT_PROVIDERS) name: string;
  @Field.text() display_name: string;
  @Field.text() identity_label: string;
  @Field.text() password_label: string;
  @Field.text({ nullable: true }) description: string | null;
}

class GitProviderRef {
  @Field.id() git_provider_id: number;
  @Field.oneOf(GIT_PROVIDERS) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class GitCredentialPatternLookup {
  @Field.id() git_credential_pattern_id: number;
  @Field.text() username_regex: string;
  @Field.text() token_regex: string;
  @Field.text() username_description: string;
  @Field.text() token_description: string;
  @Field.object(() => GitProviderRef) git_provider: GitProviderRef;
}

export class WidgetTypeLookup extends Described {
  @Field.id() widget_type_id: number;
}
