import type { HiveOfRun, UnityOfRun, UnusableMetastore } from '../../../../libs/contracts/agent-protocol';
import type { MetastoreTarget } from '../../../../libs/metastore-clients/open-metastore';
import type { CatalogTypeName } from '../../foundation/reference-data';
import type { HiveConfiguration } from './hive-files';
import { type HadoopProperties, s3Endpoints, s3Properties } from './s3-servers';

/** Where a catalog's metastore and tables are. */
export interface CatalogPlace {
  name: string;
  type: CatalogTypeName;
  /** Changes whenever the catalog does. */
  version: string;
  target: MetastoreTarget;
  /** Catalogs of a Unity metastore that were chosen to be visible, the default one first; null for a metastore without catalogs. */
  unityCatalogs: readonly string[] | null;
  /** The properties with which the catalog itself names S3 servers. */
  s3: HadoopProperties;
  /** URI of the directory in which tables are created; null if the catalog does not say. */
  storagePath: string | null;
}

/** What the files of a Hive catalog say of it. */
export type HivePlace = Omit<CatalogPlace, 'name' | 'type' | 'version'>;

/** A catalog that each run opens with a secret. */
export interface LockedCatalog {
  kind: 'locked';
  name: string;
  /** Null for AWS Glue, which the secret alone says all of. */
  unity: Pick<UnityOfRun, 'endpoint' | 'catalogs'> | null;
}

/** What runs get of the catalog of their cluster. */
export type CatalogForRuns = HiveOfRun | UnusableMetastore | LockedCatalog;

/** A catalog that no run can begin with; `why` is a sentence. */
export function unusable(name: string, why: string): UnusableMetastore {
  return { kind: 'unusable', fault: `The metastore catalog "${name}" cannot be used: ${why}` };
}

const WAREHOUSE = 'hive.metastore.warehouse.dir';

export function hivePlaceOf({ site, krb5 }: HiveConfiguration): HivePlace {
  const { uris, login, properties } = site;
  return {
    target: { kind: 'hive', uris, login, krb5 },
    unityCatalogs: null,
    s3: s3Properties(properties),
    storagePath: properties.get(WAREHOUSE) ?? null,
  };
}

/** Whether secrets that open what the catalog leads to would go to other servers than before. */
export function leadsElsewhere(before: HiveConfiguration, after: HiveConfiguration): boolean {
  const servers = (hive: HiveConfiguration): string => {
    const { target, s3 } = hivePlaceOf(hive);
    return JSON.stringify([target, s3Endpoints(s3)]);
  };
  return servers(before) !== servers(after);
}
