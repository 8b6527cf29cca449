import type { CheckCluster, ClusterRead, CreateCluster, UpdateCluster } from 'managed-spark/types';
import type { clusterTexts } from '../../shared/cluster-texts';

export type FieldPath = keyof typeof clusterTexts.fields;
export type GroupName = keyof typeof clusterTexts.groups;

export interface ClusterField {
  path: FieldPath;
  /** `lines` has one element on each line, `pairs` a key and a value; `minutes` counts otherwise in the API. */
  kind: 'text' | 'number' | 'minutes' | 'lines' | 'pairs' | 'code' | 'switch' | 'choice' | 'choices';
  /** Only clusters of these types have the field. */
  of?: readonly string[];
}

const MS_PER_MINUTE = 60_000;
const SLOTS = 'engine_cluster_spark_config.max_parallel_spark_job_execution_per_instance';
const WORKERS = 'engine_cluster_spark_config.num_of_workers';

const field = (kind: ClusterField['kind'], path: FieldPath, of?: readonly string[]): ClusterField => ({
  ...{ kind, path },
  ...(of ? { of } : {}),
});

/** The fields of a cluster, as the form shows them. */
export const GROUPS: Readonly<Record<GroupName, readonly ClusterField[]>> = {
  what: [field('text', 'name'), field('text', 'description'), field('choice', 'cluster_type')],
  where: [
    field('choice', 'cloud_env_id'),
    field('choice', 'cluster_conf_id'),
    field('choice', 'spark_infra_version_id'),
  ],
  size: [
    field('number', 'min_instances'),
    field('number', 'max_instances'),
    field('number', WORKERS, ['CLUSTER', 'STANDALONE']),
    field('number', SLOTS),
    field('minutes', 'idle_timeout_ms'),
    field('number', 'clean_up_timeout'),
  ],
  machines: [
    field('switch', 'is_spot_instance'),
    field('switch', 'is_turbo_enabled'),
    field('switch', 'is_cuda_enabled'),
    field('switch', 'enable_public_ip'),
    field('switch', 'block_project_ssh_keys'),
    field('switch', 'keep_scratch_disk'),
    field('text', 'cloud_identity'),
    field('pairs', 'labels'),
    field('code', 'bootstrap_shell_script'),
  ],
  disks: [
    field('choice', 'disk_type_id'),
    field('number', 'size'),
    field('number', 'number_of_disks'),
    field('number', 'disk_iops'),
    field('number', 'disk_throughput_MB'),
  ],
  data: [
    field('choice', 'metastore_catalog_id'),
    field('choice', 'object_storage_manager_id'),
    field('choices', 'mount_ids'),
  ],
  spark: [
    field('lines', 'spark_config.conf'),
    field('lines', 'spark_config.env_var'),
    field('lines', 'spark_config.packages'),
    field('lines', 'spark_config.repositories'),
    field('lines', 'spark_config.jars'),
    field('lines', 'spark_config.files'),
    field('lines', 'spark_config.py-files'),
    field('lines', 'spark_config.archives'),
    field('pairs', 'spark_config.conf_secret'),
    field('pairs', 'spark_config.env_var_secret'),
  ],
};

export const FIELDS = Object.values(GROUPS).flat();

/** The texts in the fields of the form. */
export type Values = Readonly<Partial<Record<FieldPath, string>>>;

/** Returns what the form shows for a new cluster. */
export function newValues(clusterType: string): Values {
  return { cluster_type: clusterType, min_instances: '1', max_instances: '1', block_project_ssh_keys: 'true' };
}

export function isOf({ of }: ClusterField, clusterType: string | undefined): boolean {
  return of === undefined || (clusterType !== undefined && of.includes(clusterType));
}

/** Returns what the form shows for a cluster. The disks that come from its machine configuration are not its own. */
export function valuesOf(cluster: ClusterRead): Values {
  const volume = cluster.machine_volume_config;
  const ownDisks = volume?.volume_conf_id === null ? volume : null;
  const record: Record<string, unknown> = {
    ...cluster,
    cloud_env_id: cluster.cloud_env.cloud_env_id,
    cluster_conf_id: cluster.cluster_conf.cluster_conf_id,
    spark_infra_version_id: cluster.spark_infra_version.spark_infra_version_id,
    metastore_catalog_id: cluster.metastore_catalog?.metastore_catalog_id,
    object_storage_manager_id: cluster.object_storage_manager?.object_storage_manager_id,
    mount_ids: cluster.mounts.map(({ mount_id: id }) => id),
    disk_type_id: ownDisks?.disk_type.disk_type_id,
    size: ownDisks?.size,
    number_of_disks: ownDisks?.number_of_disks,
    disk_iops: ownDisks?.disk_iops,
    disk_throughput_MB: ownDisks?.disk_throughput_MB,
  };
  return Object.fromEntries(FIELDS.map(({ path, kind }) => [path, shownOf(at(record, path), kind)]));
}

function at(record: Record<string, unknown>, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], record);
}

function shownOf(value: unknown, kind: ClusterField['kind']): string {
  if (value === null || value === undefined) return '';
  if (kind === 'minutes') return String(Number(value) / MS_PER_MINUTE);
  if (kind === 'lines') return (value as string[]).join('\n');
  if (kind === 'choices') return (value as number[]).join(',');
  if (kind === 'pairs') {
    return Object.entries(value)
      .map(([key, text]) => `${key}=${String(text)}`)
      .join('\n');
  }
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
}

/** Returns the paths of the fields that differ. */
export function changedPaths(before: Values, after: Values): FieldPath[] {
  return FIELDS.map(({ path }) => path).filter((path) => (before[path] ?? '') !== (after[path] ?? ''));
}

/** Returns the request for a new cluster, without empty fields. */
export function newBody(values: Values): CheckCluster {
  const fields = FIELDS.filter((one) => isOf(one, values.cluster_type)).flatMap((one) => {
    const sent = sentOf(values[one.path] ?? '', one);
    return sent === null ? [] : [[one.path, sent] as const];
  });
  return bodyOf({ ...Object.fromEntries(fields), ...switchesOf(values) });
}

/** Both have no default, so they are always sent. */
function switchesOf(values: Values): Record<string, unknown> {
  return { is_spot_instance: values.is_spot_instance === 'true', enable_public_ip: values.enable_public_ip === 'true' };
}

/** Returns the request that changes some fields. Those that are empty now are unset. */
export function changesBody(values: Values, paths: readonly FieldPath[]): UpdateCluster {
  const changed = FIELDS.filter(({ path }) => paths.includes(path) && path !== 'cluster_type');
  return bodyOf(
    Object.fromEntries(changed.map((one) => [one.path, unsetOf(sentOf(values[one.path] ?? '', one), one)])),
  );
}

/** Fields that cannot be null. If they are empty, they keep their values. */
const NEVER_NULL: readonly FieldPath[] = [
  'name',
  'idle_timeout_ms',
  'clean_up_timeout',
  SLOTS,
  'size',
  'number_of_disks',
  'disk_iops',
  'disk_throughput_MB',
];

function unsetOf(value: unknown, { kind, path }: ClusterField): unknown {
  if (value !== null) return value;
  if (kind === 'choices') return [];
  if (path === 'labels') return {};
  return NEVER_NULL.includes(path) ? undefined : null;
}

function sentOf(text: string, { kind, path }: ClusterField): unknown {
  const value = text.trim();
  if (kind === 'switch') return value === 'true';
  if (value === '') return null;
  switch (kind) {
    case 'number':
      return numberOf(value);
    case 'minutes': {
      const minutes = Number(value);
      return Number.isFinite(minutes) ? Math.round(minutes * MS_PER_MINUTE) : value;
    }
    case 'choice':
      return path === 'cluster_type' ? value : Number(value);
    case 'choices':
      return value.split(',').map(Number);
    case 'lines':
      return value.split('\n').filter((line) => line.trim() !== '');
    case 'pairs':
      return Object.fromEntries(
        value
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(pairOf),
      );
    case 'code':
      return text;
    case 'text':
      return value;
  }
}

/** A text that is no number is sent as it is, so that the API says at the field what it needs. */
function numberOf(value: string): number | string {
  return /^-?\d+$/.test(value) ? Number(value) : value;
}

function pairOf(line: string): [string, string] {
  const position = line.indexOf('=');
  return position < 0 ? [line.trim(), ''] : [line.slice(0, position).trim(), line.slice(position + 1).trim()];
}

/** Returns a request in which a path with a point is a field of a record. */
function bodyOf(fields: Record<string, unknown>): CreateCluster {
  const body: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const [name = path, ...rest] = path.split('.');
    const key = rest.join('.');
    body[name] = key === '' ? value : { ...(body[name] as object | undefined), [key]: value };
  }
  return body as unknown as CreateCluster;
}
