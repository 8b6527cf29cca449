import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { conflict } from '../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { parseConfEntry } from '../../execution/clusters';
import {
  AMAZON,
  type CatalogLocation,
  type HadoopProperties,
  type S3Server,
  s3ServerOf,
  type S3Servers,
} from '../../infrastructure/metastores';
import { CatalogStoresRepository, type ClusterWithStores } from './catalog-stores.repository';

const S3A_PROPERTY = /^spark\.hadoop\.(fs\.s3a\..+)$/;

/** Finds the S3 servers that hold the tables of catalogs. */
@Injectable()
export class CatalogStores {
  constructor(private readonly repository: CatalogStoresRepository) {}

  /**
   * Returns the servers that the catalog names. A Unity catalog cannot name any, so the Spark properties of its clusters decide.
   * Stores receive signatures and never a secret key, so secrets stay attached when a cluster changes.
   */
  async of(tx: Tx, scope: TenantScope, catalogId: number, { s3, target, name }: CatalogLocation): Promise<S3Servers> {
    if (target.kind !== 'unity') return { of: (bucket) => s3ServerOf(s3, bucket) ?? AMAZON };
    const clusters = (await this.repository.clusters(tx, scope, catalogId)).map(propertiesOf);
    return { of: (bucket) => agreedServer(name, bucket, clusters) };
  }
}

interface ClusterProperties {
  cluster: string;
  properties: HadoopProperties;
}

function propertiesOf({ name, conf }: ClusterWithStores): ClusterProperties {
  const entries = conf.flatMap((entry): [string, string][] => {
    const { key = '', value = '' } = parseConfEntry(entry) ?? {};
    const property = S3A_PROPERTY.exec(key)?.[1];
    return property === undefined ? [] : [[property, value]];
  });
  return { cluster: name, properties: new Map(entries) };
}

function agreedServer(catalog: string, bucket: string, clusters: readonly ClusterProperties[]): S3Server {
  const named = clusters.flatMap(({ cluster, properties }) => {
    const server = s3ServerOf(properties, bucket);
    return server === null ? [] : [{ cluster, server }];
  });
  const [first] = named;
  const other = named.find(({ server }) => server.endpoint !== first?.server.endpoint);
  if (!first || !other) return first?.server ?? AMAZON;
  throw conflict(
    'METASTORE_CATALOG.AMBIGUOUS_S3_ENDPOINT',
    `The clusters "${first.cluster}" and "${other.cluster}" with the catalog "${catalog}" name different S3 endpoints for the bucket "${bucket}". Set spark.hadoop.fs.s3a.bucket.${bucket}.endpoint to the same endpoint in both.`,
  );
}
