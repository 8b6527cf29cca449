import { dirname, join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { configurationXml } from '../harness/configuration-xml';
import { HiveMetastore } from '../harness/hive-metastore';
import type { ApiClient, Json } from '../e2e/harness/api-client';
import { SharedPlatform } from '../e2e/harness/shared-platform';
import { hiveSite } from '../samples/metastore-catalog';
import { done, SparkNode, REPORTING, results } from '../harness/spark-node';
import { newBucketName, storeServers } from './harness/store-servers';

jest.setTimeout(600_000);

/** Returns settings of Hadoop as settings of Spark. */
const ofSpark = (settings: Record<string, string>) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`spark.hadoop.${key}`, value]));

const program = (bucket: string) => `${REPORTING}
figure('delta', lambda: spark.sql("""CREATE TABLE shop.orders (id BIGINT NOT NULL COMMENT 'of the shop',
  lines ARRAY<STRUCT<sku: STRING, price: DECIMAL(10,2)>>, day DATE) USING delta PARTITIONED BY (day)
  LOCATION 's3a://${bucket}/shop/orders' TBLPROPERTIES ('k' = 'v')""").count())
figure('written', lambda: spark.sql("INSERT INTO shop.orders VALUES (1, array(), DATE'2026-01-01')").count())
figure('added', lambda: spark.sql("ALTER TABLE shop.orders ADD COLUMNS (note STRING)").count())
figure('iceberg', lambda: spark.sql("""CREATE TABLE ice.shop.visits (at TIMESTAMP, page STRING COMMENT 'path')
  USING iceberg PARTITIONED BY (days(at))""").count())
`;

// Real: API, Spark with Delta and Iceberg from Maven, a Hive metastore, an S3 server as the object store.
describe('tables of a Hive metastore in an object store', () => {
  const { hadoop: server, s3: strict } = storeServers();
  const bucket = newBucketName();
  const place = { 'fs.s3a.endpoint': server.url, 'fs.s3a.path.style.access': 'true' };
  const keys = { 'fs.s3a.access.key': server.accessKeyId, 'fs.s3a.secret.key': server.secretAccessKey };
  let node: SparkNode;
  let hive: HiveMetastore;
  let platform: SharedPlatform;
  let client: ApiClient;
  let workspace: number;

  beforeAll(async () => {
    const { url: endpoint, accessKeyId, secretAccessKey } = server;
    const credentials = { accessKeyId, secretAccessKey };
    const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    s3.destroy();
    node = new SparkNode();
    const jars = node.runtime.connectors;
    if (jars === null) throw new Error('The runtime has no connectors');
    const started = HiveMetastore.start({ settings: { ...place, ...keys }, jars });
    platform = await SharedPlatform.join('stores', 'store-tables');
    client = await platform.admin();
    hive = await started;
    await hive.createDatabase('shop', { locationUri: `s3a://${bucket}/warehouse/shop.db` });
    await makeTables(jars);
    workspace = await made('/workspace', 'workspace_id', { name: 'tables' });
  });

  afterAll(async () => {
    await Promise.all([node?.close(), hive?.stop(), platform?.close()]);
  });

  async function makeTables(connectors: string): Promise<void> {
    const settings = {
      ...ofSpark(place),
      'spark.hadoop.iceberg.engine.hive.lock-enabled': 'false',
      'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.ice.type': 'hive',
      'spark.sql.catalog.ice.uri': hive.uri,
      'spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
      'spark.sql.extensions': 'io.delta.sql.DeltaSparkSessionExtension',
      'spark.databricks.delta.snapshotPartitions': '1',
      'spark.driver.extraClassPath': join(connectors, '*'),
      // The packages are cached for the next test run.
      'spark.jars.ivy': join(dirname(node.runtime.javaHome), 'ivy'),
    };
    const run = await node.run({
      python: program(bucket),
      mounts: [],
      master: 'local[2]',
      metastore: { kind: 'hive', properties: { 'hive.metastore.uris': hive.uri } },
      packages: ['io.delta:delta-spark_2.12:3.3.2', 'org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1'],
      conf: Object.entries(settings).map(([key, value]) => `${key}=${value}`),
      // Keys must not be on a command line, because concurrent tests search command lines for the keys of this shared server.
      secrets: { env: {}, conf: ofSpark(keys) },
    });
    expect(results(done(run))).toEqual({ delta: 0, written: 0, added: 0, iceberg: 0 });
  }

  const made = async (path: string, id: string, body: object) => Number((await client.post(path, body))[id]);

  let count = 0;
  const catalog = (endpoint = server.url) => {
    count += 1;
    return made('/metastore/catalog/hive', 'metastore_catalog_id', {
      name: `hive-${count}`,
      hiveSiteXml: hiveSite(hive.uri),
      coreSiteXml: configurationXml({ 'fs.s3a.endpoint': endpoint }),
    });
  };
  const attach = async (catalogId: number, aws_secret_access_key: string) => {
    const name = `keys-${catalogId}`;
    const keys = { aws_access_key_id: server.accessKeyId, aws_secret_access_key, aws_default_region: 'us-east-1' };
    const basic = { secret_type: 'HIVE BASIC', username: 'spark', password: 'none asks for it' };
    const [storage, metastore] = [
      await made('/tenant/secret', 'tenant_secret_id', { name, secret_type: 'AWS ACCESS SECRET KEY PAIR', ...keys }),
      await made('/tenant/secret', 'tenant_secret_id', { name: `login-${catalogId}`, ...basic }),
    ];
    await made('/metastore/catalog/secret/tenant', 'metastore_catalog_secret_tenant_id', {
      metastore_catalog_id: catalogId,
      metastore_secrets_tenant_id: metastore,
      object_storage_secrets_tenant_id: storage,
    });
  };
  const columns = (id: number, table_name: string) =>
    client.request('GET', `/metastore/${id}/columns`, {
      query: { workspace_id: workspace, schema_name: 'shop', table_name },
    });
  const shown = async (id: number, table: string) =>
    ((await columns(id, table)).body as Json[]).map(({ name, type_text, type }) => [name, type_text, type]);

  it('show columns and a DDL as in Delta and Iceberg, with the secret of the store', async () => {
    const id = await catalog();
    await attach(id, server.secretAccessKey);
    expect(await shown(id, 'orders')).toEqual([
      ['id', 'bigint', 'column'],
      ['lines', 'array<struct<sku:string,price:decimal(10,2)>>', 'column'],
      ['day', 'date', 'partition'],
      ['note', 'string', 'column'],
    ]);
    expect(await shown(id, 'visits')).toEqual([
      ['at', 'timestamp', 'column'],
      ['page', 'string', 'column'],
    ]);
    const names = ['shop.orders', 'shop.visits'];
    const ddl = await client.post<Json[]>(`/metastore/${id}/table_ddl?workspace_id=${workspace}`, names);
    const [orders, visits] = ddl.flatMap((entry) => Object.values(entry as Record<string, string>));
    expect(orders).toMatch(/USING `delta`/);
    expect(orders).toContain(`s3a://${bucket}/shop/orders`);
    expect(orders).toMatch(/COMMENT 'of the shop'/);
    expect(visits).toMatch(/USING `iceberg`/);
    expect(visits).toContain('PARTITIONED BY (days(`at`))');
  });

  it('report the missing secret, and the store’s error for a wrong one', async () => {
    const without = await catalog();
    // The server for Spark may accept any key.
    const wrong = await catalog(strict.url);
    await attach(wrong, 'not-the-secret');
    for (const table of ['orders', 'visits']) {
      const missing = await columns(without, table);
      expect(missing).toMatchObject({ status: 404, body: { error_code: 'TABLE.MISSING' } });
      expect(missing.body.error_message).toMatch(
        /in an object store\. Attach an object storage secret to the catalog\./,
      );
      const refused = await columns(wrong, table);
      expect(refused).toMatchObject({ status: 400, body: { error_code: 'OBJECT_STORAGE.INVALID_CREDENTIALS' } });
      expect(refused.body.error_message).toMatch(/The object store does not accept the credential: ./);
    }
  });
});
