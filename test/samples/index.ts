import { bootDiskImage } from './boot-disk-image';
import { cloudEnv } from './cloud-env';
import { cluster } from './cluster';
import { clusterConf } from './cluster-conf';
import { credentialsConf } from './credentials-conf';
import { dependencyRepository } from './dependency-repository';
import { group } from './group';
import { jobConf } from './job-conf';
import { metastoreCatalog } from './metastore-catalog';
import { mount } from './mount';
import { networkConf } from './network-conf';
import { objectStorageManager } from './object-storage-manager';
import type { Sample } from './sample';
import { tenantSecret, userSecret, workspaceSecret } from './scoped-secrets';
import { user } from './user';
import { volumeConf } from './volume-conf';
import { workspace } from './workspace';

type AnySample = Sample<object, object | null, object, string>;

/** What clusters are described with, each after those that it refers to. */
export const PARTS = {
  volume_conf: volumeConf,
  network_conf: networkConf,
  boot_disk_image: bootDiskImage,
  credentials_conf: credentialsConf,
  cloud_env: cloudEnv,
  cluster_conf: clusterConf,
} satisfies Record<string, AnySample>;

/** Every kind of record that has a sample, each after those that it refers to. */
export const SAMPLES = {
  ...PARTS,
  dependency_repository: dependencyRepository,
  metastore_catalog: metastoreCatalog,
  mount,
  object_storage_manager: objectStorageManager,
  cluster,
  workspace,
  job_conf: jobConf,
  user,
  group,
  tenant_secret: tenantSecret,
  workspace_secret: workspaceSecret,
  user_secret: userSecret,
} satisfies Record<string, AnySample>;

export type Kind = keyof typeof SAMPLES;
/** Each of them with its name. */
export const KINDS = Object.entries(SAMPLES) as [Kind, AnySample][];
export type Part = keyof typeof PARTS;
export type Ids = Readonly<Record<string, number>>;

/** The request that makes a record, as {@link Sample.body}, of ids of which some may be left out. */
export function bodyOf(kind: Kind, ids: Ids = {}): object {
  return (SAMPLES[kind] as AnySample).body(ids);
}

/** The columns of a record, as {@link Sample.row}. */
export function rowOf(kind: Kind, ids: Ids = {}): object {
  return (SAMPLES[kind] as AnySample).row(ids);
}

/** The table of a kind. */
export function tableOf(kind: Kind): string {
  return (SAMPLES[kind] as AnySample).table ?? `${kind}s`;
}
