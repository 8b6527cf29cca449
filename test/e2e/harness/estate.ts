import { eventually } from '../../harness/eventually';
import { bodyOf, type Ids, type Part, PARTS } from '../../samples';
import type { ApiClient, Json } from './api-client';

/** The kinds of records that a cluster refers to; machines with their own disks need no volume. */
const DESCRIBED = (Object.keys(PARTS) as Part[]).filter((kind) => kind !== 'volume_conf');

/** The records that a cluster of local nodes refers to. */
export interface Estate {
  /** Ids of the records by `<kind>_id`. */
  ids: Ids;
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
  const ids: Record<string, number> = {};
  for (const kind of DESCRIBED) {
    const body = { name, ...bodyOf(kind, ids), ...(kind === 'cloud_env' ? { endpoint } : {}) };
    ids[`${kind}_id`] = Number((await client.post(PARTS[kind].path, body))[`${kind}_id`]);
  }
  const idOf = (kind: Part) => ids[`${kind}_id`] ?? 0;
  return {
    ids,
    credentialsConfId: idOf('credentials_conf'),
    networkConfId: idOf('network_conf'),
    bootDiskImageId: idOf('boot_disk_image'),
    cloudEnvId: idOf('cloud_env'),
    clusterConfId: idOf('cluster_conf'),
    sparkInfraVersionId,
  };
}

async function sparkInfraVersion(client: ApiClient, sparkVersion: string): Promise<number> {
  const versions: Json[] = await client.get('/lookup_spark_infra_version');
  const version = versions.find((row) => row.spark_version === sparkVersion);
  if (!version) throw new Error(`The lookups name no Spark ${sparkVersion}`);
  return version.spark_infra_version_id;
}

/** Returns the body of a cluster of one node, PLATFORM unless `fields` say otherwise. */
export function clusterBody(estate: Estate, name: string, fields: object = {}): Record<string, unknown> {
  return {
    name,
    ...bodyOf('cluster', estate.ids),
    spark_infra_version_id: estate.sparkInfraVersionId,
    ...fields,
  };
}

export async function createCluster(client: ApiClient, estate: Estate, name: string, fields: object = {}) {
  return Number((await client.post('/cluster', clusterBody(estate, name, fields))).cluster_id);
}

/** Waits for the status; throws with the reason if the cluster ends up in another one. */
export async function reachStatus(client: ApiClient, clusterId: number, status: string, timeoutMs = 180_000) {
  const what = `cluster ${clusterId} in ${status}`;
  const cluster = await eventually(
    async () => {
      const found = await client.get('/cluster', { cluster_id: clusterId });
      return found.cluster_status === status || found.cluster_status === 'ERROR' ? found : null;
    },
    { timeoutMs, what },
  );
  if (cluster.cluster_status !== status)
    throw new Error(`${what} not reached: ${await stateReason(client, clusterId)}`);
  return cluster;
}

/** Returns the reason of the cluster's current state. */
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
