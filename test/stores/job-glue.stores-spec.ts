import { basename, dirname, join } from 'node:path';
import { CreateDatabaseCommand, GetTableCommand, GlueClient } from '@aws-sdk/client-glue';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { RunSpec } from '../../libs/contracts/agent-protocol';
import { done, SparkNode, REPORTING, results } from '../harness/spark-node';
import { newBucketName, storeServers } from './harness/store-servers';

jest.setTimeout(600_000);

const SECRET = 'hush-nobody-sees-this';
const program = (database: string) => `${REPORTING}
figure('catalog', lambda: spark.catalog.currentCatalog())
figure('made', lambda: spark.range(0, 100, 1, 4).writeTo('${database}.numbers').create())
figure('read', lambda: spark.table('glue.${database}.numbers').selectExpr('sum(id)').head()[0])
figure('own', lambda: spark.sql("CREATE TABLE spark_catalog.default.own USING parquet AS SELECT 1").count())
`;

// Real: the agent's parts of a node, Spark, Iceberg from Maven. Fake: Glue and S3, which moto serves.
describe('jobs of a cluster with AWS Glue', () => {
  const { url: endpoint } = storeServers().moto;
  const region = 'eu-west-1';
  const aws = { endpoint, region, credentials: { accessKeyId: 'AKIA', secretAccessKey: 'x' } };
  const glue = new GlueClient(aws);
  const s3 = new S3Client({ ...aws, forcePathStyle: true });
  let node: SparkNode;

  beforeAll(() => {
    node = new SparkNode();
  });

  afterAll(async () => {
    await node.close();
    glue.destroy();
    s3.destroy();
  });

  it('create and read Iceberg tables in it, in drivers and executors', async () => {
    const bucket = newBucketName();
    const configuration = { LocationConstraint: region } as const;
    await s3.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration: configuration }));
    const name = bucket.replaceAll('-', '_');
    const database = { Name: name, LocationUri: `s3://${bucket}/shop` };
    await glue.send(new CreateDatabaseCommand({ DatabaseInput: database }));
    const run: Partial<RunSpec> = {
      master: await node.startCluster(),
      metastore: { kind: 'glue', region, access_key_id: 'AKIA', secret_access_key: SECRET },
      conf: [
        `spark.sql.catalog.glue.glue.endpoint=${endpoint}`,
        `spark.sql.catalog.glue.s3.endpoint=${endpoint}`,
        'spark.sql.catalog.glue.s3.path-style-access=true',
        // The packages are cached for the next test run.
        `spark.jars.ivy=${join(dirname(node.runtime.javaHome), 'ivy')}`,
      ],
    };
    expect(results(done(await node.run({ python: program(name), mounts: [], ...run })))).toEqual({
      catalog: 'glue',
      made: null,
      read: 4950,
      own: 0,
    });
    const code = `SELECT concat('SAYS ', sum(id)) FROM ${name}.numbers;\n`;
    const sql = done(await node.run({ kind: 'sql', code, mounts: [], ...run }));
    expect(sql.stdout).toMatch(/^SAYS 4950$/m);
    const { Table: table } = await glue.send(new GetTableCommand({ DatabaseName: name, Name: 'numbers' }));
    expect(table?.Parameters).toMatchObject({ table_type: 'ICEBERG' });
    // The secrets to redact are stored next to the logs, out of the job's reach, as long as the logs.
    expect(node.filesWith(SECRET).map((path) => basename(path))).toContain('secret-values.json');
    // The logs of a run are masked when they are read. A line in another file says where the secret came from.
    const isGuarded = (line: string) => /^[^:]*\/runs\/\d+\/(secret-values\.json|stdout|stderr): /.test(line);
    expect(node.linesWith(SECRET).filter((line) => !isGuarded(line))).toEqual([]);
  });
});
