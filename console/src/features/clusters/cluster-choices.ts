import type {
  CloudEnvRead,
  ClusterCheck,
  ClusterConfRead,
  ClusterTypeLookup,
  DiskTypeLookup,
  MetastoreCatalogRead,
  MountRead,
  ObjectStorageManagerRead,
  SparkInfraVersionLookup,
} from 'managed-spark/types';
import { clusterTexts as t } from '../../shared/cluster-texts';
import type { FieldPath, Values } from './cluster-fields';
import type { Choice, Choices } from './cluster-form';

/** Everything that fields can be chosen from. */
export interface Records {
  environments: readonly CloudEnvRead[];
  machines: readonly ClusterConfRead[];
  versions: readonly SparkInfraVersionLookup[];
  types: readonly ClusterTypeLookup[];
  disks: readonly DiskTypeLookup[];
  catalogs: readonly MetastoreCatalogRead[];
  buckets: readonly ObjectStorageManagerRead[];
  mounts: readonly MountRead[];
}

const NONE: Choice = { value: '', label: t.none };

/** Returns what each field can be chosen from. What does not fit the rest has the API's reason. */
export function choicesOf(records: Records, values: Values, check: ClusterCheck | undefined): Choices {
  const reasonOf = (field: FieldPath, value: number) =>
    check?.misfits.find((one) => one.field === field && one.value === value)?.reason;
  const choice = (field: FieldPath, value: number, label: string): Choice => ({
    value: String(value),
    label,
    reason: reasonOf(field, value),
  });
  const provider = records.environments.find(({ cloud_env_id: id }) => String(id) === values.cloud_env_id)
    ?.cloud_provider.cloud_provider_id;
  return {
    cluster_type: records.types.map(({ name, description }) => ({
      value: name,
      label: name,
      hint: description ?? undefined,
    })),
    cloud_env_id: records.environments.map(({ cloud_env_id: id, cloud_env_name: name, cloud_provider: one }) =>
      choice('cloud_env_id', id, t.environment(name, one.name)),
    ),
    cluster_conf_id: records.machines.map(({ cluster_conf_id: id, cluster_conf_name: name, machine_type: type }) =>
      choice('cluster_conf_id', id, t.machine(name, type.name, type.vCPUs, type.memory)),
    ),
    spark_infra_version_id: records.versions.map((version) =>
      choice(
        'spark_infra_version_id',
        version.spark_infra_version_id,
        t.spark(version.spark_version, version.scala_version, version.python_version),
      ),
    ),
    disk_type_id: [
      NONE,
      ...records.disks
        .filter(({ cloud_provider: { cloud_provider_id: id } }) => id === provider)
        .map(({ disk_type_id: id, name }) => choice('disk_type_id', id, name)),
    ],
    metastore_catalog_id: [
      NONE,
      ...records.catalogs.map(({ metastore_catalog_id: id, name }) => choice('metastore_catalog_id', id, name)),
    ],
    object_storage_manager_id: [
      NONE,
      ...records.buckets.map(({ object_storage_manager_id: id, object_storage_manager_name: name }) =>
        choice('object_storage_manager_id', id, name),
      ),
    ],
    mount_ids: records.mounts.map(({ mount_id: id, name, mount_point: point }) =>
      choice('mount_ids', id, `${name} · ${point}`),
    ),
  };
}

/** Returns the values with the first machine and the newest Spark that fit, unless others were chosen. */
export function firstFitting(values: Values, records: Records, check: ClusterCheck | undefined): Values {
  if (!check) return values;
  const choices = choicesOf(records, values, check);
  const pick = (field: FieldPath): string =>
    values[field] || (choices[field]?.find(({ reason }) => reason === undefined)?.value ?? '');
  return {
    ...values,
    cluster_conf_id: pick('cluster_conf_id'),
    spark_infra_version_id: pick('spark_infra_version_id'),
  };
}
