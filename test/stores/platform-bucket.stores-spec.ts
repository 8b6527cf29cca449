import { readdirSync } from 'node:fs';
import { eventually } from '../harness/eventually';
import { S3Bucket } from './harness/test-bucket';
import type { ApiClient } from '../e2e/harness/api-client';
import { createCluster, describeEstate, startCluster } from '../e2e/harness/estate';
import { JobDesk } from '../e2e/harness/jobs';
import { PlatformUnderTest } from '../e2e/harness/platform';

const MAIN = `
from pyspark import SparkContext, SparkFiles
print('SUM', SparkContext.getOrCreate().parallelize(range(10), 1).sum())
print('FILE', open(SparkFiles.get('words.txt')).read())
`;

// Real: the APIs of clients and agents without a data directory, the worker, Spark on a local node, and an S3 server that checks signatures.
describe('pods that share a bucket and no disk', () => {
  let bucket: S3Bucket;
  let platform: PlatformUnderTest;
  let client: ApiClient;
  let desk: JobDesk;
  let jobId: number;

  beforeAll(async () => {
    bucket = await S3Bucket.make();
    const { credentials, bucket: name } = bucket.access;
    const entries = Object.entries(credentials).map((entry) => entry.join('='));
    const env = { STORE: 's3-compatible', STORE_BUCKET: name, STORE_CREDENTIALS: entries.join(), DATA_DIR: '' };
    platform = await PlatformUnderTest.start({ name: 'bucket', agentsApart: true, env });
    client = await platform.admin();
    const estate = await describeEstate(client, platform.runtime.sparkVersion);
    desk = await JobDesk.open(client, 'shared');
    const clusterId = await createCluster(client, estate, 'bucket');
    await startCluster(client, clusterId);
    // The API of clients receives these files, and the node downloads them from the API of agents.
    await desk.upload('main.py', MAIN);
    await desk.upload('words.txt', 'of the workspace');
    const job = await desk.succeed(clusterId, 'job', {
      command: 'main.py',
      files: ['words.txt'],
    });
    jobId = Number(job.job_id);
  });

  afterAll(async () => {
    await platform?.close();
    bucket?.close();
  });

  it('one API returns the log that the other received, whole and in part', async () => {
    const log = await desk.log(jobId, 'stdout');
    expect(log).toContain('SUM 45');
    expect(log).toContain('FILE of the workspace');
    const last = await desk.log(jobId, 'stdout', { last_n_lines: 1 });
    expect(log.endsWith(last)).toBe(true);
    expect(await desk.log(jobId, 'stdout', { offset: log.length - 5 })).toBe(log.slice(-5));
  });

  it('a client gets the address of a file in the bucket', async () => {
    const query = { workspace_name: 'shared', file_path: 'words.txt', redirect: true };
    const response = await client.request('GET', '/workspace/file/download', { query });
    expect(response).toMatchObject({ status: 307, text: '' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    const address = new URL(response.headers.get('location') ?? '');
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      ...{ 'X-Amz-Expires': '300', 'response-content-disposition': 'attachment; filename="words.txt"' },
      'response-content-type': 'application/octet-stream',
    });
    expect(address.pathname).toContain(`/${bucket.access.bucket}/files/`);
    if (bucket.servesAddresses) expect(await (await fetch(address)).text()).toBe('of the workspace');
  });

  it('files and logs are only in the bucket', async () => {
    const keys = await bucket.keys();
    expect(keys.filter((key) => key.startsWith('files/'))).toHaveLength(2);
    expect(keys.some((key) => key.startsWith('logs/run/'))).toBe(true);
    expect(keys.some((key) => key.startsWith('logs/node/'))).toBe(true);
    expect(readdirSync(platform.dataDir)).toEqual([]);
  });

  it('the bytes of a deleted file are removed', async () => {
    const query = { workspace_id: desk.workspaceId };
    await client.delete('/workspace/file', 201, { query: { ...query, file_path: 'words.txt' } });
    const one = async () => (await bucket.keys()).filter((key) => key.startsWith('files/')).length === 1;
    await eventually(one, { timeoutMs: 180_000 });
  });

  it('the worker merges an ended log into one object', async () => {
    await platform.sql(`UPDATE runs SET ended_at = ended_at - interval '10 minutes'`);
    const pieces = async (stream: string) =>
      (await bucket.keys()).filter((key) => key.startsWith('logs/run/') && key.includes(`/${stream}/`)).length;
    await eventually(async () => (await pieces('stderr')) === 1, { timeoutMs: 180_000 });
    await eventually(async () => (await platform.sql('SELECT 1 FROM runs WHERE logs_settled')).length === 1);
    expect(await desk.log(jobId, 'stdout')).toContain('SUM 45');
  });

  it('the worker removes a log that is too old', async () => {
    await platform.sql(`UPDATE runs SET ended_at = ended_at - interval '31 days'`);
    const kept = async () => (await bucket.keys()).filter((key) => key.startsWith('logs/run/')).length;
    await eventually(async () => (await kept()) === 0, { timeoutMs: 180_000 });
    // A pod that has read the log before returns none either.
    expect(await desk.log(jobId, 'stdout')).toBe('');
    expect((await bucket.keys()).some((key) => key.startsWith('logs/node/'))).toBe(true);
  });
});
