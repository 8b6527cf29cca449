import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { ApiClient, Json } from '../e2e/harness/api-client';
import { createCluster, describeEstate, destroyCluster, type Estate, startCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { SharedPlatform } from '../e2e/harness/shared-platform';
import { bodyOf } from '../samples';
import { ofStore } from '../samples/credentials-conf';
import { newBucketName, storeServers } from './harness/store-servers';

jest.setTimeout(600_000);

const STORE = 'file:///platform/object-storage-manager';

const MAIN = `
import json
import helper
from pyspark import SparkFiles
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
numbers = spark.read.csv('/mnt/data/numbers.csv', header=True, inferSchema=True)
numbers.selectExpr('n * 2 AS n').write.mode('overwrite').parquet('/mnt/data/doubled')
print('REPORT ' + json.dumps({
    'sum': numbers.agg({'n': 'sum'}).collect()[0][0],
    'doubled': spark.read.parquet('/mnt/data/doubled').agg({'n': 'sum'}).collect()[0][0],
    'named': open(SparkFiles.get('a name.txt')).read(),
    'helper': helper.NAME,
}))
`;

// Real: API, worker, Spark on local nodes, and an S3 server as the object store.
describe('object storage', () => {
  const { hadoop: server } = storeServers();
  const bucket = newBucketName();
  let platform: SharedPlatform;
  let client: ApiClient;
  let estate: Estate;
  let desk: JobDesk;
  let managerId: number;
  let mountId: number;
  let mountCredentialsId: number;
  let clusterId: number;

  beforeAll(async () => {
    await createBucket();
    platform = await SharedPlatform.join('stores', 'object-storage');
    client = await platform.admin();
    estate = await describeEstate(client, platform.runtime.sparkVersion);
    desk = await JobDesk.open(client, 'storage');
    const credentialsId = await storeCredentials('store');
    mountCredentialsId = await storeCredentials('store-of-mounts');
    managerId = await made('/object_storage_manager', 'object_storage_manager_id', {
      name: 'landing',
      ...bodyOf('object_storage_manager', { credentials_conf_id: credentialsId }),
      object_storage_bucket_name: bucket,
    });
    mountId = await made('/cluster/mount', 'mount_id', {
      name: 'Data',
      ...bodyOf('mount', { credentials_conf_id: mountCredentialsId }),
      source: `s3a://${bucket}/data`,
    });
    clusterId = await createCluster(client, estate, 'with-storage', {
      object_storage_manager_id: managerId,
      mount_ids: [mountId],
      spark_config: { 'py-files': [`${STORE}/code/helper.py`] },
    });
    await startCluster(client, clusterId);
  });

  afterAll(() => platform?.close());

  async function createBucket(): Promise<void> {
    const { url: endpoint, accessKeyId, secretAccessKey } = server;
    const credentials = { accessKeyId, secretAccessKey };
    const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    s3.destroy();
  }

  async function storeCredentials(name: string): Promise<number> {
    const { url, accessKeyId, secretAccessKey } = server;
    const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, S3_ENDPOINT: url };
    return made('/credential_config', 'credentials_conf_id', { name, ...ofStore(keys) });
  }

  async function made(path: string, key: string, body: object): Promise<number> {
    return Number((await client.post(path, body))[key]);
  }

  const upload = (path: string, data: string) =>
    client.upload('/object_storage_manager/files', data, {
      query: { object_storage_manager_id: managerId, path, overwrite: true },
    });
  const filesIn = async (file_path: string): Promise<Json[]> =>
    (await client.get('/object_storage_manager/files', { object_storage_manager_id: managerId, file_path })).data;

  it('provides jobs with files, and with directories at mount points', async () => {
    await upload('code/main.py', MAIN);
    await upload('code/helper.py', 'NAME = "of the store"\n');
    await upload('a name.txt', 'hello from the store');
    await upload('data/numbers.csv', 'n\n1\n2\n39\n');
    const job = await desk.succeed(clusterId, 'report', {
      job_type: 'Python3',
      command: `${STORE}/code/main.py`,
      files: [`${STORE}/a name.txt`],
    });
    const [, report] = /^REPORT (.*)$/m.exec(await desk.log(job.job_id, 'stdout')) ?? [];
    expect(JSON.parse(report ?? '{}')).toEqual({
      sum: 42,
      doubled: 84,
      named: 'hello from the store',
      helper: 'of the store',
    });
    // The directory that the job wrote at the mount point is in the bucket.
    const written = await filesIn('data/doubled');
    expect(written.map(({ file_name }) => file_name)).toContain('_SUCCESS');
    expect(written.map(({ file_name }) => file_name)).toContainEqual(expect.stringMatching(/^part-.*\.parquet$/));
    for (const stream of ['stdout', 'stderr'] as const) {
      expect(await desk.log(job.job_id, stream)).not.toContain(server.secretAccessKey);
    }
  });

  it('ends a job with a missing file with the reason', async () => {
    const job = await desk.complete(clusterId, 'absent', { job_type: 'Python3', command: `${STORE}/code/absent.py` });
    expect(job).toMatchObject({ job_status: 'ERROR', reason_code: 'FILE_NOT_FOUND' });
    expect(job.reason).toContain('code/absent.py');
  });

  it('ends a job with an unusable mount with the reason, and can still stop a running one', async () => {
    await desk.upload('endless.py', 'import time\nprint("begun", flush=True)\ntime.sleep(600)\n');
    const endless = await desk.start(clusterId, 'endless', { job_type: 'Python3', command: 'endless.py' });
    await desk.said(endless, 'begun');
    await platform.sql(`UPDATE credentials_confs SET sealed = 'damaged' WHERE credentials_conf_id = $1`, [
      mountCredentialsId,
    ]);
    const refused = await desk.complete(clusterId, 'refused', { job_type: 'Python3', command: 'endless.py' });
    expect(refused).toMatchObject({
      job_status: 'ERROR',
      reason_code: 'SUBMIT_FAILED',
      reason: expect.stringMatching(/^The mount "Data" \(\/mnt\/data\) cannot be used: .*"store-of-mounts".*decrypted/),
    });
    await desk.kill(endless);
    expect(await desk.ended(endless)).toMatchObject({ job_status: expect.stringMatching(/^(STOPPED|KILLED)$/) });
  });

  it('refuses a job for a cluster without an object storage manager, and the cluster is not affected', async () => {
    const bare = await createCluster(client, estate, 'without-storage');
    const conf = await desk.describe(bare, 'unreachable', { job_type: 'Python3', command: `${STORE}/code/main.py` });
    const answer = await client.request('POST', `${desk.path}/job`, { json: { job_conf_id: conf } });
    answer.expectError(400, 'JOB.FILE_UNAVAILABLE');
  });

  it('keeps mounts and managers as long as the cluster may use them', async () => {
    const mount = await client.request('DELETE', '/cluster/mount', { query: { mount_id: mountId } });
    mount.expectError(400, 'RECORD.IN_USE');
    const manager = { query: { object_storage_manager_id: managerId } };
    (await client.request('DELETE', '/object_storage_manager', manager)).expectError(400, 'RECORD.IN_USE');
    await destroyCluster(client, clusterId);
    await client.delete('/cluster/mount', 201, { query: { mount_id: mountId } });
    await client.delete('/object_storage_manager', 201, manager);
  });
});
