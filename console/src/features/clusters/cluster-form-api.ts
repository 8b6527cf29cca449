import { queryOptions } from '@tanstack/react-query';
import {
  checkCluster,
  createCluster,
  listCloudEnvs,
  listClusterConfs,
  listClusterTypes,
  listDiskTypes,
  listMetastoreCatalogs,
  listMounts,
  listObjectStorageManagers,
  listSparkInfraVersions,
  updateCluster,
} from 'managed-spark/operations';
import type { CheckCluster, CreateCluster, UpdateCluster } from 'managed-spark/types';
import { api } from '../../api/client';

const MAX_RECORDS = 1000;
/** Lookups change only with a release, and the records of a tenant seldom. */
const STALE_MS = 60_000;

/** Everything that the fields of a cluster can be chosen from. */
export const clusterChoicesQuery = queryOptions({
  queryKey: ['cluster-choices'],
  queryFn: async ({ signal }) => {
    const page = { query: { limit: MAX_RECORDS }, signal };
    const [environments, machines, versions, types, disks, catalogs, buckets, mounts] = await Promise.all([
      api.call(listCloudEnvs, page),
      api.call(listClusterConfs, page),
      api.call(listSparkInfraVersions, { signal }),
      api.call(listClusterTypes, { signal }),
      api.call(listDiskTypes, { signal }),
      api.call(listMetastoreCatalogs, page),
      api.call(listObjectStorageManagers, page),
      api.call(listMounts, page),
    ]);
    return {
      environments: environments.data,
      machines: machines.data,
      versions: versions.toSorted((a, b) => b.spark_infra_version_id - a.spark_infra_version_id),
      types: types.toSorted((a, b) => a.cluster_type_id - b.cluster_type_id),
      disks,
      catalogs: catalogs.data,
      buckets: buckets.data,
      mounts: mounts.data,
    };
  },
  staleTime: STALE_MS,
});

/** Asks what a cluster lacks, what does not fit, and what it costs; the last answer stays until the next one. */
export const clusterCheckQuery = (body: CheckCluster) =>
  queryOptions({
    queryKey: ['cluster-check', body],
    queryFn: ({ signal }) => api.call(checkCluster, { body, signal }),
    placeholderData: (before) => before,
    gcTime: STALE_MS,
    retry: false,
  });

export async function makeCluster(body: CreateCluster): Promise<number> {
  return Number((await api.call(createCluster, { body })).cluster_id);
}

export async function changeCluster(clusterId: number, body: UpdateCluster): Promise<void> {
  await api.call(updateCluster, { query: { cluster_id: clusterId }, body });
}
