import type { ApiClient } from '../../e2e/harness/api-client';
import { encodedCredentials } from '../../samples/sample';

/** Description of clusters at a provider, with ids of the lookups. */
export interface CloudDescription {
  name: string;
  providerId: number;
  /** Absent if the provider has no zones. */
  zoneId?: number;
  /** URL of an own hypervisor. */
  endpoint?: string;
  credentialTypeId: number;
  credentials: Record<string, string>;
  /** Network configuration in the provider's form. */
  network: object;
  /** Project or resource group; absent if the provider has none. */
  cloudProject?: string;
  image: string;
  machineTypeId: number;
  diskTypeId: number;
  encrypted?: boolean;
}

/** Fields of a cluster that name its place and resources. */
export interface CloudEstate {
  cloud_env_id: number;
  cluster_conf_id: number;
  spark_infra_version_id: number;
}

/** Creates the configurations for a provider in the client's tenant. */
export async function describeCloud(
  client: ApiClient,
  sparkVersion: string,
  cloud: CloudDescription,
): Promise<CloudEstate> {
  const { name, providerId: cloud_provider_id, cloudProject: cloud_project, endpoint } = cloud;
  const idOf = async (path: string, body: object, key: string) =>
    Number((await client.post(path, { name, ...body }))[key]);
  const zone = { cloud_provider_id, availability_zone_id: cloud.zoneId };
  const network_conf_id = await idOf('/machine/network', { ...zone, ...cloud.network }, 'network_conf_id');
  const keys = {
    credential_type_id: cloud.credentialTypeId,
    base64_encoded_credentials: encodedCredentials(cloud.credentials),
  };
  const credential_config_id = await idOf('/credential_config', keys, 'credentials_conf_id');
  const image = { cloud_provider_id, linux_distro_id: 0, architecture_type_id: 0, boot_disk_image: cloud.image };
  const boot_disk_image_id = await idOf('/machine/boot_disk_image', image, 'boot_disk_image_id');
  const parts = { network_conf_id, credential_config_id, boot_disk_image_id, cloud_project, endpoint };
  const cloud_env_id = await idOf('/cluster/cloud/environment', { ...zone, ...parts }, 'cloud_env_id');
  const disk = { disk_type_id: cloud.diskTypeId, size: 50, encrypted: cloud.encrypted ?? false };
  const number = { machine_volume_num: 1, machine_volume_strip_num: 1 };
  const volume_conf_id = await idOf('/machine/volume', { ...disk, ...number }, 'volume_conf_id');
  const machine = { machine_type_id: cloud.machineTypeId, volume_conf_id };
  const cluster_conf_id = await idOf('/cluster/conf', machine, 'cluster_conf_id');
  const versions: { spark_version: string; spark_infra_version_id: number }[] =
    await client.get('/lookup_spark_infra_version');
  const spark = versions.find(({ spark_version }) => spark_version === sparkVersion);
  return { cloud_env_id, cluster_conf_id, spark_infra_version_id: spark?.spark_infra_version_id ?? 0 };
}
