import { eventually } from '../../../libs/testing/eventually';
import type { ApiClient, Json } from './api-client';

const ONPREM = 3;
const ONPREM_BASIC_AUTH = 3;
const UBUNTU = 1;
const X86_64 = 0;
/** 4 cores, 16 GB. */
const ONPREM_S_4 = 1486;

/** Everything that a cluster of local nodes is made of. */
export interface Estate {
  credentialsConfId: number;
  networkConfId: number;
  bootDiskImageId: number;
  cloudEnvId: number;
  clusterConfId: number;
  sparkInfraVersionId: number;
}

/**
 * Describes local infrastructure in the client's tenant, or that of another OnPrem endpoint; every record has the given name.
 * The Spark is named by its version, or by the id of its lookup.
 */
export async function describeEstate(
  client: ApiClient,
  spark: string | number,
  name = 'local',
  endpoint = 'local://',
): Promise<Estate> {
  const sparkInfraVersionId = typeof spark === 'number' ? spark : await sparkInfraVersion(client, spark);
  const secret = { USERNAME: 'local', PASSWORD: 'local' };
  const id = async (path: string, key: string, body: object) =>
    Number((await client.post(path, { name, ...body }))[`${key}_id`]);
  const credentialsConfId = await id('/credential_config', 'credentials_conf', {
    credential_type_id: ONPREM_BASIC_AUTH,
    base64_encoded_credentials: { encoded: Buffer.from(JSON.stringify(secret)).toString('base64') },
  });
  const networkConfId = await id('/machine/network', 'network_conf', {
    cloud_provider_id: ONPREM,
    bridge: 'vmbr0',
    model: 'virtio',
  });
  const bootDiskImageId = await id('/machine/boot_disk_image', 'boot_disk_image', {
    cloud_provider_id: ONPREM,
    linux_distro_id: UBUNTU,
    boot_disk_image: 'local',
    architecture_type_id: X86_64,
  });
  const cloudEnvId = await id('/cluster/cloud/environment', 'cloud_env', {
    cloud_provider_id: ONPREM,
    network_conf_id: networkConfId,
    credential_config_id: credentialsConfId,
    boot_disk_image_id: bootDiskImageId,
    endpoint,
  });
  const clusterConfId = await id('/cluster/conf', 'cluster_conf', { machine_type_id: ONPREM_S_4 });
  return { credentialsConfId, networkConfId, bootDiskImageId, cloudEnvId, clusterConfId, sparkInfraVersionId };
}

async function sparkInfraVersion(client: ApiClient, sparkVersion: string): Promise<number> {
  const versions: Json[] = await client.get('/lookup_spark_infra_version');
  const version = versions.find((row) => row.spark_version === sparkVersion);
  if (!version) throw new Error(`The lookups name no Spark ${sparkVersion}`);
  return version.spark_infra_version_id;
}

/** Body of a cluster of one node, PLATFORM unless `fields` say otherwise. */
export function clusterBody(estate: Estate, name: string, fields: object = {}): Record<string, unknown> {
  return {
    name,
    cluster_type: 'PLATFORM',
    cloud_env_id: estate.cloudEnvId,
    cluster_conf_id: estate.clusterConfId,
    spark_infra_version_id: estate.sparkInfraVersionId,
    min_instances: 1,
    max_instances: 1,
    is_spot_instance: false,
    enable_public_ip: false,
    ...fields,
  };
}

export async function createCluster(client: ApiClient, estate: Estate, name: string, fields: object = {}) {
  return Number((await client.post('/cluster', clusterBody(estate, name, fields))).cluster_id);
}

/** Waits for the status; a cluster that comes to rest in another one ends the wait with its reason. */
export async function reachStatus(client: ApiClient, clusterId: number, status: string, timeoutMs = 90_000) {
  const what = `cluster ${clusterId} in ${status}`;
  const cluster = await eventually(
    async () => {
      const found = await client.get('/cluster', { cluster_id: clusterId });
      return found.cluster_status === status || found.cluster_status === 'ERROR' ? found : null;
    },
    { timeoutMs, everyMs: 100, what },
  );
  if (cluster.cluster_status !== status)
    throw new Error(`${what} not reached: ${await stateReason(client, clusterId)}`);
  return cluster;
}

/** Why the cluster is in its present state. */
export async function stateReason(client: ApiClient, clusterId: number): Promise<string> {
  const { data } = await client.get('/cluster/status', { cluster_id: clusterId, limit: 1 });
  return data[0].reason;
}

export async function startCluster(client: ApiClient, clusterId: number): Promise<Json> {
  await client.post('/cluster/start', { cluster_id: clusterId });
  return reachStatus(client, clusterId, 'RUNNING');
}

export async function stopCluster(client: ApiClient, clusterId: number): Promise<Json> {
  await client.post('/cluster/stop', { cluster_id: clusterId });
  return reachStatus(client, clusterId, 'STOPPED');
}

export async function destroyCluster(client: ApiClient, clusterId: number): Promise<Json> {
  await client.post('/cluster/destroy', { cluster_id: clusterId });
  return reachStatus(client, clusterId, 'DESTROYED');
}
