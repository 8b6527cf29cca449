import { metastoreProperties, metastoreVariables, withMetastorePackages } from './metastore-properties';
import { SubmitError } from './submit-error';

const URIS = 'hive.metastore.uris';
const uri = 'thrift://metastore.example.org:9083';
const glue = { kind: 'glue', region: 'eu-west-1', access_key_id: 'AKIA', secret_access_key: 'hush' } as const;
const unity = {
  kind: 'unity',
  endpoint: 'https://uc.example.org',
  token: 'hush',
  catalogs: ['main', 'si-de'],
} as const;

describe('metastoreProperties', () => {
  it('point a run to its Hive metastore', () => {
    const properties = { [URIS]: uri, 'fs.s3a.endpoint': 'https://s3.example.org' };
    expect(metastoreProperties({ kind: 'hive', properties }, {})).toEqual([
      ['spark.sql.catalogImplementation', 'hive'],
      [`spark.hadoop.${URIS}`, uri],
      ['spark.hadoop.fs.s3a.endpoint', 'https://s3.example.org'],
    ]);
  });

  it("name the warehouse by Spark's own property", () => {
    const properties = { [URIS]: uri, 'hive.metastore.warehouse.dir': 's3a://bucket/warehouse' };
    expect(metastoreProperties({ kind: 'hive', properties }, {})).toEqual([
      ['spark.sql.catalogImplementation', 'hive'],
      ['spark.sql.warehouse.dir', 's3a://bucket/warehouse'],
      [`spark.hadoop.${URIS}`, uri],
    ]);
  });

  it('make AWS Glue the default catalog, with the keys in the environment of executors', () => {
    expect(metastoreProperties(glue, { OTHER: 'x' })).toEqual([
      ['spark.sql.extensions', 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions'],
      ['spark.sql.catalog.glue', 'org.apache.iceberg.spark.SparkCatalog'],
      ['spark.sql.catalog.glue.catalog-impl', 'org.apache.iceberg.aws.glue.GlueCatalog'],
      ['spark.sql.catalog.glue.io-impl', 'org.apache.iceberg.aws.s3.S3FileIO'],
      ['spark.sql.catalog.glue.client.region', 'eu-west-1'],
      ['spark.sql.defaultCatalog', 'glue'],
      ['spark.executorEnv.AWS_ACCESS_KEY_ID', 'AKIA'],
      ['spark.executorEnv.AWS_SECRET_ACCESS_KEY', 'hush'],
    ]);
  });

  it('contain every selected catalog of Unity, with the first as the default', () => {
    const catalog = (name: string) => [
      [`spark.sql.catalog.${name}`, 'io.unitycatalog.spark.UCSingleCatalog'],
      [`spark.sql.catalog.${name}.uri`, 'https://uc.example.org'],
      [`spark.sql.catalog.${name}.token`, 'hush'],
    ];
    expect(metastoreProperties({ ...unity, catalogs: [...unity.catalogs] }, {})).toEqual([
      ['spark.sql.extensions', 'io.delta.sql.DeltaSparkSessionExtension'],
      ['spark.sql.catalog.spark_catalog', 'org.apache.spark.sql.delta.catalog.DeltaCatalog'],
      ['spark.hadoop.fs.s3.impl', 'org.apache.hadoop.fs.s3a.S3AFileSystem'],
      ...catalog('main'),
      ...catalog('si-de'),
      ['spark.sql.defaultCatalog', 'main'],
    ]);
  });

  it.each([
    ['https://uc.example.org/api/2.1/unity-catalog', 'https://uc.example.org'],
    ['https://uc.example.org/api/2.1/unity-catalog/', 'https://uc.example.org'],
    ['http://uc.example.org:8080/', 'http://uc.example.org:8080/'],
    ['https://uc.example.org/api/2.1/unity-catalog/more', 'https://uc.example.org/api/2.1/unity-catalog/more'],
  ])('names the server of %s without the path of its API', (endpoint, server) => {
    expect(metastoreProperties({ ...unity, endpoint, catalogs: ['main'] }, {})).toContainEqual([
      'spark.sql.catalog.main.uri',
      server,
    ]);
  });

  it('are empty for a run without a metastore, and refuse an unusable one', () => {
    expect(metastoreProperties(undefined, {})).toEqual([]);
    const broken = { kind: 'unusable', fault: 'The catalog was deleted.' } as const;
    expect(() => metastoreProperties(broken, {})).toThrow(new SubmitError('The catalog was deleted.'));
  });
});

describe('metastoreVariables', () => {
  it('are the keys of AWS Glue', () => {
    expect(metastoreVariables(glue, {})).toEqual({ AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'hush' });
    expect(metastoreVariables({ kind: 'hive', properties: {} }, {})).toEqual({});
  });

  it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'])(
    'are not mixed with the keys of a run that has its own %s',
    (name) => {
      const env = { [name]: 'own' };
      expect(metastoreVariables(glue, env)).toEqual({});
      expect(JSON.stringify(metastoreProperties(glue, env))).not.toContain('hush');
    },
  );
});

describe('withMetastorePackages', () => {
  it("adds the libraries of the metastore's client", () => {
    expect(withMetastorePackages(glue, ['a:b:1'], '3.5.9')).toEqual([
      'a:b:1',
      'org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1',
      'org.apache.iceberg:iceberg-aws-bundle:1.10.1',
    ]);
    expect(withMetastorePackages(undefined, ['a:b:1'], '4.3.0')).toEqual(['a:b:1']);
  });

  it('keeps the version of a library that the run names', () => {
    const own = [
      'io.delta:delta-spark_2.12:3.2.1',
      ' io.unitycatalog:unitycatalog-spark_2.12:0.2.0',
      'io.delta:delta-spark_2.13:3.3.2',
    ];
    expect(withMetastorePackages({ ...unity, catalogs: ['main'] }, own, '3.5.9')).toEqual(own);
  });
});
