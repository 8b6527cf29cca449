/** Rows of the reference data that samples refer to. Ids in use never change their meaning. */
export const REFERENCE = {
  /** OnPrem, with its basic auth, the disks of its volumes, and 4 cores with 16 GB. */
  cloud_provider_id: 3,
  credential_type_id: 3,
  disk_type_id: 10,
  machine_type_id: 1486,
  /** Ubuntu on x86_64. */
  linux_distro_id: 1,
  architecture_type_id: 0,
  /** 3.5.3 */
  spark_infra_version_id: 5,
  /** Custom S3, and its type of credentials. */
  storage_type_id: 3,
  store_credential_type_id: 5,
  /** ENVIRONMENT VARIABLE */
  secret_type_id: 4,
} as const;
