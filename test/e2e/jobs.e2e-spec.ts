import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { ApiClient, Json } from './harness/api-client';
import {
  createCluster,
  describeEstate,
  destroyCluster,
  type Estate,
  reachStatus,
  startCluster,
  stateReason,
} from './harness/estate';
import { CLASS_ARCHIVES, compileJar, JobDesk, processesOfRun } from './harness/jobs';
import { clientOf, createTenant, createUser } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const SCRIPTS = {
  /** Reports its arguments, files, settings and environment; needs Spark. */
  'report.py': `
import json, os, sys
from pyspark import SparkFiles
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
rows = spark.read.csv(SparkFiles.get("numbers.csv"), header=True, inferSchema=True)
print("REPORT " + json.dumps({
    "master": spark.sparkContext.master,
    "sum": rows.agg({"n": "sum"}).collect()[0][0],
    "arguments": sys.argv[1:],
    "greeting": os.environ.get("GREETING"),
    "cluster_conf": spark.conf.get("spark.test.cluster"),
    "job_conf": spark.conf.get("spark.test.job"),
    "run_conf": spark.conf.get("spark.test.run"),
    "archives": ${CLASS_ARCHIVES},
    "found": [open("sales, 2024[1].csv").read(), open(SparkFiles.get("sales, 2024[1].csv")).read()],
    "packed": [os.environ.get("PACKED")] + spark.sparkContext.range(1).map(lambda _: os.environ.get("PACKED")).collect(),
}))
print("a word on stderr", file=sys.stderr)
`,
  /** Keeps a Spark application until the gate opens, and prints a line every 100 ms. */
  'patient.py': `
import os, sys, time
from pyspark import SparkContext
context = SparkContext.getOrCreate()
print("master " + context.master, flush=True)
print("count %d" % context.parallelize(range(100), 1).map(lambda n: n + 1).count(), flush=True)
line = 0
while not os.path.exists(sys.argv[1]):
    line += 1
    print("line %d" % line, flush=True)
    time.sleep(0.1)
print("the end", flush=True)
`,
  /** Waits for its gate, if it has one; it is quick, because it needs no Spark. */
  'plain.py': `
import os, sys, time
print("began %.3f" % time.time(), flush=True)
while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
print("ended %.3f" % time.time(), flush=True)
`,
  'deaf.py': `
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("began", flush=True)
while True:
    time.sleep(1)
`,
  'broken.py': 'print("so far so good", flush=True)\nraise ValueError("the wrong colour")\n',
  'exits.py': 'import sys\nprint("begin")\nsys.exit("bad input: 東" if len(sys.argv) > 1 else 3)\n',
};

const APP = `
package test.jobs
object App {
  def main(args: Array[String]): Unit = args(0) match {
    case "count" =>
      val context = org.apache.spark.SparkContext.getOrCreate()
      println("COUNT " + context.range(0, args(1).toLong).count())
      context.stop()
    case "deaf" =>
      sun.misc.Signal.handle(new sun.misc.Signal("TERM"), sun.misc.SignalHandler.SIG_IGN)
      println("began")
      while (true) Thread.sleep(1000)
  }
}
`;

const ABSENT = 999_999_999;

let platform: SharedPlatform;
let admin: ApiClient;
let estate: Estate;
let desk: JobDesk;
/** A running PLATFORM cluster that several tests share. */
let shared: number;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'jobs');
  admin = await platform.admin();
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
  desk = await JobDesk.open(admin, 'jobs');
  for (const [path, text] of Object.entries(SCRIPTS)) await desk.upload(path, text);
  await desk.upload('data/numbers.csv', `n\n${Array.from({ length: 100 }, (_, index) => index + 1).join('\n')}\n`);
  await desk.upload('data/sales, 2024[1].csv', 'rows');
  await desk.upload('envs/pack.tar.gz', packedPython());
  shared = await createCluster(admin, estate, 'shared', {
    engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 4 },
    spark_config: { conf: ['spark.test.cluster of the cluster'], env_var: ['GREETING=hello = world'] },
  });
  await startCluster(admin, shared);
});

afterAll(() => platform?.close());

/** Adds a variable to the environment of Python. */
function packedPython(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'packed-'));
  mkdirSync(`${folder}/bin`);
  writeFileSync(`${folder}/bin/python`, '#!/bin/sh\nPACKED=yes exec python3 "$@"\n', { mode: 0o755 });
  const packed = execFileSync('tar', ['-cz', '-C', folder, 'bin']);
  rmSync(folder, { recursive: true });
  return packed;
}

let gates = 0;

/** A file that a script waits for. */
function gate(): { path: string; open: () => void } {
  gates += 1;
  const path = join(platform.sharedDir, `gate-${gates}`);
  return { path, open: () => writeFileSync(path, '') };
}

describe('workspaces and their files', () => {
  let files: number;
  const select = (more: object = {}) => ({ workspace_id: files, ...more }) as Record<string, string | number | boolean>;
  const put = (path: string, data: Uint8Array | string, more: object = {}) =>
    admin.request('POST', '/workspace/files', { data, query: select({ path, ...more }) });
  const paths = async (query: object): Promise<string[]> =>
    (await admin.get('/workspace/files', select(query))).data.map((file: Json) => file.full_file_path).sort();

  async function bytes(path: string): Promise<{ data: Buffer; headers: Headers }> {
    const url = `${platform.baseUrl}/api/v1/workspace/file/download?workspace_id=${files}&file_path=${encodeURIComponent(path)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${admin.currentToken}` } });
    expect(response.status).toBe(200);
    return { data: Buffer.from(await response.arrayBuffer()), headers: response.headers };
  }

  beforeAll(async () => {
    files = Number((await admin.post('/workspace', { name: 'files', description: 'for files' })).workspace_id);
  });

  it('are created, read, changed, disabled and enabled', async () => {
    const { workspace_id } = await admin.post('/workspace', { name: 'first' });
    expect(workspace_id).toMatch(/^\d+$/);
    const read = await admin.get('/workspace', { workspace_name: 'first' });
    expect(read).toMatchObject({ workspace_id: Number(workspace_id), description: null, to_date: 'infinity' });
    const query = { workspace_id };
    expect(await admin.put('/workspace', { description: 'a' }, 201, { query })).toMatchObject({
      name: 'first',
      description: 'a',
    });
    await admin.expectError('PUT', '/workspace', { query, json: {} }, 400, 'REQUEST.EMPTY_UPDATE');
    await admin.expectError('POST', '/workspace', { json: { name: 'first' } }, 409, 'RECORD.DUPLICATE_NAME');
    await admin.put('/workspace/disable', undefined, 201, { query });
    await admin.expectError('PUT', '/workspace/disable', { query }, 409, 'WORKSPACE.INVALID_STATE');
    const upload = { query: { ...query, path: 'a' }, data: 'a' };
    await admin.expectError('POST', '/workspace/files', upload, 409, 'WORKSPACE.DISABLED');
    const conf = { name: 'x', cluster_id: shared, command: 'a.py' };
    await admin.expectError(
      'POST',
      `/workspace/${workspace_id}/spark/job/conf`,
      { json: conf },
      409,
      'WORKSPACE.DISABLED',
    );
    await admin.put('/workspace/enable', undefined, 201, { query });
    await admin.expectError('PUT', '/workspace/enable', { query }, 409, 'WORKSPACE.INVALID_STATE');
    const names = (await admin.get('/workspaces', { all: true })).data.map((row: Json) => row.name);
    expect(names).toEqual(expect.arrayContaining(['first', 'jobs', 'files']));
    expect((await admin.get('/workspaces/search', { workspace_name: 'FIR' })).data).toHaveLength(1);
  });

  it('are downloaded byte by byte as they were uploaded', async () => {
    const data = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
    const made = await put('deep/er/all bytes "x".bin', data, { target_dir: 'dir' });
    expect(made.body).toMatchObject({
      full_file_path: 'dir/deep/er/all bytes "x".bin',
      file_size_bytes: 70_000,
      is_dir: false,
      file_type: 'bin',
    });
    const read = await bytes('dir/deep/er/all bytes "x".bin');
    expect(read.data.equals(data)).toBe(true);
    expect(read.headers.get('content-length')).toBe('70000');
    expect(read.headers.get('content-disposition')).toMatch(
      /^attachment; filename="all bytes _x_.bin"; filename\*=UTF-8''all%20bytes%20%22x%22.bin$/,
    );
    await put('empty', '');
    expect((await bytes('empty')).data).toHaveLength(0);
  });

  it('can be uploaded in chunks without a Content-Length', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'p');
    const send = (size: number) =>
      fetch(`${platform.baseUrl}/api/v1/workspace/files?workspace_id=${files}&path=pieces.bin`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${admin.currentToken}`,
          'content-type': 'application/octet-stream',
          'x-file-size': String(size),
        },
        body: new ReadableStream({
          start(controller) {
            for (let count = 0; count < 5; count += 1) controller.enqueue(piece);
            controller.close();
          },
        }),
        duplex: 'half',
      });
    const refused = await send(5 * piece.length + 1);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error_code: 'FILE.SIZE_MISMATCH' });
    const query = select({ file_path: 'pieces.bin' });
    await admin.expectError('GET', '/workspace/file', { query }, 404, 'FILE.NOT_FOUND');
    expect((await send(5 * piece.length)).status).toBe(200);
    expect((await admin.get('/workspace/file', query)).file_size_bytes).toBe(5 * piece.length);
    const size = { headers: { 'x-file-size': 'many' }, data: 'a', query: select({ path: 'sized' }) };
    await admin.expectError('POST', '/workspace/files', size, 400, 'REQUEST.INVALID');
  });

  it('are replaced only with overwrite', async () => {
    await put('twice.txt', 'one');
    (await put('twice.txt', 'two')).expectError(409, 'FILE.EXISTS');
    expect((await bytes('twice.txt')).data.toString()).toBe('one');
    expect((await put('twice.txt', 'two', { overwrite: true })).status).toBe(200);
    expect((await bytes('twice.txt')).data.toString()).toBe('two');
    (await put('twice.txt/below', 'three')).expectError(409, 'FILE.NOT_A_DIRECTORY');
    (await put('dir', 'a file', { overwrite: true })).expectError(409, 'FILE.IS_DIRECTORY');
  });

  it('are uploaded once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'upload-once' };
    const send = (data: string) =>
      admin.request('POST', '/workspace/files', { data, headers, query: select({ path: 'once.txt' }) });
    const first = await send('content');
    expect(first.status).toBe(200);
    const again = await send('content');
    expect([again.status, again.body]).toEqual([200, first.body]);
    (await send('other')).expectError(409, 'REQUEST.IDEMPOTENCY_MISMATCH');
    expect((await bytes('once.txt')).data.toString()).toBe('content');
  });

  it.each(['../up', 'a/../../up', '..', '.', '/', 'a/./b', 'a\\b', 'a\nb', '%2e%2e/../x', 'x'.repeat(256)])(
    'do not leave the workspace by the path %j',
    async (path) => {
      for (const query of [{ path }, { path: 'x', target_dir: path === '/' ? '..' : path }]) {
        const answer = await admin.request('POST', '/workspace/files', { data: 'x', query: select(query) });
        expect([answer.status, answer.body.error_code]).toEqual([400, 'FILE.INVALID_PATH']);
      }
      const read = await admin.request('GET', '/workspace/file/download', { query: select({ file_path: path }) });
      expect([400, 404]).toContain(read.status);
    },
  );

  it('are listed, searched, zipped and deleted by directory', async () => {
    const tree = { 'tree/a.txt': 'A', 'tree/sub/b.txt': 'BB', 'tree/sub/c.csv': 'CCC', 'tree%/no.txt': 'no' };
    for (const [path, text] of Object.entries(tree)) await put(path, text);
    const folder = await admin.upload('/workspace/files', '', { query: select({ path: 'tree/hollow', is_dir: true }) });
    expect(folder).toMatchObject({ is_dir: true, full_file_path: 'tree/hollow' });
    expect(await paths({ file_path: 'tree' })).toEqual(['tree/a.txt', 'tree/hollow', 'tree/sub']);
    expect(await paths({ file_path: '/tree/', is_dir: true })).toEqual(['tree/hollow', 'tree/sub']);
    expect(await paths({ file_path: 'tree', recursive: true, is_dir: false })).toEqual([
      'tree/a.txt',
      'tree/sub/b.txt',
      'tree/sub/c.csv',
    ]);
    expect(await paths({})).toEqual(expect.arrayContaining(['tree', 'tree%', 'dir', 'twice.txt']));
    const found = await admin.get(
      '/workspace/files/search',
      select({ file_name: '.TXT', file_path: 'tree', recursive: true }),
    );
    expect(found.data).toHaveLength(2);
    await admin.expectError(
      'GET',
      '/workspace/files',
      { query: select({ file_path: 'nowhere' }) },
      404,
      'FILE.NOT_FOUND',
    );

    const zip = await bytes('tree');
    expect(zip.headers.get('content-disposition')).toBe('attachment; filename="tree.zip"');
    // File names are plain text in a zip file, and this one must hold only these.
    for (const name of ['a.txt', 'sub/b.txt', 'sub/c.csv', 'hollow/']) expect(zip.data.includes(name)).toBe(true);
    expect(zip.data.includes('no.txt')).toBe(false);
    expect(zip.data.subarray(0, 2).toString()).toBe('PK');

    const usage = await admin.get('/workspace/file/usage', select());
    expect(usage.total_size_bytes).toBeGreaterThan(5 * 1024 * 1024);
    await admin.delete('/workspace/file', 201, { query: select({ file_path: 'tree' }) });
    await admin.expectError(
      'GET',
      '/workspace/file',
      { query: select({ file_path: 'tree/sub/b.txt' }) },
      404,
      'FILE.NOT_FOUND',
    );
    expect(await paths({ file_path: 'tree%' })).toEqual(['tree%/no.txt']);
    await put('tree/a.txt', 'again');
    expect((await bytes('tree/a.txt')).data.toString()).toBe('again');
  });

  it('are visible only to permitted users', async () => {
    const { tenant_id } = await admin.get('/user/info');
    await createUser(platform, 'reader', 'USER', [tenant_id]);
    const reader = await clientOf(platform, 'reader');
    expect((await reader.get('/workspaces')).data).toEqual([]);
    await reader.expectError('GET', '/workspace', { query: select() }, 403, 'WORKSPACE.PERMISSION_REQUIRED');
    await reader.expectError('GET', '/workspace/files', { query: select() }, 403, 'WORKSPACE.PERMISSION_REQUIRED');
    await reader.expectError('GET', `${desk.path}/jobs`, {}, 403, 'WORKSPACE.PERMISSION_REQUIRED');
    const own = await reader.post('/workspace', { name: 'own' });
    await reader.upload('/workspace/files', 'mine', { query: { workspace_id: own.workspace_id, path: 'mine.txt' } });
    await createUser(platform, 'outsider', 'ADMIN', [await createTenant(platform, 'outside')]);
    const outsider = await clientOf(platform, 'outsider');
    await outsider.expectError('GET', '/workspace/files', { query: select() }, 404, 'WORKSPACE.NOT_FOUND');
    await outsider.expectError('GET', `${desk.path}/jobs`, {}, 404, 'WORKSPACE.NOT_FOUND');
    const other = Number((await outsider.post('/workspace', { name: 'jobs' })).workspace_id);
    const conf = { name: 'x', cluster_id: shared, command: 'a.py' };
    await outsider.expectError('POST', `/workspace/${other}/spark/job/conf`, { json: conf }, 404, 'CLUSTER.NOT_FOUND');
  });
});

describe('job configurations', () => {
  const refuses = (fields: object, code: string, status = 400) =>
    admin.expectError(
      'POST',
      `${desk.path}/job/conf`,
      { json: { name: 'conf', cluster_id: shared, ...fields } },
      status,
      code,
    );

  it.each([
    ['RAW_SCALA', {}, 'rawScalaCode', 'FIELD_REQUIRED'],
    ['RAW_SCALA', { rawScalaCode: ' ' }, 'rawScalaCode', 'FIELD_REQUIRED'],
    ['RAW_SCALA', { rawScalaCode: '1', command: 'a.py' }, 'command', 'FIELD_REFUSED'],
    ['SQL', {}, 'rawScalaCode', 'FIELD_REQUIRED'],
    ['SQL', { rawScalaCode: 'SELECT 1', command: 'a' }, 'command', 'FIELD_REFUSED'],
    ['Jar', { command: 'a.jar' }, 'class_name', 'FIELD_REQUIRED'],
    ['Jar', { class_name: 'A' }, 'command', 'FIELD_REQUIRED'],
    ['Jar', { command: 'a.jar', class_name: 'A', rawScalaCode: '1' }, 'rawScalaCode', 'FIELD_REFUSED'],
    ['Python3', {}, 'command', 'FIELD_REQUIRED'],
    ['Python3', { command: 'a.py', rawScalaCode: '1' }, 'rawScalaCode', 'FIELD_REFUSED'],
    [undefined, { command: 'a.jar' }, 'class_name', 'FIELD_REQUIRED'],
  ])('of type %s with %j are refused because of %s', async (job_type, fields, field, code) => {
    const refused = await refuses({ job_type, ...fields }, `JOB_CONF.${code}`);
    expect(refused.error_message).toContain(field);
    expect(refused.details).toMatchObject({ field });
  });

  it('are checked field by field', async () => {
    const python = { command: 'a.py' };
    await refuses({ ...python, name: 'Not A Name' }, 'REQUEST.INVALID');
    await refuses({ ...python, cluster_id: undefined }, 'REQUEST.SELECTOR_MISSING');
    await refuses({ ...python, cluster_id: ABSENT }, 'CLUSTER.NOT_FOUND', 404);
    await refuses({ ...python, arguments: 'an "open quote' }, 'JOB_CONF.INVALID_ARGUMENTS');
    await refuses({ ...python, conf: ['no value'] }, 'JOB_CONF.INVALID_CONF');
    await refuses({ ...python, driver_cores: 0 }, 'REQUEST.INVALID');
    await refuses({ ...python, max_concurrency: -1 }, 'REQUEST.INVALID');
    await refuses({ ...python, job_type: 'Cobol' }, 'REQUEST.INVALID');
    expect((await refuses({ ...python, memory: '1g' }, 'REQUEST.INVALID')).error_message).toContain('memory');
  });

  it('are created, read, listed and searched', async () => {
    const body = { name: 'listed', cluster_name: 'shared', job_command: 'a.py', job_arguments: 7, max_concurrency: 2 };
    const made = await admin.post(`${desk.path}/job/conf`, body);
    expect(made).toMatchObject({
      command: 'a.py',
      arguments: '7',
      spark_job_type: { job_type: 'SPARK_JOB', language: 'Python3' },
    });
    const read = await admin.get(`${desk.path}/job/conf`, { job_conf_name: 'listed' });
    expect(read).toMatchObject({
      job_conf_id: Number(made.job_conf_id),
      max_concurrency: 2,
      cluster_info: { name: 'shared' },
    });
    await refuses({ ...body, cluster_id: undefined }, 'RECORD.DUPLICATE_NAME', 409);
    const page = await admin.get(`${desk.path}/job/confs`, { job_type_langs: 'python3', enable: true, limit: 1 });
    expect(page.data).toMatchObject([{ name: 'listed', last_job_run: null }]);
    expect((await admin.get(`${desk.path}/job/confs/search`, { job_conf_name: 'LIST' })).data).toHaveLength(1);
    await admin.expectError(
      'GET',
      `${desk.path}/job/confs/search`,
      { query: { job_conf_name: 'zzz' } },
      404,
      'JOB_CONF.NOT_FOUND',
    );
    for (const job_conf_id of [ABSENT, 'x']) {
      const status = job_conf_id === ABSENT ? 404 : 400;
      expect((await admin.request('GET', `${desk.path}/job/conf`, { query: { job_conf_id } })).status).toBe(status);
    }
    await admin.expectError('POST', `${desk.path}/job`, { json: { job_conf_id: ABSENT } }, 404, 'JOB_CONF.NOT_FOUND');
    await admin.expectError('POST', `${desk.path}/job`, { json: {} }, 400, 'REQUEST.SELECTOR_MISSING');
    const conf = { json: { job_conf_name: 'listed', conf: ['x y'] } };
    await admin.expectError('POST', `${desk.path}/job`, conf, 400, 'JOB.INVALID_CONF');
    await admin.expectError('GET', `${desk.path}/job/${ABSENT}`, {}, 404, 'JOB.NOT_FOUND');
    await admin.expectError('GET', `${desk.path}/job/abc`, {}, 400, 'REQUEST.INVALID');
  });
});

describe('a Python job', () => {
  it('sees its arguments, files, settings and environment, and is DONE', async () => {
    const conf = await desk.describe(shared, 'report', {
      command: 'report.py',
      files: ['data/numbers.csv', 'data/sales, 2024[1].csv'],
      archives: ['envs/pack.tar.gz#environment'],
      arguments: 'of the configuration',
      conf: [
        ...['spark.ui.enabled=false', 'spark.test.job=of the job', 'spark.test.run=of the job'],
        'spark.pyspark.python=./environment/bin/python',
      ],
    });
    const line = `--name "two words" it''s back\\ slash "" 'a "b" $HOME' "say \\"hi\\"" "\\d+\\.csv"`;
    const id = await desk.submit(conf, { arguments: line, conf: ['spark.test.run= x=y\n '] });
    const job = await desk.ended(id);
    expect(job).toMatchObject({ job_status: 'DONE', exit_code: 0, reason_code: 'COMPLETED', arguments: line });
    expect(job.job_application_id).toMatch(/^local-\d+$/);
    const log = await desk.log(id);
    expect(JSON.parse(/^REPORT (.*)$/m.exec(log)?.[1] ?? 'null')).toEqual({
      master: 'local[4]',
      sum: 5050,
      arguments: ['--name', 'two words', 'its', 'back slash', '', 'a "b" $HOME', 'say "hi"', '\\d+\\.csv'],
      greeting: 'hello = world',
      archives: [platform.runtime.classArchive],
      cluster_conf: 'of the cluster',
      job_conf: 'of the job',
      run_conf: ' x=y\n ',
      found: ['rows', 'rows'],
      packed: ['yes', 'yes'],
    });
    expect(log).not.toContain('a word on stderr');
    expect(await desk.log(id, 'stderr')).toMatch(/SparkContext[^]*^a word on stderr$/m);
    expect(await desk.statuses(id)).toEqual(['SUBMITTED', 'RUNNING', 'DONE']);
    // The heap that it requests is 512 MiB; beside it there are what the JVM needs and the processes of Python.
    const { memory } = await admin.get(`/workspace/${desk.workspaceId}/run/${id}/cost`);
    expect(memory.requested_mb).toBe(512);
    expect(memory.peak_mb).toBeGreaterThan(100);
    expect(memory.peak_mb).toBeLessThan(2048);
    expect(memory.unused.measured_ms).toBeGreaterThan(0);
    const errors = await admin.get(`${desk.path}/job/${id}/workflow/errors`);
    expect(errors.data).toEqual([]);
    expect(await processesOfRun(platform, id)).toEqual([]);
    const listed = await admin.get(`${desk.path}/jobs`, {
      job_conf_name: 'report',
      job_status: 'DONE',
      cluster_ids: shared,
    });
    expect(listed.data.map((row: Json) => row.job_id)).toEqual([id]);
    expect((await admin.get(`${desk.path}/jobs`, { job_conf_ids: conf, job_status: 'ERROR,RUNNING' })).data).toEqual(
      [],
    );
  });

  it('that raises is an ERROR that names the exception', async () => {
    const job = await desk.complete(shared, 'broken', { command: 'broken.py' });
    expect(job).toMatchObject({ job_status: 'ERROR', exit_code: 1, reason_code: 'PYTHON_ERROR' });
    expect(job.reason).toBe('ValueError: the wrong colour. The stderr log has the traceback.');
    expect(await desk.log(job.job_id)).toBe('so far so good\n');
    expect(await desk.log(job.job_id, 'stderr')).toContain('Traceback (most recent call last)');
    const errors = await admin.get(`${desk.path}/job/${job.job_id}/workflow/errors`);
    expect(errors.data).toMatchObject([{ error: expect.stringContaining('ValueError') }]);
    const exits = await desk.complete(shared, 'exits', { command: 'exits.py' });
    expect(exits).toMatchObject({ job_status: 'ERROR', exit_code: 3 });
    expect(exits.reason).toContain('3');
    const failed = await desk.complete(shared, 'told', { command: 'exits.py', arguments: 'x' });
    expect(failed.reason).toBe('The application ended with exit code 1; its last line: bad input: 東');
  });

  it('without Spark is RUNNING as long as its process runs', async () => {
    const { path, open } = gate();
    const id = await desk.start(shared, 'sparkless', { command: 'plain.py', arguments: path });
    expect(await desk.reached(id, ['RUNNING'])).toMatchObject({ job_application_id: null });
    open();
    await desk.ended(id);
    expect(await desk.statuses(id)).toEqual(['SUBMITTED', 'RUNNING', 'DONE']);
  });

  it.each([
    ['command', { command: 'lost/nowhere.py' }, 'lost/nowhere.py'],
    ['file', { command: 'plain.py', files: ['data/numbers.csv', 'data/absent.csv'] }, 'data/absent.csv'],
    ['directory', { command: 'plain.py', files: ['data'] }, 'data'],
  ])('with a missing %s names it', async (what, fields, name) => {
    const job = await desk.complete(shared, `lost-${what}`, fields);
    expect(job).toMatchObject({ job_status: 'ERROR', reason_code: 'FILE_NOT_FOUND' });
    expect(job.reason).toContain(name);
  });
});

describe('a Scala job', () => {
  it('of raw code with a case class is DONE', async () => {
    const rawScalaCode = `
      import spark.implicits._
      case class Item(name: String, price: Int)
      val items = Seq(Item("a", 1), Item("b", 41)).toDS
      def total(ds: org.apache.spark.sql.Dataset[Item]): Int =
        ds.map(_.price).reduce(_ + _)
      println("TOTAL " + total(items) + " " + args.mkString("|"))
    `;
    const job = await desk.complete(shared, 'scala', { rawScalaCode, arguments: 'x "y z"' });
    expect(job).toMatchObject({ job_status: 'DONE', exit_code: 0 });
    expect(job.job_conf.spark_job_type.language).toBe('RAW_SCALA');
    expect((await desk.log(job.job_id)).trim()).toBe('TOTAL 42 x|y z');
  });

  it('that throws is an ERROR that names the exception, and runs no further', async () => {
    const rawScalaCode = 'println("before")\nthrow new IllegalStateException("kaputt")\nprintln("after")\n';
    const job = await desk.complete(shared, 'scala-throws', { rawScalaCode, job_type: 'RAW_SCALA' });
    expect(job).toMatchObject({ job_status: 'ERROR', exit_code: 1, reason_code: 'APPLICATION_FAILED' });
    expect(job.reason).toContain('IllegalStateException: kaputt');
    const log = await desk.log(job.job_id);
    expect(log).toContain('before');
    expect(log).not.toContain('after');
  });
});

describe('a SQL job', () => {
  it('prints its result', async () => {
    const rawScalaCode = 'CREATE TEMPORARY VIEW v AS SELECT id * 2 AS n FROM range(10);\nSELECT sum(n) FROM v;\n';
    const job = await desk.complete(shared, 'sql', { job_type: 'SQL', rawScalaCode });
    expect(job).toMatchObject({ job_status: 'DONE', exit_code: 0 });
    expect((await desk.log(job.job_id)).trim().split('\n').at(-1)).toBe('90');
  });

  it('is split into statements as Spark does, and accepts the arguments and commands of spark-sql', async () => {
    const lines = [
      `\uFEFFSELECT length('a\n--b\nc') AS LEN;\r`,
      'SET spark.sql.cli.print.header=true;',
      'SELECT 1 AS `a;b`; -- not; here',
      String.raw`SELECT r'C:\' AS p; SELECT array(1, null) AS x, '${'${hivevar:who}'}' AS y;`,
      '/* ; /* ; */ */ ! echo from-a-shell;',
      // `find` writes another script without a shell: a byte order mark, a comment, a string of two lines, and `quit`.
      String.raw`! find . -maxdepth 0 -fprintf more.sql \357\273\277\055\055\040It\047s\073\nSELECT\040\047\055\055\n\073\047\040AS\040z\073\nquit\073;`,
      'source more.sql;',
      "SELECT 'not reached';",
    ];
    const fields = { rawScalaCode: lines.join('\n'), arguments: '--hivevar who=me' };
    const job = await desk.complete(shared, 'sql-divided', { job_type: 'SQL', ...fields });
    const log = await desk.log(job.job_id);
    expect({ status: job.job_status, reason: job.reason, log }).toMatchObject({ status: 'DONE' });
    const printed = [
      '7',
      'key\tvalue',
      'spark.sql.cli.print.header\ttrue',
      'a;b',
      '1',
      'p',
      'C:\\',
      'x\ty',
      '[1,null]\tme',
    ];
    expect(log.trim().split('\n')).toEqual([...printed, 'from-a-shell', 'z', '--', ';']);
  });

  it('that cannot be analysed is an ERROR that names the place', async () => {
    const rawScalaCode = 'SELECT 1;\n-- The second.\nSELECT *\nFROM nowhere;\n';
    const job = await desk.complete(shared, 'sql-wrong', { job_type: 'SQL', rawScalaCode });
    expect(job).toMatchObject({ job_status: 'ERROR', exit_code: 1, reason_code: 'SQL_ERROR' });
    expect(job.reason).toMatch(/^Statement 2: .*TABLE_OR_VIEW_NOT_FOUND.*nowhere.*line 4 pos 5/);
  });
});

describe('a jar job', () => {
  beforeAll(async () => {
    await desk.upload('lib/app.jar', await compileJar(platform.runtime, APP));
  });

  const jar = (fields: object) => ({ job_type: 'Jar', command: 'lib/app.jar', class_name: 'test.jobs.App', ...fields });

  it('runs its class', async () => {
    const job = await desk.complete(shared, 'jar', jar({ arguments: 'count 1000' }));
    expect(job).toMatchObject({ job_status: 'DONE', exit_code: 0 });
    expect(await desk.log(job.job_id)).toContain('COUNT 1000');
  });

  it('without its class is an ERROR that names it', async () => {
    const job = await desk.complete(shared, 'jar-classless', jar({ class_name: 'test.jobs.Nobody' }));
    expect(job).toMatchObject({ job_status: 'ERROR', reason_code: 'CLASS_NOT_FOUND' });
    expect(job.reason).toMatch(/test\.jobs\.Nobody.*class_name/);
  });

  it('that ignores SIGTERM is KILLED', async () => {
    const id = await desk.start(shared, 'jar-deaf', jar({ arguments: 'deaf' }));
    await desk.said(id, 'began');
    await desk.kill(id);
    const job = await desk.ended(id);
    expect(job).toMatchObject({ job_status: 'KILLED', reason_code: 'STOP_REQUESTED' });
    // The agent may report KILLING only together with the end.
    expect((await desk.statuses(id)).filter((status) => status !== 'KILLING').slice(-2)).toEqual([
      'STOPPING',
      'KILLED',
    ]);
    expect(await processesOfRun(platform, id)).toEqual([]);
  });
});

describe('a running job', () => {
  it('has a log that grows, and ends when it is killed', async () => {
    const { path } = gate();
    const id = await desk.start(shared, 'followed', { command: 'patient.py', arguments: path });
    await desk.reached(id, ['RUNNING']);
    const log = `${desk.path}/job/${id}/log/stdout`;
    let text = '';
    let offset = 0;
    const follow = async () => {
      const part = await admin.request('GET', log, { query: { offset } });
      const next = Number(part.headers.get('x-log-offset'));
      expect(next - offset).toBe(Buffer.byteLength(part.text));
      text += part.text;
      offset = next;
    };
    let parts = 0;
    while (!text.includes('line 10\n')) {
      const before = offset;
      await eventually(
        async () => {
          await follow();
          return offset > before;
        },
        { timeoutMs: 180_000, what: 'more of the log' },
      );
      parts += 1;
    }
    expect(parts).toBeGreaterThan(1);
    expect(await desk.get(id)).toMatchObject({
      job_status: 'RUNNING',
      job_application_id: expect.stringMatching(/^local-/),
    });
    const whole = await desk.log(id);
    expect(whole.startsWith(text)).toBe(true);
    expect(text).toMatch(/^master local\[4\]\ncount 100\nline 1\nline 2\n/);
    expect(await desk.log(id, 'stdout', { file_size_bytes: 15 })).toBe('master local[4]');
    expect(await desk.log(id, 'stdout', { file_size_bytes: 5, offset: 7 })).toBe('local');
    expect((await desk.log(id, 'stdout', { last_n_lines: 3 })).trimEnd().split('\n')).toHaveLength(3);
    const head = await admin.request('GET', log, { query: { last_n_lines: 1 } });
    expect(head.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"]+"$/);
    for (const query of [{ last_n_lines: 0 }, { last_n_lines: 1001 }, { file_size_bytes: 0 }, { offset: -1 }]) {
      await admin.expectError('GET', log, { query: query }, 400, 'REQUEST.INVALID');
    }
    expect((await processesOfRun(platform, id)).length).toBeGreaterThan(0);

    const killed = await desk.kill(id);
    expect(killed.SparkKill.spark_job_instance_id).toBe(id);
    const again = await admin.request('POST', `${desk.path}/job/kill/${id}`);
    again.expectError(409, 'JOB.INVALID_STATE');
    const job = await desk.ended(id);
    expect(job).toMatchObject({ job_status: 'STOPPED', reason_code: 'STOP_REQUESTED' });
    expect(await desk.statuses(id)).toEqual(['SUBMITTED', 'RUNNING', 'STOPPING', 'STOPPED']);
    expect(await processesOfRun(platform, id)).toEqual([]);
    // The log has every line until the end, without gaps.
    const last = await desk.log(id);
    const lines = last.trimEnd().split('\n').slice(2);
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1}`));
    (await admin.request('POST', `${desk.path}/job/kill/${id}`)).expectError(409, 'JOB.INVALID_STATE');
  });

  it('streams its log to all followers until its end, from any offset', async () => {
    const { path, open } = gate();
    const id = await desk.start(shared, 'streamed', { command: 'plain.py', arguments: path });
    const log = `${desk.path}/job/${id}/log/stdout`;
    const gone = new AbortController();
    const follow = async (query: string, signal?: AbortSignal) => {
      const response = await fetch(`${admin.baseUrl}/api/v1${log}?follow=true${query}`, {
        headers: { authorization: `Bearer ${admin.currentToken}` },
        signal,
      });
      expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"]+"$/);
      return { offset: Number(response.headers.get('x-log-offset')), body: response };
    };
    // Both followers connect before the job prints anything.
    const [first, impatient] = [await follow(''), await follow('', gone.signal)];
    const reader = first.body.body?.getReader();
    const begun = Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(begun).toMatch(/^began \d/);
    gone.abort();
    await expect(impatient.body.text()).rejects.toThrow();
    const second = await follow(`&offset=${Buffer.byteLength(begun)}`);
    expect([first.offset, second.offset]).toEqual([0, Buffer.byteLength(begun)]);
    open();
    let text = begun;
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += Buffer.from(part.value).toString();
    }
    expect(text).toMatch(/^began \S+\nended \S+\n$/);
    expect(begun + (await second.body.text())).toBe(text);
    await desk.done(id);
    expect(await desk.log(id)).toBe(text);
    expect(await (await follow('&last_n_lines=1')).body.text()).toBe(text.split('\n').at(-2) + '\n');
    await admin.expectError('GET', log, { query: { follow: true, file_size_bytes: 5 } }, 400, 'JOB.LOG_PART');
  });

  it('keeps its files when they are moved in the workspace', async () => {
    const { path, open } = gate();
    await desk.upload('moved.py', SCRIPTS['plain.py']);
    const conf = await desk.describe(shared, 'moved', { command: 'moved.py', arguments: path });
    const id = await desk.submit(conf);
    await desk.said(id, 'began');
    const query = {
      workspace_id: desk.workspaceId,
      source_file_path: 'moved.py',
      destination_file_path: 'old/moved.py',
    };
    await admin.put('/workspace/file/move', undefined, 201, { query });
    open();
    await desk.done(id);
    expect(await desk.ended(await desk.submit(conf))).toMatchObject({
      job_status: 'ERROR',
      reason_code: 'FILE_NOT_FOUND',
    });
  });

  it('is stopped with all others of its cluster', async () => {
    const conf = await desk.describe(shared, 'one-of-all', { command: 'plain.py', arguments: gate().path });
    const ids: number[] = [];
    for (let job = 0; job < 8; job += 1) ids.push(await desk.submit(conf));
    await desk.said(ids[0] ?? 0, 'began');
    const { CosiKillAllJobsByCluster: stopped } = await admin.post(`/cluster/${shared}/stop_all_jobs`);
    expect(stopped).toMatchObject({ engine_cluster_instance_id: shared, workflow_job_instance_id: expect.any(Number) });
    for (const id of ids) expect(await desk.ended(id)).toMatchObject({ job_status: 'STOPPED' });
    const next = await desk.complete(shared, 'after-all', { command: 'exits.py' });
    expect(next).toMatchObject({ job_status: 'ERROR', exit_code: 3 });
  });

  it('leaves no process that ignores SIGTERM', async () => {
    const id = await desk.start(shared, 'deaf', { command: 'deaf.py' });
    await desk.said(id, 'began');
    await desk.kill(id);
    const job = await desk.ended(id);
    expect(['STOPPED', 'KILLED']).toContain(job.job_status);
    expect(await processesOfRun(platform, id)).toEqual([]);
  });

  it('counts towards max_concurrency of its configuration', async () => {
    const { path, open } = gate();
    const conf = await desk.describe(shared, 'single', { command: 'plain.py', arguments: path, max_concurrency: 1 });
    const id = await desk.submit(conf);
    const refused = await admin.expectError(
      'POST',
      `${desk.path}/job`,
      { json: { job_conf_id: conf } },
      409,
      'JOB_CONF.MAX_CONCURRENCY',
    );
    expect(refused.details).toMatchObject({ unfinished: 1, max_concurrency: 1 });
    open();
    await desk.done(id);
    const next = await desk.submit(conf);
    await desk.done(next);
  });
});

describe('jobs and the state of their cluster', () => {
  it('wait for a slot and run one after another, in their order', async () => {
    const narrow = await createCluster(admin, estate, 'narrow', {
      engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 1 },
    });
    await startCluster(admin, narrow);
    const { path, open } = gate();
    const conf = await desk.describe(narrow, 'queued', { command: 'plain.py', arguments: path });
    const first = await desk.submit(conf);
    const second = await desk.submit(conf);
    const unwanted = await desk.submit(conf);
    const third = await desk.submit(conf);
    await desk.said(first, 'began');
    // A waiting job without a slot stops at once.
    await desk.kill(unwanted);
    expect((await desk.get(unwanted)).job_status).toBe('STOPPED');
    expect(await desk.statuses(unwanted)).toEqual(['SUBMITTED', 'STOPPING', 'STOPPED']);
    for (const id of [second, third]) expect((await desk.get(id)).job_status).toBe('SUBMITTED');
    open();
    const times: number[] = [];
    for (const id of [first, second, third]) {
      await desk.done(id);
      const log = await desk.log(id);
      for (const word of ['began', 'ended']) times.push(Number(new RegExp(`^${word} (.*)$`, 'm').exec(log)?.[1]));
    }
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(await admin.get('/cluster/stats', { cluster_id: narrow })).toMatchObject({
      DONE: 3,
      STOPPED: 1,
      TOTAL_JOB_COUNT: 4,
    });

    const cut = gate();
    const left = await desk.submit(conf, { arguments: cut.path });
    const waiting = await desk.submit(conf);
    await desk.said(left, 'began');
    await admin.post('/cluster/stop', { cluster_id: narrow });
    await reachStatus(admin, narrow, 'STOPPED');
    expect(await desk.ended(left)).toMatchObject({ job_status: 'TERMINATED', reason_code: 'NODE_STOPPED' });
    expect(await desk.ended(waiting)).toMatchObject({ job_status: 'TERMINATED', reason_code: 'CLUSTER_STOPPED' });
    expect(await processesOfRun(platform, left)).toEqual([]);
    await destroyCluster(admin, narrow);
  });

  it('start a STOPPED one', async () => {
    const asleep = await createCluster(admin, estate, 'asleep');
    const id = await desk.start(asleep, 'waking', { command: 'plain.py' });
    await desk.done(id);
    expect((await admin.get('/cluster', { cluster_id: asleep })).cluster_status).toBe('RUNNING');
    const states = await admin.get('/cluster/status', { cluster_id: asleep });
    const initiating = states.data.find((state: Json) => state.cluster_status === 'INITIATING');
    expect(initiating).toMatchObject({ created_by: platform.username, reason: expect.stringContaining(String(id)) });
    await destroyCluster(admin, asleep);
    const refused = await admin.expectError(
      'POST',
      `${desk.path}/job`,
      { json: { job_conf_name: 'waking' } },
      409,
      'CLUSTER.INVALID_STATE',
    );
    expect(refused.error_message).toContain('DESTROYED');
    await admin.put('/cluster/disable', { cluster_id: asleep });
    await admin.expectError('POST', `${desk.path}/job`, { json: { job_conf_name: 'waking' } }, 409, 'CLUSTER.DISABLED');
  });

  it('end with one that does not start', async () => {
    const ill = await createCluster(admin, estate, 'ill', { bootstrap_shell_script: 'echo out of order >&2; exit 1' });
    const id = await desk.start(ill, 'hopeless', { command: 'plain.py' });
    const job = await desk.ended(id);
    expect(job).toMatchObject({ job_status: 'TERMINATED', reason_code: 'CLUSTER_FAILED' });
    expect(job.reason).toContain('out of order');
    await reachStatus(admin, ill, 'ERROR');
    const refused = await admin.expectError(
      'POST',
      `${desk.path}/job`,
      { json: { job_conf_name: 'hopeless' } },
      409,
      'CLUSTER.INVALID_STATE',
    );
    expect(refused.error_message).toContain('ERROR');
    await destroyCluster(admin, ill);
  });

  it('keep it running, until it has had none for idle_timeout_ms', async () => {
    const lazy = await createCluster(admin, estate, 'lazy', { idle_timeout_ms: 2000 });
    const { path, open } = gate();
    const id = await desk.start(lazy, 'busy', { command: 'plain.py', arguments: path });
    const log = await desk.said(id, 'began');
    const began = Number(/began (.*)/.exec(log)?.[1]) * 1000;
    await eventually(() => Date.now() - began > 4000);
    expect((await admin.get('/cluster', { cluster_id: lazy })).cluster_status).toBe('RUNNING');
    open();
    const { to_date } = (await desk.ended(id)) && { to_date: (await desk.history(id)).at(-1)?.from_date };
    await reachStatus(admin, lazy, 'STOPPED');
    const states = (await admin.get('/cluster/status', { cluster_id: lazy })).data;
    expect(states[1]).toMatchObject({ cluster_status: 'STOPPING', created_by: null });
    expect(states[1].reason).toContain('idle_timeout_ms');
    expect(new Date(states[1].start_time).getTime() - new Date(to_date).getTime()).toBeGreaterThan(1900);
    await destroyCluster(admin, lazy);
  });

  it('run on the master of a STANDALONE one, and take their executors with them', async () => {
    const master = await createCluster(admin, estate, 'master', {
      cluster_type: 'STANDALONE',
      engine_cluster_spark_config: { num_of_workers: 1, max_parallel_spark_job_execution_per_instance: 1 },
    });
    await startCluster(admin, master);
    const { path } = gate();
    const fields = { command: 'patient.py', arguments: path, executor_memory: '512m', total_executor_cores: 1 };
    const id = await desk.start(master, 'distributed', fields);
    const log = await desk.said(id, 'count 100');
    expect(log).toMatch(/^master spark:\/\/127\.0\.0\.1:\d+$/m);
    await eventually(async () => /^app-\d+-\d+$/.test((await desk.get(id)).job_application_id ?? ''), {
      timeoutMs: 120_000,
      what: 'the application id',
    });
    const executors = async () =>
      (await platform.nodeProcesses()).filter(({ pid }) => {
        const file = `/proc/${pid}/cmdline`;
        return existsSync(file) && readFileSync(file, 'utf8').includes('CoarseGrainedExecutorBackend');
      });
    expect(await executors()).toHaveLength(1);
    await desk.kill(id);
    expect((await desk.ended(id)).job_status).toBe('STOPPED');
    // The Spark worker ends them when it hears from the master.
    await eventually(async () => (await executors()).length === 0, { what: 'the end of its executors' });
    expect(await processesOfRun(platform, id)).toEqual([]);
    expect((await admin.get('/cluster', { cluster_id: master })).cluster_status).toBe('RUNNING');
    await destroyCluster(admin, master);
  });

  it('end with a cluster that is destroyed', async () => {
    const { path } = gate();
    const id = await desk.start(shared, 'orphan', { command: 'plain.py', arguments: path });
    await desk.said(id, 'began');
    await destroyCluster(admin, shared);
    const job = await desk.ended(id);
    expect(job.job_status).toBe('TERMINATED');
    expect(job.reason).toMatch(/\w+/);
    expect(await stateReason(admin, shared)).toMatch(/\w+/);
    expect(await platform.nodeProcesses()).toEqual([]);
  });
});
