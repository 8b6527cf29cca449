import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { RunMount } from '../../libs/contracts/agent-protocol';
import { done, SparkNode, REPORTING, results } from '../harness/spark-node';
import { newBucketName, storeServers } from './harness/store-servers';

jest.setTimeout(600_000);

const { url, accessKeyId, secretAccessKey } = storeServers().hadoop;
const s3 = new S3Client({
  endpoint: url,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId, secretAccessKey },
});
const [bucket, archive] = [newBucketName(), newBucketName()];

const s3Mount = (change: Partial<RunMount>): RunMount => ({
  mount_point: '/mnt/data',
  provider: 's3-compatible',
  bucket,
  path: 'team',
  read_only: false,
  encryption: null,
  extra_configs: {},
  credentials: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, S3_ENDPOINT: url },
  ...change,
});
const data = s3Mount({});
const reference = s3Mount({ mount_point: '/mnt/data/reference', bucket: archive, path: '', read_only: true });

async function keysIn(name: string): Promise<string[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: name }));
  return Contents.map(({ Key = '' }) => Key);
}

let node: SparkNode;

beforeAll(async () => {
  node = new SparkNode();
  for (const Bucket of [bucket, archive]) await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'team/x.txt', Body: 'a\nb\nc\n' }));
  await s3.send(new PutObjectCommand({ Bucket: archive, Key: 'codes.txt', Body: 'de\nfr\n' }));
});

afterAll(async () => {
  await node.close();
  s3.destroy();
});

describe('mounts in local mode', () => {
  it('are read and written at their mount points, including nested ones, and nothing else changes', async () => {
    const python = `${REPORTING}
from pyspark.sql import functions as F
figure('read', lambda: [row.value for row in spark.read.text('/mnt/data/x.txt').collect()])
spark.range(100).withColumn('k', F.col('id') % 2).write.partitionBy('k').parquet('/mnt/data/out')
figure('written', lambda: spark.read.parquet('/mnt/data/out').where('k = 1').count())
spark.range(7).write.mode('overwrite').parquet('/mnt/data/out')
figure('overwritten', lambda: spark.read.parquet('/mnt/data/out').count())
figure('rdd', lambda: sc.textFile('/mnt/data/*.txt').count())
figure('nested', lambda: sorted(row.value for row in spark.read.text('/mnt/data/reference').collect()))
Path = sc._jvm.org.apache.hadoop.fs.Path
fs = sc._jvm.org.apache.hadoop.fs.FileSystem.get(hadoop)
names = lambda path: sorted(status.getPath().getName() for status in fs.listStatus(Path(path)))
figure('listed', lambda: [name for name in names('/mnt/data') if name != 'out'])
figure('parent', lambda: 'data' in names('/mnt'))
figure('moved', lambda: fs.rename(Path('/mnt/data/out'), Path('/mnt/out')))
figure('gone', lambda: fs.delete(Path('/mnt'), True))

def stream():
    lines = spark.readStream.schema('value string').text('/mnt/data/*.txt')
    target = lines.writeStream.format('parquet').option('path', '/mnt/data/streamed')
    query = target.option('checkpointLocation', '/mnt/data/checkpoint').trigger(availableNow=True).start()
    query.awaitTermination(60)
    return spark.read.parquet('/mnt/data/streamed').count()
figure('streamed', stream)

here = os.getcwd()
spark.range(3).write.json('relative')
spark.range(4).write.json(here + '/absolute')
figure('relative', lambda: len(glob.glob('relative/part-*')) > 0 and spark.read.json('relative').count())
figure('absolute', lambda: spark.read.json('file:' + here + '/absolute').count())
figure('warehouse', lambda: spark.conf.get('spark.sql.warehouse.dir') == 'file:' + here + '/spark-warehouse')
spark.range(5).write.saveAsTable('kept')
figure('table', lambda: os.path.isdir('spark-warehouse/kept') and spark.table('kept').count())
`;
    const run = done(await node.run({ python, mounts: [data, reference] }));
    expect(results(run)).toEqual({
      read: ['a', 'b', 'c'],
      written: 50,
      overwritten: 7,
      rdd: 3,
      nested: ['de', 'fr'],
      listed: ['reference', 'x.txt'],
      parent: true,
      moved: expect.stringMatching(/^ERROR .*which is another mount/),
      gone: expect.stringMatching(/^ERROR .*\/mnt cannot be deleted/),
      streamed: 3,
      relative: 3,
      absolute: 4,
      warehouse: true,
      table: 5,
    });
    expect(await keysIn(bucket)).toEqual(
      expect.arrayContaining(['team/out/_SUCCESS', expect.stringMatching(/^team\/checkpoint\/commits\/0$/)]),
    );
  });

  it('accept paths with a scheme and names in any script', async () => {
    const python = `${REPORTING}
from pyspark import SparkFiles
inside = '/mnt/odd/'
text = lambda path: spark.read.text(path)
figure('space', lambda: [row.value for row in text(inside + 'a file.txt').collect()])
figure('schemes', lambda: [text(root + 'mnt/odd/a file.txt').count() for root in ('mounts:///', 'mounts:/')])
figure('glob', lambda: text('/mnt/odd/gr*/*.txt').count())
figure('braces', lambda: text(inside + '{a file,größe/ü 1}.txt').count())
figure('escape', lambda: text(inside + '50%25 off+.txt').count())
figure('dots', lambda: text('/mnt/data/../data/x.txt').count())
figure('added', lambda: [sc.addFile('mounts:/mnt/odd/a%20file.txt'), open(SparkFiles.get('a file.txt')).read()][1])
values = ['a b', 'größe', '50% off', 'x:y', 'a/b', 'a=b', '日本']
rows = spark.createDataFrame([(value, n) for n, value in enumerate(values)], 'k string, n int')
for mode in ('errorifexists', 'append'):
    rows.write.mode(mode).partitionBy('k').parquet(inside + 'neue tabelle')
figure('partitions', lambda: {row.k: row['sum(n)'] for row in spark.read.parquet(inside + 'neue tabelle').groupBy('k').sum('n').collect()})
figure('pruned', lambda: spark.read.parquet(inside + 'neue tabelle').where("k = '50% off'").count())
Path = sc._jvm.org.apache.hadoop.fs.Path
fs = sc._jvm.org.apache.hadoop.fs.FileSystem.get(hadoop)
figure('renamed', lambda: [fs.rename(Path(inside + 'neue tabelle'), Path(inside + 'größe/x')), fs.exists(Path(inside + 'neue tabelle'))])
figure('moved', lambda: spark.read.parquet(inside + 'größe/x').count())
figure('deleted', lambda: [fs.delete(Path(inside + 'größe'), True), fs.exists(Path(inside + 'größe'))])
figure('emptied', lambda: [fs.delete(Path('/mnt/odd'), True), len(fs.listStatus(Path('/mnt/odd')))])
figure('absent', lambda: text('/mnt/absent/x.txt').count())
figure('unwritten', lambda: spark.range(3).write.parquet('/mnt/absent/out'))
figure('others', lambda: text('/mnt/data/x.txt').count())
`;
    const folder = 'team/ein ordner/größe';
    for (const [key, body] of [
      ['a file.txt', 'a\nb\n'],
      ['größe/ü 1.txt', 'ü\n'],
      ['größe/日本.txt', '日\n'],
      ['50%25 off+.txt', 'e\n'],
      ['a:b.txt', 'c\n'],
    ] as const) {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${folder}/${key}`, Body: body }));
    }
    const odd = s3Mount({ mount_point: '/mnt/odd', path: folder });
    const absent = s3Mount({ mount_point: '/mnt/absent', bucket: newBucketName(), path: '' });
    const noBucket = expect.stringMatching(/^ERROR .*The specified bucket does not exist/);
    expect(results(done(await node.run({ python, mounts: [data, odd, absent] })))).toEqual({
      space: ['a', 'b'],
      schemes: [2, 2],
      glob: 2,
      braces: 3,
      escape: 1,
      dots: 3,
      added: 'a\nb\n',
      partitions: { 'a b': 0, größe: 2, '50% off': 4, 'x:y': 6, 'a/b': 8, 'a=b': 10, 日本: 12 },
      pruned: 2,
      renamed: [true, false],
      moved: 14,
      deleted: [true, false],
      emptied: [true, 0],
      absent: noBucket,
      unwritten: noBucket,
      others: 3,
    });
    const left = (await keysIn(bucket)).filter((key) => key.startsWith(`${folder}/`) && !key.endsWith('/'));
    expect(left).toEqual([]);
  });

  it('refuse every way of writing if they are read-only', async () => {
    const python = `${REPORTING}
Path = sc._jvm.org.apache.hadoop.fs.Path
fs = sc._jvm.org.apache.hadoop.fs.FileSystem.get(hadoop)
context = sc._jvm.org.apache.hadoop.fs.FileContext.getFileContext(hadoop)
inside = '/mnt/data/reference/'
figure('parquet', lambda: spark.range(3).write.parquet(inside + 'out'))
figure('overwrite', lambda: spark.range(3).write.mode('overwrite').parquet('/mnt/data/reference'))
figure('append', lambda: spark.range(3).write.mode('append').parquet('/mnt/data/reference'))
figure('rdd', lambda: sc.parallelize([1]).saveAsTextFile(inside + 'rdd'))
figure('create', lambda: fs.create(Path(inside + 'a')).close())
figure('createFile', lambda: fs.createFile(Path(inside + 'a')).build().close())
figure('delete', lambda: fs.delete(Path(inside + 'codes.txt'), False))
figure('rename', lambda: fs.rename(Path(inside + 'codes.txt'), Path(inside + 'b')))
figure('copy', lambda: fs.copyFromLocalFile(Path(__file__), Path(inside + 'c')))
figure('context', lambda: context.delete(Path(inside + 'codes.txt'), False))
figure('mkdir', lambda: fs.mkdirs(Path(inside + 'folder')))
figure('again', lambda: fs.mkdirs(Path(inside)))
`;
    const found = results(done(await node.run({ python, mounts: [data, reference] })));
    const { again, ...refused } = found;
    expect(again).toBe(true);
    expect(Object.keys(refused)).toHaveLength(11);
    for (const [way, text] of Object.entries(refused))
      expect({ [way]: text }).toEqual({
        [way]: expect.stringContaining(
          'org.apache.hadoop.security.AccessControlException: The mount /mnt/data/reference is read-only.',
        ),
      });
    expect(await keysIn(archive)).toEqual(['codes.txt']);
  });

  it("let the user's properties win and keep secrets where only the run can read them", async () => {
    const python = `${REPORTING}
name = 'fs.s3a.bucket.${bucket}.'
figure('own', lambda: [hadoop.get(name + 'connection.maximum'), hadoop.get(name + 'attempts.maximum')])
figure('overridden', lambda: hadoop.get(name + 'endpoint.region'))
figure('read', lambda: spark.read.text('/mnt/data/x.txt').count())
secret = hadoop.get(name + 'secret.key')
figure('known', lambda: len(secret))
def holds(path):
    try:
        return secret in open(path, errors='replace').read()
    except OSError:
        return False
figure('commands', lambda: [path for path in glob.glob('/proc/[0-9]*/cmdline') if holds(path)])
figure('environments', lambda: [pid for pid in ('self', os.getppid()) if holds(f'/proc/{pid}/environ')])
held = [os.path.join(root, name) for root, _, names in os.walk('..') for name in names]
figure('files', lambda: sorted(path for path in held if holds(path)))
figure('modes', lambda: sorted({oct(stat.S_IMODE(os.stat(path).st_mode)) for path in held if holds(path)}))
def logged(path):
    with open(path, errors='replace') as file:
        return 'spark.hadoop.fs.s3a.bucket' in file.read()
figure('event log', lambda: any(logged(path) for path in held if '/events/' in path))
figure('folder', lambda: oct(stat.S_IMODE(os.stat('../generated').st_mode)))
`;
    const extra_configs = { 'fs.s3a.connection.maximum': '31', 'fs.s3a.attempts.maximum': '2' };
    const conf = [
      `spark.hadoop.fs.s3a.bucket.${bucket}.endpoint.region=eu-central-7`,
      `spark.hadoop.fs.s3a.bucket.${bucket}.attempts.maximum=3`,
    ];
    const run = done(await node.run({ python, conf, mounts: [s3Mount({ extra_configs }), reference] }));
    expect(results(run)).toEqual({
      own: ['31', '3'],
      overridden: 'eu-central-7',
      read: 3,
      known: secretAccessKey.length,
      commands: [],
      environments: [],
      files: ['../generated/spark.properties'],
      modes: ['0o600'],
      // The check covers the event log, which holds the properties of the run.
      'event log': true,
      folder: '0o700',
    });
    expect(node.linesWith(secretAccessKey, accessKeyId)).toEqual([]);
  });

  it('work in SQL, Scala and jars', async () => {
    const sql = await node.run({
      kind: 'sql',
      code: `CREATE TABLE lines USING parquet LOCATION '/mnt/data/lines' AS SELECT value FROM text.\`/mnt/data/x.txt\`;
             SELECT concat('rows=', count(*)) FROM lines;`,
      mounts: [data],
    });
    expect(done(sql).stdout).toContain('rows=3');
    const scala = await node.run({
      kind: 'raw-scala',
      code: 'println("rows=" + spark.read.parquet("/mnt/data/lines").count())',
      mounts: [data],
    });
    expect(done(scala).stdout).toContain('rows=3');
    const jar = await node.run({
      kind: 'jar',
      application: { kind: 'uri', index: 0, name: 'any.jar', uri: `${node.runtime.connectors}/mount-file-system.jar` },
      class_name: 'org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver',
      arguments: ['-e', "SELECT concat('rows=', count(*)) FROM text.`/mnt/data/x.txt`"],
      mounts: [data],
    });
    expect(done(jar).stdout).toContain('rows=3');
  });

  it('use the class data archive like a run without mounts', async () => {
    if (node.runtime.classArchive === null) throw new Error('This runtime has no archive of classes.');
    const env = { SPARK_SUBMIT_OPTS: '-Xlog:cds -Xlog:class+load:file=../loaded' };
    const python = `${REPORTING}
lines = open('../loaded').read().split('\\n')
figure('shared', lambda: sum('source: shared objects file' in line for line in lines))
`;
    const { shared } = results(done(await node.run({ python, env, mounts: [data] })));
    expect(shared).toBeGreaterThan(3_000);
  });
});

describe('mounts on a standalone cluster', () => {
  it('work in executors, without secrets on their command line', async () => {
    const master = await node.startCluster();
    const python = `${REPORTING}
secret = hadoop.get('fs.s3a.bucket.${bucket}.secret.key')
spark.range(1000).repartition(4).write.mode('overwrite').parquet('/mnt/data/cluster')
figure('read', lambda: spark.read.parquet('/mnt/data/cluster').selectExpr('sum(id)').first()[0])
figure('executors', lambda: sc._jsc.sc().getExecutorMemoryStatus().size() - 1)
figure('rdd', lambda: sc.textFile('/mnt/data/x.txt').map(lambda line: line.upper()).collect())
figure('refused', lambda: spark.range(3).write.parquet('/mnt/data/reference/out'))
commands = [open(path, errors='replace').read() for path in glob.glob('/proc/[0-9]*/cmdline') if os.path.exists(path)]
figure('backends', lambda: any('CoarseGrainedExecutorBackend' in text for text in commands))
figure('leaks', lambda: sum(secret in text for text in commands))
`;
    const run = done(await node.run({ python, master, mounts: [data, reference] }));
    expect(results(run)).toEqual({
      read: 499_500,
      executors: 1,
      rdd: ['A', 'B', 'C'],
      refused: expect.stringContaining('The mount /mnt/data/reference is read-only.'),
      backends: true,
      leaks: 0,
    });
    expect(await keysIn(bucket)).toContain('team/cluster/_SUCCESS');
    expect(node.linesWith(secretAccessKey, accessKeyId)).toEqual([]);
  });
});

it('a node without connectors refuses a run with mounts and says so', async () => {
  const bare = new SparkNode({ connectors: null });
  try {
    const run = await bare.run({ python: 'print(1)', mounts: [data] });
    expect(run).toMatchObject({ outcome: 'error', reason: 'SUBMIT_FAILED', exit_code: null });
    expect(run.message).toBe('The run has mounts, but this node has no connectors to object stores.');
    expect(bare.linesWith(secretAccessKey)).toEqual([]);
  } finally {
    await bare.close();
  }
});
