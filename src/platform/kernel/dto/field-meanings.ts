/** Says what a field is; `null` says what null stands for, and is added to the text of a field that can be null. */
export type Meaning = string | { is: string; null: string };

/** Meanings of fields by their names on the wire. */
export type Meanings = Readonly<Record<string, Meaning>>;

/** Returns the description of a field with this meaning. */
export function worded(meaning: Meaning, nullable: boolean): string {
  if (typeof meaning === 'string') return meaning;
  return nullable ? `${meaning.is}; null ${meaning.null}` : meaning.is;
}

/** Returns the description of a field that means the same in every class; undefined for other names. */
export function meaningOf(name: string, nullable: boolean): string | undefined {
  const meaning = (FIELD_MEANINGS as Meanings)[name];
  return meaning === undefined ? undefined : worded(meaning, nullable);
}

const NO_AUTHOR = 'if the platform did';

/**
 * Fields that mean the same in every class that has them. A class in which such a name means something else describes the
 * field itself.
 */
export const FIELD_MEANINGS = {
  // Authors and times of records
  from_date: 'When the record was created. It never changes',
  last_update_date: 'When the record was last changed, or created',
  created_by: { is: 'The user who created the record', null: NO_AUTHOR },
  modified_by: { is: 'The user who last changed the record, or created it', null: NO_AUTHOR },
  created_by_user_id: { is: 'The user who created the record', null: NO_AUTHOR },
  modified_by_user_id: { is: 'The user who last changed the record, or created it', null: NO_AUTHOR },
  created_by_ids: 'Only records that one of these users created',
  modified_by_ids: 'Only records that one of these users last changed',
  tenant_id: { is: 'The tenant that owns the record. It never changes', null: 'if no tenant does' },
  description: { is: 'Free-text description', null: 'if there is none' },

  // Pages
  limit: 'Records per page',
  pageNumber: 'Number of the page, starting at 1',
  result_set: 'Position of the page in the whole list',

  // Ids. They are int64, never change and are not used again for another record.
  availability_zone_id: {
    is: 'Id of the availability zone; `listAvailabilityZones` lists them',
    null: 'if there is none',
  },
  boot_disk_image_id: 'Id of the boot disk image',
  cloud_env_id: 'Id of the cloud environment',
  cloud_provider_id: 'Id of the cloud provider: 0 GCP, 1 AWS, 2 Azure, 3 OnPrem, 4 OCI',
  cluster_conf_id: 'Id of the cluster configuration',
  cluster_id: 'Id of the cluster',
  credential_type_id: 'Id of the credential type; `listCredentialTypes` lists them',
  credentials_conf_id: 'Id of the credentials',
  disk_type_id: 'Id of the disk type; `listDiskTypes` lists them',
  encryption_type_id: {
    is: 'Id of the encryption at rest; `listEncryptionTypes` lists them',
    null: 'for the default of the store',
  },
  group_id: 'Id of the group',
  group_mail: { is: 'E-mail address of the group', null: 'if there is none' },
  group_object_id: { is: 'Id of the group in the external directory', null: 'for a group of the built-in directory' },
  group_type: { is: 'Type of the group in the external directory', null: 'for a group of the built-in directory' },
  job_conf_id: 'Id of the job configuration',
  job_id: 'Id of the job, which is one run of a job configuration',
  kernel_id: { is: 'Id of the kernel, a UUID that a restart of the kernel replaces', null: 'if there is no kernel' },
  linux_distro_id: 'Id of the Linux distribution; `listLinuxDistros` lists them',
  machine_type_id: 'Id of the machine type; `listMachineTypes` lists them',
  metastore_catalog_secret_tenant_id: 'Id of the attachment',
  metastore_catalog_secret_user_id: 'Id of the attachment',
  metastore_catalog_secret_workspace_id: 'Id of the attachment',
  metastore_secrets_tenant_id: { is: 'Id of the secret for the metastore', null: 'if there is none' },
  metastore_secrets_user_id: { is: 'Id of the secret for the metastore', null: 'if there is none' },
  metastore_secrets_workspace_id: { is: 'Id of the secret for the metastore', null: 'if there is none' },
  object_storage_secrets_tenant_id: { is: 'Id of the secret for the object store', null: 'if there is none' },
  object_storage_secrets_user_id: { is: 'Id of the secret for the object store', null: 'if there is none' },
  object_storage_secrets_workspace_id: { is: 'Id of the secret for the object store', null: 'if there is none' },
  metastore_catalog_id: { is: 'Id of the metastore catalog', null: 'if there is none' },
  mount_id: 'Id of the mount',
  network_conf_id: 'Id of the network configuration',
  node_number: 'Number of the node in its cluster, starting at 0',
  node_status_id: 'Id of one entry in the history of a node, which `listClusterNodeStates` lists',
  notebook_conf_id: 'Id of the notebook configuration',
  notebook_id: 'Id of the notebook instance, which is one run of a notebook configuration',
  object_storage_manager_id: { is: 'Id of the object storage manager', null: 'if there is none' },
  permission_id: 'Id of the permission',
  run_id: 'Id of the run: the job_id of a job, the notebook_id of a notebook instance',
  role_id: 'Id of the role; `listRoles` lists them',
  spark_infra_version_id: 'Id of the Spark version; `listSparkInfraVersions` lists them',
  storage_type_id: 'Id of the storage type; `listStorageTypes` lists them',
  user_id: { is: 'Id of the user', null: 'if the user is not known' },
  volume_conf_id: { is: 'Id of the volume configuration', null: 'if there is none' },
  workspace_id: 'Id of the workspace',

  // Workflows
  engine_cluster_instance_id: 'Id of the cluster, the same as cluster_id',
  workflow_job_id: 'Id of the workflow',
  workflow_job_instance_id: 'Id of this execution of the workflow',

  // Disks
  disk_iops: {
    is: 'I/O operations per second (IOPS) of each disk, if its type supports a choice',
    null: 'for the default of the type',
  },
  disk_throughput_MB: {
    is: 'Throughput of each disk in MB/s, if its type supports a choice',
    null: 'for the default of the type',
  },
  disk_type: 'The type of the disks',
  encrypted: 'True if the disks are encrypted by the provider',
  machine_volume_num: 'Number of disks of each machine, at least 1',
  machine_volume_strip_num: 'Number of disks that are striped into one, at least 1; 1 leaves the disks separate',

  // Parts of records
  availability_zone: { is: 'The availability zone', null: 'if there is none' },
  credential_type: 'The type of the credentials',
  linux_distro: 'The Linux distribution of the image',
  machine_architecture_type: 'The processor architecture',
  cloud_provider: 'The cloud provider',
  cluster_status: 'State of the cluster',
  mount: 'The mount',
  node_status: 'State of the node',
  workspace: 'The workspace',

  // Settings of providers
  boot_disk_image: "The provider's name of the image",
  bridge: { is: 'OnPrem: the network bridge of the hypervisor, such as vmbr0', null: 'for other providers' },
  cloud_project: {
    is: 'GCP: the project of the nodes; Azure: their resource group; AWS needs a value and does not use it',
    null: 'for other providers',
  },
  endpoint: {
    is: 'OnPrem: address of the hypervisor, or local:// for nodes on the machine of the platform',
    null: 'for other providers',
  },
  extra_configs: { is: 'Additional Hadoop properties of the store', null: 'for none' },
  is_read_only: 'True if jobs can only read the mount',
  model: { is: 'OnPrem: the model of the network card, such as virtio', null: 'for other providers' },
  mount_point: 'Path of the mount in jobs, such as /mnt/data',
  network_name: { is: 'GCP, AWS, Azure and OCI: the network', null: 'for other providers' },
  network_project_id: {
    is: 'GCP: the project of the network; Azure: its resource group; AWS needs a value and does not use it',
    null: 'for other providers',
  },
  network_tags: 'GCP: network tags of the machines; AWS, Azure and OCI: their security groups',
  onprem_node_names: { is: 'OnPrem: hosts of the hypervisor on which nodes may be placed', null: 'for any' },
  source: 'Directory in the bucket, such as s3a://bucket/path',
  subnet: { is: 'GCP, AWS, Azure and OCI: the subnet of the nodes', null: 'for other providers' },

  // Files
  file_id: 'Id of the file or directory, instead of its path',
  full_file_path: 'Path from the root, by which jobs also refer to the file',
  is_dir: 'True for a directory',

  // Names
  groupname: 'Name of the group',
  cluster_name: 'Name of the cluster',
  display_name: { is: 'Display name', null: 'if there is none' },
  group_name: 'Name of the group',
  username: 'Name that the user logs in with',
  workspace_name: 'Name of the workspace',
} as const satisfies Meanings;
