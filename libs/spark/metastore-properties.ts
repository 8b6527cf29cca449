import type { HiveOfRun, RunMetastore, UnityOfRun } from '../contracts/agent-protocol';
import { metastorePackages } from './metastore-packages';
import { SubmitError } from './submit-error';

/** Spark's name of the AWS Glue catalog. A run has only one, so its name on the platform does not matter. */
const GLUE = 'glue';
const WAREHOUSE = 'hive.metastore.warehouse.dir';
/** The path of Unity's API, which its client appends to the endpoint. */
const UNITY_API = /\/api\/2\.1\/unity-catalog\/*$/;

/** An environment with one of these has keys of its own; half of one pair with half of another would not work. */
const AWS_VARIABLES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

type Property = [name: string, value: string];

/**
 * Returns the Spark properties with which a run finds its tables in the metastore of its cluster. They may contain credentials, so
 * they belong in a file that only its owner can read. Throws a SubmitError for a metastore that cannot be used.
 * @param env environment of the run, without the metastore's variables
 */
export function metastoreProperties(
  metastore: RunMetastore | undefined,
  env: Readonly<Record<string, string>>,
): Property[] {
  switch (metastore?.kind) {
    case undefined:
      return [];
    case 'hive':
      return hiveProperties(metastore);
    case 'glue': {
      const executorVariables = Object.entries(metastoreVariables(metastore, env));
      return [
        ...glueProperties(metastore.region),
        ...executorVariables.map(([name, value]): Property => [`spark.executorEnv.${name}`, value]),
      ];
    }
    case 'unity':
      return unityProperties(metastore);
    case 'unusable':
      throw new SubmitError(metastore.fault);
  }
}

/** Returns the variables with which a driver reaches the metastore; none if the run has such keys of its own. */
export function metastoreVariables(
  metastore: RunMetastore | undefined,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  if (metastore?.kind !== 'glue' || AWS_VARIABLES.some((name) => name in env)) return {};
  return { AWS_ACCESS_KEY_ID: metastore.access_key_id, AWS_SECRET_ACCESS_KEY: metastore.secret_access_key };
}

/**
 * Returns the run's packages and those of the metastore's client. If both name a library, the run's version wins. Throws a SubmitError
 * if the client has no release for the Spark.
 */
export function withMetastorePackages(
  metastore: RunMetastore | undefined,
  packages: readonly string[],
  sparkVersion: string,
): string[] {
  const named = new Set(packages.map(libraryOf));
  const further = metastore ? metastorePackages(metastore.kind, sparkVersion) : [];
  if (further === null)
    throw new SubmitError(`No client of the metastore of this cluster has a release for Spark ${sparkVersion}.`);
  return [...packages, ...further.filter((coordinate) => !named.has(libraryOf(coordinate)))];
}

/** `group:artifact` of a Maven coordinate. */
function libraryOf(coordinate: string): string {
  return coordinate.trim().split(':', 2).join(':');
}

function hiveProperties({ properties }: HiveOfRun): Property[] {
  const warehouse = properties[WAREHOUSE];
  return [
    ['spark.sql.catalogImplementation', 'hive'],
    // Spark reads its own property, and warns about Hive's.
    ...(warehouse === undefined ? [] : [['spark.sql.warehouse.dir', warehouse] satisfies Property]),
    ...Object.entries(properties)
      .filter(([name]) => name !== WAREHOUSE)
      .map(([name, value]): Property => [`spark.hadoop.${name}`, value]),
  ];
}

function glueProperties(region: string): Property[] {
  const catalog = `spark.sql.catalog.${GLUE}`;
  return [
    ['spark.sql.extensions', 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions'],
    [catalog, 'org.apache.iceberg.spark.SparkCatalog'],
    [`${catalog}.catalog-impl`, 'org.apache.iceberg.aws.glue.GlueCatalog'],
    [`${catalog}.io-impl`, 'org.apache.iceberg.aws.s3.S3FileIO'],
    [`${catalog}.client.region`, region],
    ['spark.sql.defaultCatalog', GLUE],
  ];
}

/** Uses Unity's own API, which Databricks and the open server have under one path, for reads and writes; their Iceberg endpoints differ. */
function unityProperties({ endpoint, token, catalogs }: UnityOfRun): Property[] {
  const uri = endpoint.replace(UNITY_API, '');
  return [
    ['spark.sql.extensions', 'io.delta.sql.DeltaSparkSessionExtension'],
    // Delta requires it. This catalog has the tables that a job creates for itself and those named by path.
    ['spark.sql.catalog.spark_catalog', 'org.apache.spark.sql.delta.catalog.DeltaCatalog'],
    // Unity writes locations as s3, while Hadoop's client only handles s3a.
    ['spark.hadoop.fs.s3.impl', 'org.apache.hadoop.fs.s3a.S3AFileSystem'],
    ...catalogs.flatMap((name): Property[] => [
      [`spark.sql.catalog.${name}`, 'io.unitycatalog.spark.UCSingleCatalog'],
      [`spark.sql.catalog.${name}.uri`, uri],
      [`spark.sql.catalog.${name}.token`, token],
    ]),
    ...catalogs.slice(0, 1).map((name): Property => ['spark.sql.defaultCatalog', name]),
  ];
}
