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

const NO_AUTHOR = 'if the platform did it by itself';

/**
 * Fields that mean the same in every class that has them. A class in which such a name means something else describes the
 * field itself.
 */
export const FIELD_MEANINGS = {
  // Authors and times of records
  from_date: 'Since when the record exists. It never changes',
  last_update_date: 'When the record was last changed, or created',
  created_by: { is: 'The user who created the record', null: NO_AUTHOR },
  modified_by: { is: 'The user who last changed the record, or created it', null: NO_AUTHOR },
  created_by_user_id: { is: 'The user who created the record', null: NO_AUTHOR },
  modified_by_user_id: { is: 'The user who last changed the record, or created it', null: NO_AUTHOR },
  created_by_ids: 'Only records that one of these users created',
  modified_by_ids: 'Only records that one of these users last changed',
  tenant_id: { is: 'The tenant that owns the record. It never changes', null: 'if no tenant does' },
  description: { is: 'Free text for people', null: 'if there is none' },

  // Pages
  limit: 'Records per page',
  pageNumber: 'Number of the page, starting at 1',
  result_set: 'Where the page lies in the whole list',

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
  job_conf_id: 'Id of the job configuration',
  job_id: 'Id of the job, which is one run of a job configuration',
  kernel_id: { is: 'Id of the kernel, a UUID that a restart of the kernel replaces', null: 'if there is no kernel' },
  linux_distro_id: 'Id of the Linux distribution; `listLinuxDistros` lists them',
  machine_type_id: 'Id of the machine type; `listMachineTypes` lists them',
  metastore_catalog_id: { is: 'Id of the metastore catalog', null: 'if there is none' },
  mount_id: 'Id of the mount',
  network_conf_id: 'Id of the network configuration',
  node_number: 'Number of the node in its cluster, starting at 0',
  node_status_id: 'Id of one entry in the history of a node, which `listClusterNodeStates` lists',
  notebook_conf_id: 'Id of the notebook configuration',
  notebook_id: 'Id of the notebook instance, which is one run of a notebook configuration',
  object_storage_manager_id: { is: 'Id of the object storage manager', null: 'if there is none' },
  permission_id: 'Id of the permission',
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

  // Names
  cluster_name: 'Name of the cluster',
  display_name: { is: 'Name that is shown to people', null: 'if there is none' },
  group_name: 'Name of the group',
  username: 'Name with which the user signs in',
  workspace_name: 'Name of the workspace',
} as const satisfies Meanings;
