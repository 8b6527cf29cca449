import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import { Answers, Operation } from '../../../platform/http/operation';
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

/** What the reads of lookup tables share: any signed-in user may make them. */
const LOOKUP = { method: 'GET', tag: 'Lookups', access: Allow.signedIn } as const;

@Controller()
export class LookupsController {
  constructor(private readonly lookups: LookupsService) {}

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers',
    id: 'listCloudProviders',
    summary: 'List the cloud providers',
    answer: Answers.list(CloudProviderLookup),
  })
  listCloudProviders(): CloudProviderLookup[] {
    return this.lookups.all('cloudProviders');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}',
    id: 'getCloudProvider',
    summary: 'Get a cloud provider',
    answer: Answers.one(CloudProviderLookup),
  })
  getCloudProvider(@IdParam('cloud_provider_id') id: number): CloudProviderLookup {
    return this.lookups.cloudProvider(id);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_availability_zone',
    id: 'listAvailabilityZones',
    summary: 'List the availability zones of every provider',
    answer: Answers.page(AvailabilityZoneLookup),
  })
  listAvailabilityZones(@Query() query: PageQuery): Page<AvailabilityZoneLookup> {
    return this.lookups.zones(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}/machine/available/zones',
    id: 'listProviderAvailabilityZones',
    summary: 'List the availability zones of a provider',
    answer: Answers.page(AvailabilityZoneLookup),
  })
  listProviderAvailabilityZones(
    @IdParam('cloud_provider_id') providerId: number,
    @Query() query: PageOrAllQuery,
  ): Page<AvailabilityZoneLookup> {
    return this.lookups.zonesOf(providerId, query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}/machine/available/zones/{availability_zone_id}',
    id: 'getProviderAvailabilityZone',
    summary: 'Get an availability zone of a provider',
    answer: Answers.one(AvailabilityZoneLookup),
  })
  getProviderAvailabilityZone(
    @IdParam('cloud_provider_id') providerId: number,
    @IdParam('availability_zone_id') zoneId: number,
  ): AvailabilityZoneLookup {
    return this.lookups.zone(providerId, zoneId);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_machine_type',
    id: 'listMachineTypes',
    summary: 'List the machine types of every provider',
    answer: Answers.page(MachineTypeLookup),
  })
  listMachineTypes(@Query() query: PageOrAllQuery): Page<MachineTypeLookup> {
    return this.lookups.machineTypes(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}/machine/types',
    id: 'listProviderMachineTypes',
    summary: 'List the machine types of a provider',
    answer: Answers.page(MachineTypeLookup),
  })
  listProviderMachineTypes(
    @IdParam('cloud_provider_id') providerId: number,
    @Query() query: PageOrAllQuery,
  ): Page<MachineTypeLookup> {
    return this.lookups.machineTypesOf(providerId, query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}/machine/types/{machine_type_id}',
    id: 'getProviderMachineType',
    summary: 'Get a machine type of a provider',
    answer: Answers.one(MachineTypeLookup),
  })
  getProviderMachineType(
    @IdParam('cloud_provider_id') providerId: number,
    @IdParam('machine_type_id') machineTypeId: number,
  ): MachineTypeLookup {
    return this.lookups.machineType(providerId, machineTypeId);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_label_pattern',
    id: 'listCloudLabelPatterns',
    summary: 'List the rules for labels of cloud resources',
    answer: Answers.list(CloudLabelPatternLookup),
  })
  listCloudLabelPatterns(@Query() query: CloudProviderFilter): CloudLabelPatternLookup[] {
    return this.lookups.labelPatterns(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_credential_type',
    id: 'listCredentialTypes',
    summary: 'List the credential types',
    answer: Answers.list(CredentialTypeLookup),
  })
  listCredentialTypes(@Query() query: CloudProviderFilter): CredentialTypeLookup[] {
    return this.lookups.credentialTypes(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_job_type_lang',
    id: 'listSparkJobTypeLanguages',
    summary: 'List the languages of job types',
    answer: Answers.list(SparkJobTypeLangLookup),
  })
  listSparkJobTypeLanguages(@Query() query: JobTypeFilter): SparkJobTypeLangLookup[] {
    return this.lookups.jobTypeLangs(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_secret_type',
    id: 'listSecretTypes',
    summary: 'List the secret types',
    answer: Answers.list(SecretTypeLookup),
  })
  listSecretTypes(@Query() query: SecretSupportsFilter): SecretTypeLookup[] {
    return this.lookups.secretTypes(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_git_credential_pattern',
    id: 'listGitCredentialPatterns',
    summary: 'List the rules for Git credentials',
    answer: Answers.list(GitCredentialPatternLookup),
  })
  listGitCredentialPatterns(@Query() query: GitProviderFilter): GitCredentialPatternLookup[] {
    return this.lookups.gitCredentialPatterns(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_disk_machine_type',
    id: 'listDiskTypes',
    summary: 'List the disk types',
    answer: Answers.list(DiskTypeLookup),
  })
  listDiskTypes(): DiskTypeLookup[] {
    return this.lookups.all('diskTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_machine_architecture_type',
    id: 'listMachineArchitectureTypes',
    summary: 'List the machine architectures',
    answer: Answers.list(MachineArchitectureTypeLookup),
  })
  listMachineArchitectureTypes(): MachineArchitectureTypeLookup[] {
    return this.lookups.all('architectures');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cluster_type',
    id: 'listClusterTypes',
    summary: 'List the cluster types',
    answer: Answers.list(ClusterTypeLookup),
  })
  listClusterTypes(): ClusterTypeLookup[] {
    return this.lookups.all('clusterTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_engine_cluster_instance_status',
    id: 'listClusterInstanceStatuses',
    summary: 'List the states of clusters',
    answer: Answers.list(EngineClusterInstanceStatus),
  })
  listClusterInstanceStatuses(): EngineClusterInstanceStatus[] {
    return this.lookups.all('clusterStatuses');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_engine_cluster_instance_node_status',
    id: 'listClusterInstanceNodeStatuses',
    summary: 'List the states of cluster nodes',
    answer: Answers.list(EngineClusterInstanceNodeStatus),
  })
  listClusterInstanceNodeStatuses(): EngineClusterInstanceNodeStatus[] {
    return this.lookups.all('clusterNodeStatuses');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_compute_type',
    id: 'listSparkComputeTypes',
    summary: 'List the Spark compute types',
    answer: Answers.list(SparkComputeTypeLookup),
  })
  listSparkComputeTypes(): SparkComputeTypeLookup[] {
    return this.lookups.all('sparkComputeTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_infra_version',
    id: 'listSparkInfraVersions',
    summary: 'List the Spark versions and what they come with',
    answer: Answers.list(SparkInfraVersionLookup),
  })
  listSparkInfraVersions(): SparkInfraVersionLookup[] {
    return this.lookups.all('sparkInfraVersions');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_job_status',
    id: 'listSparkJobStatuses',
    summary: 'List the states of jobs',
    answer: Answers.list(SparkJobStatusLookup),
  })
  listSparkJobStatuses(): SparkJobStatusLookup[] {
    return this.lookups.all('sparkJobStatuses');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_job_type',
    id: 'listSparkJobTypes',
    summary: 'List the job types',
    answer: Answers.list(SparkJobTypeLookup),
  })
  listSparkJobTypes(): SparkJobTypeLookup[] {
    return this.lookups.all('sparkJobTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_workflow_execution_state',
    id: 'listWorkflowExecutionStates',
    summary: 'List the states of workflow executions',
    answer: Answers.list(WorkflowExecutionStateLookup),
  })
  listWorkflowExecutionStates(): WorkflowExecutionStateLookup[] {
    return this.lookups.all('workflowExecutionStates');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_workflow_type',
    id: 'listWorkflowTypes',
    summary: 'List the workflow types',
    answer: Answers.list(WorkflowTypeLookup),
  })
  listWorkflowTypes(): WorkflowTypeLookup[] {
    return this.lookups.all('workflowTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_linux_distro',
    id: 'listLinuxDistros',
    summary: 'List the Linux distributions',
    answer: Answers.list(LinuxDistroLookup),
  })
  listLinuxDistros(): LinuxDistroLookup[] {
    return this.lookups.all('linuxDistros');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_metastore_catalog_type',
    id: 'listMetastoreCatalogTypes',
    summary: 'List the metastore catalog types',
    answer: Answers.list(MetastoreCatalogTypeLookup),
  })
  listMetastoreCatalogTypes(): MetastoreCatalogTypeLookup[] {
    return this.lookups.all('metastoreCatalogTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_storage_type',
    id: 'listStorageTypes',
    summary: 'List the storage types',
    answer: Answers.list(StorageTypeLookup),
  })
  listStorageTypes(): StorageTypeLookup[] {
    return this.lookups.all('storageTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_encryption_type',
    id: 'listEncryptionTypes',
    summary: 'List the encryption types',
    answer: Answers.list(EncryptionTypeLookup),
  })
  listEncryptionTypes(): EncryptionTypeLookup[] {
    return this.lookups.all('encryptionTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_git_provider',
    id: 'listGitProviders',
    summary: 'List the Git providers',
    answer: Answers.list(GitProviderLookup),
  })
  listGitProviders(): GitProviderLookup[] {
    return this.lookups.all('gitProviders');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_widget_type',
    id: 'listWidgetTypes',
    summary: 'List the notebook widget types',
    answer: Answers.list(WidgetTypeLookup),
  })
  listWidgetTypes(): WidgetTypeLookup[] {
    return this.lookups.all('widgetTypes');
  }
}
