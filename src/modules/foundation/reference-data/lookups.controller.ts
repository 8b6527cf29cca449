import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import { Responses, Operation } from '../../../platform/http/operation';
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
  SparkJobStatusLookup,
  SparkJobTypeLangLookup,
  SparkJobTypeLookup,
  StorageTypeLookup,
  WidgetTypeLookup,
  WorkflowExecutionStateLookup,
  WorkflowTypeLookup,
} from './dto/lookup-responses.dto';
import { CloudProviderFilter, GitProviderFilter, JobTypeFilter, SecretSupportsFilter } from './dto/lookup-queries.dto';
import { LookupsService } from './lookups.service';

const LOOKUP = { method: 'GET', tag: 'Lookups', access: Allow.signedIn } as const;

@Controller()
export class LookupsController {
  constructor(private readonly lookups: LookupsService) {}

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers',
    id: 'listCloudProviders',
    summary: 'List the cloud providers',
    description:
      'Returns the providers on which clusters can run. The list changes only with a release of the platform.',
    response: Responses.list(CloudProviderLookup),
  })
  listCloudProviders(): CloudProviderLookup[] {
    return this.lookups.all('cloudProviders');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}',
    id: 'getCloudProvider',
    summary: 'Get a cloud provider',
    description: 'Returns one provider by its id.',
    response: Responses.one(CloudProviderLookup),
  })
  getCloudProvider(@IdParam('cloud_provider_id') id: number): CloudProviderLookup {
    return this.lookups.cloudProvider(id);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_availability_zone',
    id: 'listAvailabilityZones',
    summary: 'List the availability zones of every provider',
    description:
      'Returns the zones of every provider, in which networks and cloud environments are. The list changes only with a release of the platform.',
    response: Responses.page(AvailabilityZoneLookup),
  })
  listAvailabilityZones(@Query() query: PageQuery): Page<AvailabilityZoneLookup> {
    return this.lookups.zones(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}/machine/available/zones',
    id: 'listProviderAvailabilityZones',
    summary: 'List the availability zones of a provider',
    description: 'Returns the zones of one provider.',
    response: Responses.page(AvailabilityZoneLookup),
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
    description: 'Returns one zone; a zone of another provider is a 404.',
    response: Responses.one(AvailabilityZoneLookup),
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
    description:
      'Returns the machine types of every provider, from which cluster configurations are made. The list changes only with a release of the platform.',
    response: Responses.page(MachineTypeLookup),
  })
  listMachineTypes(@Query() query: PageOrAllQuery): Page<MachineTypeLookup> {
    return this.lookups.machineTypes(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cloud_providers/{cloud_provider_id}/machine/types',
    id: 'listProviderMachineTypes',
    summary: 'List the machine types of a provider',
    description: 'Returns the machine types of one provider.',
    response: Responses.page(MachineTypeLookup),
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
    description: 'Returns one machine type; one of another provider is a 404.',
    response: Responses.one(MachineTypeLookup),
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
    description:
      'Returns the rule of each provider for keys and values of labels, or that of one. The list changes only with a release of the platform.',
    response: Responses.list(CloudLabelPatternLookup),
  })
  listCloudLabelPatterns(@Query() query: CloudProviderFilter): CloudLabelPatternLookup[] {
    return this.lookups.labelPatterns(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_credential_type',
    id: 'listCredentialTypes',
    summary: 'List the credential types',
    description:
      'Returns the types of credentials, of every provider or of one. The type determines the keys of credentials. The list changes only with a release of the platform.',
    response: Responses.list(CredentialTypeLookup),
  })
  listCredentialTypes(@Query() query: CloudProviderFilter): CredentialTypeLookup[] {
    return this.lookups.credentialTypes(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_job_type_lang',
    id: 'listSparkJobTypeLanguages',
    summary: 'List the languages of job types',
    description:
      'Returns the languages of job types, of every type or of some, and whether a single run can have its own arguments and properties. The list changes only with a release of the platform.',
    response: Responses.list(SparkJobTypeLangLookup),
  })
  listSparkJobTypeLanguages(@Query() query: JobTypeFilter): SparkJobTypeLangLookup[] {
    return this.lookups.jobTypeLangs(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_secret_type',
    id: 'listSecretTypes',
    summary: 'List the secret types',
    description:
      'Returns the types of secrets, or those that open a kind of metastore or store. The list changes only with a release of the platform.',
    response: Responses.list(SecretTypeLookup),
  })
  listSecretTypes(@Query() query: SecretSupportsFilter): SecretTypeLookup[] {
    return this.lookups.secretTypes(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_git_credential_pattern',
    id: 'listGitCredentialPatterns',
    summary: 'List the rules for Git credentials',
    description:
      'Returns the rules for user names and tokens of Git providers, or those of one. The list changes only with a release of the platform.',
    response: Responses.list(GitCredentialPatternLookup),
  })
  listGitCredentialPatterns(@Query() query: GitProviderFilter): GitCredentialPatternLookup[] {
    return this.lookups.gitCredentialPatterns(query);
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_disk_machine_type',
    id: 'listDiskTypes',
    summary: 'List the disk types',
    description:
      'Returns the disk types of every provider with their sizes, from which volume configurations are made. The list changes only with a release of the platform.',
    response: Responses.list(DiskTypeLookup),
  })
  listDiskTypes(): DiskTypeLookup[] {
    return this.lookups.all('diskTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_machine_architecture_type',
    id: 'listMachineArchitectureTypes',
    summary: 'List the machine architectures',
    description:
      'Returns the processor architectures of machine types and boot disk images. The list changes only with a release of the platform.',
    response: Responses.list(MachineArchitectureTypeLookup),
  })
  listMachineArchitectureTypes(): MachineArchitectureTypeLookup[] {
    return this.lookups.all('architectures');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_cluster_type',
    id: 'listClusterTypes',
    summary: 'List the cluster types',
    description:
      'Returns the types of clusters, which determine how Spark runs on their nodes. The list changes only with a release of the platform.',
    response: Responses.list(ClusterTypeLookup),
  })
  listClusterTypes(): ClusterTypeLookup[] {
    return this.lookups.all('clusterTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_engine_cluster_instance_status',
    id: 'listClusterInstanceStatuses',
    summary: 'List the states of clusters',
    description: 'Returns the states that clusters can have. The list changes only with a release of the platform.',
    response: Responses.list(EngineClusterInstanceStatus),
  })
  listClusterInstanceStatuses(): EngineClusterInstanceStatus[] {
    return this.lookups.all('clusterStatuses');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_engine_cluster_instance_node_status',
    id: 'listClusterInstanceNodeStatuses',
    summary: 'List the states of cluster nodes',
    description:
      'Returns the states that nodes of clusters can have. The list changes only with a release of the platform.',
    response: Responses.list(EngineClusterInstanceNodeStatus),
  })
  listClusterInstanceNodeStatuses(): EngineClusterInstanceNodeStatus[] {
    return this.lookups.all('clusterNodeStatuses');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_compute_type',
    id: 'listSparkComputeTypes',
    summary: 'List the Spark compute types',
    description:
      'Returns the kinds of computation that clients know. The list changes only with a release of the platform.',
    response: Responses.list(SparkComputeTypeLookup),
  })
  listSparkComputeTypes(): SparkComputeTypeLookup[] {
    return this.lookups.all('sparkComputeTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_job_status',
    id: 'listSparkJobStatuses',
    summary: 'List the states of jobs',
    description:
      'Returns the statuses that jobs and notebook instances can have. The list changes only with a release of the platform.',
    response: Responses.list(SparkJobStatusLookup),
  })
  listSparkJobStatuses(): SparkJobStatusLookup[] {
    return this.lookups.all('sparkJobStatuses');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_spark_job_type',
    id: 'listSparkJobTypes',
    summary: 'List the job types',
    description:
      'Returns the types of jobs with the names that clients show. The list changes only with a release of the platform.',
    response: Responses.list(SparkJobTypeLookup),
  })
  listSparkJobTypes(): SparkJobTypeLookup[] {
    return this.lookups.all('sparkJobTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_workflow_execution_state',
    id: 'listWorkflowExecutionStates',
    summary: 'List the states of workflow executions',
    description:
      'Returns the states that executions of workflows can have. The list changes only with a release of the platform.',
    response: Responses.list(WorkflowExecutionStateLookup),
  })
  listWorkflowExecutionStates(): WorkflowExecutionStateLookup[] {
    return this.lookups.all('workflowExecutionStates');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_workflow_type',
    id: 'listWorkflowTypes',
    summary: 'List the workflow types',
    description:
      'Returns the types of workflows that clients know. The list changes only with a release of the platform.',
    response: Responses.list(WorkflowTypeLookup),
  })
  listWorkflowTypes(): WorkflowTypeLookup[] {
    return this.lookups.all('workflowTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_linux_distro',
    id: 'listLinuxDistros',
    summary: 'List the Linux distributions',
    description:
      'Returns the Linux distributions that boot disk images can have. The list changes only with a release of the platform.',
    response: Responses.list(LinuxDistroLookup),
  })
  listLinuxDistros(): LinuxDistroLookup[] {
    return this.lookups.all('linuxDistros');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_metastore_catalog_type',
    id: 'listMetastoreCatalogTypes',
    summary: 'List the metastore catalog types',
    description:
      'Returns the types of metastores that catalogs can have. The list changes only with a release of the platform.',
    response: Responses.list(MetastoreCatalogTypeLookup),
  })
  listMetastoreCatalogTypes(): MetastoreCatalogTypeLookup[] {
    return this.lookups.all('metastoreCatalogTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_storage_type',
    id: 'listStorageTypes',
    summary: 'List the storage types',
    description:
      'Returns the types of object stores that mounts can have. The list changes only with a release of the platform.',
    response: Responses.list(StorageTypeLookup),
  })
  listStorageTypes(): StorageTypeLookup[] {
    return this.lookups.all('storageTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_encryption_type',
    id: 'listEncryptionTypes',
    summary: 'List the encryption types',
    description:
      'Returns the encryptions at rest that mounts can have, each of one provider. The list changes only with a release of the platform.',
    response: Responses.list(EncryptionTypeLookup),
  })
  listEncryptionTypes(): EncryptionTypeLookup[] {
    return this.lookups.all('encryptionTypes');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_git_provider',
    id: 'listGitProviders',
    summary: 'List the Git providers',
    description:
      'Returns the Git providers that clients know, with their terms for user name and password. The list changes only with a release of the platform.',
    response: Responses.list(GitProviderLookup),
  })
  listGitProviders(): GitProviderLookup[] {
    return this.lookups.all('gitProviders');
  }

  @Operation({
    ...LOOKUP,
    path: '/lookup_widget_type',
    id: 'listWidgetTypes',
    summary: 'List the notebook widget types',
    description:
      'Returns the types of notebook widgets that clients know. The list changes only with a release of the platform.',
    response: Responses.list(WidgetTypeLookup),
  })
  listWidgetTypes(): WidgetTypeLookup[] {
    return this.lookups.all('widgetTypes');
  }
}
