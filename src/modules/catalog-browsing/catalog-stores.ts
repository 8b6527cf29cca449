import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../platform/auth/principal';
import { conflict } from '../../platform/errors/domain-error';
import type { Tx } from '../../platform/persistence/sql';
import { parseConfEntry } from '../clusters/spark-conf.contract';
import type { CatalogPlace } from '../metastore-catalogs/catalog-place.contract';
import {
  AMAZON,
  type HadoopProperties,
  type S3Server,
  type S3Servers,
  s3ServerOf,
} from '../metastore-catalogs/s3-servers.contract';
import { CatalogStoresRepository, type ClusterWithStores } from './catalog-stores.repository';

const OF_SPARK = /^spark\.hadoop\.(fs\.s3a\..+)$/;

/** Finds the S3 servers that have the tables of catalogs. */
@Injectable()
export class CatalogStores {
  constructor(private readonly repository: CatalogStoresRepository) {}

  /**
   * Those that the catalog itself names; a Unity catalog has no place for that, so it is what its clusters tell their jobs. Their
   * stores are sent signatures and never a secret key, so that no secret has to be attached anew when a cluster changes.
   */
  async of(tx: Tx, scope: TenantScope, catalogId: number, { s3, target, name }: CatalogPlace): Promise<S3Servers> {
    if (target.kind !== 'unity') return { of: (bucket) => s3ServerOf(s3, bucket) ?? AMAZON };
    const clusters = (await this.repository.clusters(tx, scope, catalogId)).map(toldBy);
    return { of: (bucket) => agreed(name, bucket, clusters) };
  }
}

interface Told {
  cluster: string;
  properties: HadoopProperties;
}

function toldBy({ name, conf }: ClusterWithStores): Told {
  const entries = conf.flatMap((entry): [string, string][] => {
    const { key = '', value = '' } = parseConfEntry(entry) ?? {};
    const property = OF_SPARK.exec(key)?.[1];
    return property === undefined ? [] : [[property, value]];
  });
  return { cluster: name, properties: new Map(entries) };
}

function agreed(catalog: string, bucket: string, told: readonly Told[]): S3Server {
  const said = told.flatMap(({ cluster, properties }) => {
    const server = s3ServerOf(properties, bucket);
    return server === null ? [] : [{ cluster, server }];
  });
  const [first] = said;
  const other = said.find(({ server }) => server.endpoint !== first?.server.endpoint);
  if (!first || !other) return first?.server ?? AMAZON;
  throw conflict(
    'METASTORE_CATALOG.AMBIGUOUS_S3_ENDPOINT',
    `The clusters "${first.cluster}" and "${other.cluster}" with the catalog "${catalog}" name different S3 endpoints for the bucket "${bucket}". Let them name the same one in fs.s3a.bucket.${bucket}.endpoint.`,
  );
}
