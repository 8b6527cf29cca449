import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import { Answers, Operation } from '../../../platform/http/operation';
import type { Answer } from '../../../platform/http/operation-options';
import { type Page, PageOrAllQuery, PageQuery } from '../../../platform/kernel/dto/page';
import { IdParam } from '../../../platform/http/parameters';
import {
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
} from './dto/lookup-answers.dto';
import { CloudProviderFilter, GitProviderFilter, JobTypeFilter, SecretSupportsFilter } from './dto/lookup-queries.dto';
import { LookupsService } from './lookups.service';

/** Reads of the lookup tables, for any signed-in user. */
function Lookup(id: string, path: string, summary: string, answer: Answer): MethodDecorator {
  return Operation({ method: 'GET', path, id, summary, tag: 'Lookups', access: Allow.signedIn, answer });
}

@Controller()
export class LookupsController {
  constructor(private readonly lookups: LookupsService) {}

  @Lookup(
    'listCloudProviders',
    '/lookup_cloud_providers',
    'List the cloud providers',
    Answers.list(CloudProviderLookup),
  )
  listCloudProviders(): CloudProviderLookup[] {
    return this.lookups.all('cloudProviders');
  }

  @Lookup(
    'getCloudProvider',
    '/lookup_cloud_providers/{cloud_provider_id}',
    'Get a cloud provider',
    Answers.one(CloudProviderLookup),
  )
  getCloudProvider(@IdParam('cloud_provider_id') id: number): CloudProviderLookup {
    return this.lookups.cloudProvider(id);
  }

  @Lookup(
    'listAvailabilityZones',
    '/lookup_availability_zone',
    'List the availability zones of every provider',
    Answers.page(AvailabilityZoneLookup),
  )
  listAvailabilityZones(@Query() query: PageQuery): Page<AvailabilityZoneLookup> {
    return this.lookups.zones(query);
  }

  @Lookup(
    'listProviderAvailabilityZones',
    '/lookup_cloud_providers/{cloud_provider_id}/machine/available/zones',
    'List the availability zones of a provider',
    Answers.page(AvailabilityZoneLookup),
  )
  listProviderAvailabilityZones(
    @IdParam('cloud_provider_id') providerId: number,
    @Query() query: PageOrAllQuery,
  ): Page<AvailabilityZoneLookup> {
    return this.lookups.zonesOf(providerId, query);
  }

  @Lookup(
    'getProviderAvailabilityZone',
    '/lookup_cloud_providers/{cloud_provider_id}/machine/available/zones/{availability_zone_id}',
    'Get an availability zone of a provider',
    Answers.one(AvailabilityZoneLookup),
  )
  getProviderAvailabilityZone(
    @IdParam('cloud_provider_id') providerId: number,
    @IdParam('availability_zone_id') zoneId: number,
  ): AvailabilityZoneLookup {
    return this.lookups.zone(providerId, zoneId);
  }

  @Lookup(
    'listMachineTypes',
    '/lookup_machine_type',
    'List the machine types of every provider',
    Answers.page(MachineTypeLookup),
  )
  listMachineTypes(@Query() query: PageOrAllQuery): Page<MachineTypeLookup> {
    return this.lookups.machineTypes(query);
  }

  @Lookup(
    'listProviderMachineTypes',
    '/lookup_cloud_providers/{cloud_provider_id}/machine/types',
    'List the machine types of a provider',
    Answers.page(MachineTypeLookup),
  )
  listProviderMachineTypes(
    @IdParam('cloud_provider_id') providerId: number,
    @Query() query: PageOrAllQuery,
  ): Page<MachineTypeLookup> {
    return this.lookups.machineTypesOf(providerId, query);
  }

  @Lookup(
    'getProviderMachineType',
    '/lookup_cloud_providers/{cloud_provider_id}/machine/types/{machine_type_id}',
    'Get a machine type of a provider',
    Answers.one(MachineTypeLookup),
  )
  getProviderMachineType(
    @IdParam('cloud_provider_id') providerId: number,
    @IdParam('machine_type_id') machineTypeId: number,
  ): MachineTypeLookup {
    return this.lookups.machineType(providerId, machineTypeId);
  }

  @Lookup(
    'listCloudLabelPatterns',
    '/lookup_cloud_label_pattern',
    'List the rules for labels of cloud resources',
    Answers.list(CloudLabelPatternLookup),
  )
  listCloudLabelPatterns(@Query() query: CloudProviderFilter): CloudLabelPatternLookup[] {
    return this.lookups.labelPatterns(query);
  }

  @Lookup(
    'listCredentialTypes',
    '/lookup_credential_type',
    'List the credential types',
    Answers.list(CredentialTypeLookup),
  )
  listCredentialTypes(@Query() query: CloudProviderFilter): CredentialTypeLookup[] {
    return this.lookups.credentialTypes(query);
  }

  @Lookup(
    'listSparkJobTypeLanguages',
    '/lookup_spark_job_type_lang',
    'List the languages of job types',
    Answers.list(SparkJobTypeLangLookup),
  )
  listSparkJobTypeLanguages(@Query() query: JobTypeFilter): SparkJobTypeLangLookup[] {
    return this.lookups.jobTypeLangs(query);
  }

  @Lookup('listSecretTypes', '/lookup_secret_type', 'List the secret types', Answers.list(SecretTypeLookup))
  listSecretTypes(@Query() query: SecretSupportsFilter): SecretTypeLookup[] {
    return this.lookups.secretTypes(query);
  }

  @Lookup(
    'listGitCredentialPatterns',
    '/lookup_git_credential_pattern',
    'List the rules for Git credentials',
    Answers.list(GitCredentialPatternLookup),
  )
  listGitCredentialPatterns(@Query() query: GitProviderFilter): GitCredentialPatternLookup[] {
    return this.lookups.gitCredentialPatterns(query);
  }

  @Lookup('listDiskTypes', '/lookup_disk_machine_type', 'List the disk types', Answers.list(DiskTypeLookup))
  listDiskTypes(): DiskTypeLookup[] {
    return this.lookups.all('diskTypes');
  }

  @Lookup(
    'listMachineArchitectureTypes',
    '/lookup_machine_architecture_type',
    'List the machine architectures',
    Answers.list(MachineArchitectureTypeLookup),
  )
  listMachineArchitectureTypes(): MachineArchitectureTypeLookup[] {
    return this.lookups.all('architectures');
  }

  @Lookup('listClusterTypes', '/lookup_cluster_type', 'List the cluster types', Answers.list(ClusterTypeLookup))
  listClusterTypes(): ClusterTypeLookup[] {
    return this.lookups.all('clusterTypes');
  }

  @Lookup(
    'listClusterInstanceStatuses',
    '/lookup_engine_cluster_instance_status',
    'List the states of clusters',
    Answers.list(EngineClusterInstanceStatus),
  )
  listClusterInstanceStatuses(): EngineClusterInstanceStatus[] {
    return this.lookups.all('clusterStatuses');
  }

  @Lookup(
    'listClusterInstanceNodeStatuses',
    '/lookup_engine_cluster_instance_node_status',
    'List the states of cluster nodes',
    Answers.list(EngineClusterInstanceNodeStatus),
  )
  listClusterInstanceNodeStatuses(): EngineClusterInstanceNodeStatus[] {
    return this.lookups.all('clusterNodeStatuses');
  }

  @Lookup(
    'listSparkComputeTypes',
    '/lookup_spark_compute_type',
    'List the Spark compute types',
    Answers.list(SparkComputeTypeLookup),
  )
  listSparkComputeTypes(): SparkComputeTypeLookup[] {
    return this.lookups.all('sparkComputeTypes');
  }

  @Lookup(
    'listSparkInfraVersions',
    '/lookup_spark_infra_version',
    'List the Spark versions and what they come with',
    Answers.list(SparkInfraVersionLookup),
  )
  listSparkInfraVersions(): SparkInfraVersionLookup[] {
    return this.lookups.all('sparkInfraVersions');
  }

  @Lookup(
    'listSparkJobStatuses',
    '/lookup_spark_job_status',
    'List the states of jobs',
    Answers.list(SparkJobStatusLookup),
  )
  listSparkJobStatuses(): SparkJobStatusLookup[] {
    return this.lookups.all('sparkJobStatuses');
  }

  @Lookup('listSparkJobTypes', '/lookup_spark_job_type', 'List the job types', Answers.list(SparkJobTypeLookup))
  listSparkJobTypes(): SparkJobTypeLookup[] {
    return this.lookups.all('sparkJobTypes');
  }

  @Lookup(
    'listWorkflowExecutionStates',
    '/lookup_workflow_execution_state',
    'List the states of workflow executions',
    Answers.list(WorkflowExecutionStateLookup),
  )
  listWorkflowExecutionStates(): WorkflowExecutionStateLookup[] {
    return this.lookups.all('workflowExecutionStates');
  }

  @Lookup('listWorkflowTypes', '/lookup_workflow_type', 'List the workflow types', Answers.list(WorkflowTypeLookup))
  listWorkflowTypes(): WorkflowTypeLookup[] {
    return this.lookups.all('workflowTypes');
  }

  @Lookup('listLinuxDistros', '/lookup_linux_distro', 'List the Linux distributions', Answers.list(LinuxDistroLookup))
  listLinuxDistros(): LinuxDistroLookup[] {
    return this.lookups.all('linuxDistros');
  }

  @Lookup(
    'listMetastoreCatalogTypes',
    '/lookup_metastore_catalog_type',
    'List the metastore catalog types',
    Answers.list(MetastoreCatalogTypeLookup),
  )
  listMetastoreCatalogTypes(): MetastoreCatalogTypeLookup[] {
    return this.lookups.all('metastoreCatalogTypes');
  }

  @Lookup('listStorageTypes', '/lookup_storage_type', 'List the storage types', Answers.list(StorageTypeLookup))
  listStorageTypes(): StorageTypeLookup[] {
    return this.lookups.all('storageTypes');
  }

  @Lookup(
    'listEncryptionTypes',
    '/lookup_encryption_type',
    'List the encryption types',
    Answers.list(EncryptionTypeLookup),
  )
  listEncryptionTypes(): EncryptionTypeLookup[] {
    return this.lookups.all('encryptionTypes');
  }

  @Lookup('listGitProviders', '/lookup_git_provider', 'List the Git providers', Answers.list(GitProviderLookup))
  listGitProviders(): GitProviderLookup[] {
    return this.lookups.all('gitProviders');
  }

  @Lookup('listWidgetTypes', '/lookup_widget_type', 'List the notebook widget types', Answers.list(WidgetTypeLookup))
  listWidgetTypes(): WidgetTypeLookup[] {
    return this.lookups.all('widgetTypes');
  }
}
