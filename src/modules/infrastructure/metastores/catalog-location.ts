import type { HiveOfRun, UnityOfRun, UnusableMetastore } from '../../../../libs/contracts/agent-protocol';
import type { MetastoreTarget } from '../../../../libs/metastore-clients/open-metastore';
import type { CatalogTypeName } from '../../foundation/reference-data';
import type { HiveConfiguration } from './hive-files';
import { type HadoopProperties, s3Endpoints, s3Properties } from './s3-servers';

/** The servers and storage of a catalog. */
export interface CatalogLocation {
  name: string;
  type: CatalogTypeName;
  /** Changes with every update of the catalog. */
  version: string;
  target: MetastoreTarget;
  /** The selected catalogs of a Unity metastore, default catalog first; null for other metastores. */
  unityCatalogs: readonly string[] | null;
  /** Hadoop properties of the catalog that configure S3 servers. */
  s3: HadoopProperties;
  /** URI of the warehouse directory, where tables are created; null if the catalog does not configure one. */
  storagePath: string | null;
}

export type HiveLocation = Omit<CatalogLocation, 'name' | 'type' | 'version'>;

/** A catalog whose credentials each run takes from a secret. */
export interface LockedCatalog {
  kind: 'locked';
  name: string;
  /** Null for AWS Glue, where the secret holds everything that runs need. */
  unity: Pick<UnityOfRun, 'endpoint' | 'catalogs'> | null;
}

export type CatalogForRuns = HiveOfRun | UnusableMetastore | LockedCatalog;

/** @param reason a sentence */
export function unusable(name: string, reason: string): UnusableMetastore {
  return { kind: 'unusable', fault: `The metastore catalog "${name}" cannot be used: ${reason}` };
}

const WAREHOUSE = 'hive.metastore.warehouse.dir';

export function hiveLocation({ site, krb5 }: HiveConfiguration): HiveLocation {
  const { uris, login, properties } = site;
  return {
    target: { kind: 'hive', uris, login, krb5 },
    unityCatalogs: null,
    s3: s3Properties(properties),
    storagePath: properties.get(WAREHOUSE) ?? null,
  };
}

/** True if the change would send secrets to other servers. */
export function serversChanged(before: HiveConfiguration, after: HiveConfiguration): boolean {
  const servers = (hive: HiveConfiguration): string => {
    const { target, s3 } = hiveLocation(hive);
    return JSON.stringify([target, s3Endpoints(s3)]);
  };
  return servers(before) !== servers(after);
}
