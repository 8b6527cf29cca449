import { buffer, text } from 'node:stream/consumers';
import { ObjectStorageFilesService } from '../../src/modules/infrastructure/storage/object-storage-managers/object-storage-files.service';
import { soon, wholeApi } from '../medium/harness/test-api';
import { GoogleSignIn } from './harness/emulated-clouds';
import { bytes, type FileClient, type FileTenant, type Query, refusals, tenantAdmin } from './harness/file-client';
import { newBucketName } from './harness/store-servers';
import { AzureContainer, GcsBucket, S3Bucket, type TestBucket } from './harness/test-bucket';
import { unzip } from './harness/unzip';

const ROOT = 'file:///platform/object-storage-manager/';

type Gcs = typeof import('../../libs/object-storage/gcs-key-space');
type Azure = typeof import('../../libs/object-storage/azure-key-space');
type Emulated = typeof import('./harness/emulated-clouds');

// Real: the whole API, as in production. Different: the addresses of the two clouds.
jest.mock('../../libs/object-storage/gcs-key-space', (): Gcs => {
  const actual = jest.requireActual<Gcs>('../../libs/object-storage/gcs-key-space');
  const { emulatedGcs } = jest.requireActual<Emulated>('./harness/emulated-clouds');
  return { ...actual, gcsLocation: (keys) => emulatedGcs(actual.gcsLocation(keys)) };
});
jest.mock('../../libs/object-storage/azure-key-space', (): Azure => {
  const actual = jest.requireActual<Azure>('../../libs/object-storage/azure-key-space');
  const { emulatedAzure } = jest.requireActual<Emulated>('./harness/emulated-clouds');
  return { ...actual, azureLocation: emulatedAzure };
});

const PROVIDERS: { provider: string; make: () => Promise<TestBucket> }[] = [
  { provider: 'OnPrem', make: () => S3Bucket.make() },
  { provider: 'GCP', make: () => GcsBucket.make() },
  { provider: 'Azure', make: () => AzureContainer.make() },
];

describe.each(PROVIDERS)('files of object storage managers of $provider', ({ provider, make }) => {
  const api = wholeApi();
  let tenant: FileTenant;
  let bucket: TestBucket;
  let files: FileClient;

  beforeAll(async () => {
    tenant = await tenantAdmin(api);
    await GoogleSignIn.start();
  });

  afterAll(() => GoogleSignIn.stop());

  beforeEach(async () => {
    bucket = await make();
    files = await tenant.manager(bucket.access);
  });

  afterEach(() => bucket.close());

  const put = async (path: string, content = path, query: Record<string, boolean> = {}) => {
    const answer = await files.upload(path, { body: Buffer.from(content), query });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };

  const names = async (query: Record<string, string | number | boolean> = {}) => {
    const { status, body } = await files.list(query);
    expect(status).toBe(200);
    return body.data.map((file: { full_file_path: string; is_dir: boolean }) =>
      file.full_file_path.slice(ROOT.length).concat(file.is_dir ? '/' : ''),
    );
  };

  const events = (operation: string) =>
    api.database.query<{ outcome: string; subject: Record<string, unknown> }[]>(
      `SELECT outcome, subject FROM audit_events WHERE tenant_id = $1 AND operation = $2 ORDER BY audit_event_id DESC`,
      [tenant.tenantId, operation],
    );

  it('stores a file from its upload to its deletion', async () => {
    const uploaded = await put('dir/sub/data.CSV', 'a,b\n1,2\n');
    expect(uploaded).toEqual({
      object_storage_manager_file_id: expect.stringMatching(/^\d+$/),
      object_storage_manager_id: String(files.managerId),
      file_name: 'data.CSV',
      full_file_path: `${ROOT}dir/sub/data.CSV`,
      file_size_bytes: '8',
      file_type: 'csv',
      is_dir: false,
      parent_id: expect.stringMatching(/^\d+$/),
      tenant_id: tenant.tenantId,
      created_by_user_id: String(tenant.userId),
      modified_by_user_id: String(tenant.userId),
      last_update_date: expect.any(String),
      from_date: expect.any(String),
      to_date: null,
    });
    const [event] = await events('uploadObjectStorageFile');
    expect(event).toMatchObject({ outcome: 'done', subject: { path: 'dir/sub/data.CSV' } });

    const id = Number(uploaded.object_storage_manager_file_id);
    const { body: got } = await files.get({ file_id: id });
    expect(got).toMatchObject({
      object_storage_manager_file_id: id,
      object_storage_manager: { object_storage_manager_id: files.managerId, cloud_provider: { name: provider } },
      file_size_bytes: '8',
      parent_id: Number(uploaded.parent_id),
      created_by: { user_id: tenant.userId },
      to_date: 'infinity',
    });
    const queries: Query[] = [
      { file_path: 'dir/sub/data.CSV' },
      { file_path: `${ROOT}dir/sub/data.CSV`, file_id: id },
      { object_storage_manager_name: files.managerName, file_path: 'dir/sub/data.CSV' },
    ];
    for (const query of queries) expect((await files.get(query)).body).toEqual(got);
    const { body: parent } = await files.get({ file_id: Number(uploaded.parent_id) });
    expect(parent).toMatchObject({ full_file_path: `${ROOT}dir/sub`, is_dir: true, file_type: 'directory' });

    const download = await files.download({ file_id: id });
    expect(download.status).toBe(200);
    expect(Object.fromEntries(download.headers)).toMatchObject({
      'content-disposition': 'attachment; filename="data.CSV"',
      'content-length': '8',
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    });
    expect(await download.text()).toBe('a,b\n1,2\n');

    const address = await files.addressOf({ file_id: id });
    expect(address).toContain(`${bucket.access.bucket}/dir/sub/data.CSV?`);
    if (bucket.servesAddresses) expect(await (await fetch(address)).text()).toBe('a,b\n1,2\n');

    const deleted = await files.delete({ file_id: id });
    expect(deleted).toMatchObject({ status: 201, body: { message: 'The file "dir/sub/data.CSV" is deleted.' } });
    expect((await events('deleteObjectStorageFile'))[0]).toMatchObject({ outcome: 'done', subject: { file_id: id } });
    expect(await bucket.keys()).toEqual([]);
    const gone: Query[] = [{ file_id: id }, { file_path: 'dir/sub/data.CSV' }];
    for (const query of gone) {
      for (const answer of [await files.get(query), await files.delete(query)]) {
        expect(answer).toMatchObject({ status: 404, body: { error_code: 'OBJECT_STORAGE.NOT_FOUND' } });
      }
      expect((await files.download(query)).status).toBe(404);
    }
  });

  it('lists a directory, everything below it, and a file', async () => {
    for (const path of ['b.txt', 'a/one', 'a/deep/two', 'c/three']) await put(path);
    expect(await names()).toEqual(['a/', 'b.txt', 'c/']);
    expect(await names({ file_path: 'a' })).toEqual(['a/deep/', 'a/one']);
    expect(await names({ file_path: '/', recursive: true })).toEqual([
      ...['a/', 'a/deep/', 'a/deep/two', 'a/one', 'b.txt', 'c/', 'c/three'],
    ]);
    expect(await names({ file_path: 'a/one' })).toEqual(['a/one']);
    const { body: directory } = await files.get({ file_path: 'a' });
    expect(await names({ file_id: directory.object_storage_manager_file_id })).toEqual(['a/deep/', 'a/one']);
    expect((await files.list({ file_path: 'nowhere' })).status).toBe(404);
    expect((await files.list({ file_path: 'a/../b.txt' })).status).toBe(400);
  });

  it('returns an empty page for an empty root and an empty directory', async () => {
    const { body } = await files.list();
    expect(body).toEqual({
      data: [],
      result_set: { current_page: 1, total_objects: 0, total_pages: 1, limit: 100 },
    });
    expect((await files.upload('empty', { query: { is_dir: true } })).status).toBe(200);
    expect(await names({ file_path: 'empty' })).toEqual([]);
  });

  it('returns everything once and in order to a client that follows next_page', async () => {
    const wanted = Array.from({ length: 23 }, (_, index) => `d/f${String(index).padStart(2, '0')}`);
    await Promise.all(wanted.map((path) => bucket.put(path)));
    const seen: string[] = [];
    const ids = new Set<number>();
    for (let pageNumber: number | undefined = 1; pageNumber !== undefined;) {
      const { body } = await files.list({ file_path: 'd', limit: 5, pageNumber });
      expect(body.result_set).toMatchObject({ current_page: pageNumber, total_objects: 23, total_pages: 5 });
      for (const file of body.data) {
        seen.push(file.full_file_path.slice(ROOT.length));
        ids.add(file.object_storage_manager_file_id);
      }
      pageNumber = body.result_set.next_page;
    }
    expect(seen).toEqual(wanted);
    expect(ids.size).toBe(23);
  });

  it('finds files by part of the name, case-insensitive', async () => {
    for (const path of ['Report.csv', 'x/REPORT-2.csv', 'x/y/report', 'report/other.txt', 'x/rep']) await put(path);
    const found = async (query: Record<string, string | boolean> = {}) => {
      const { body } = await files.search('rEpOrT', query);
      expect(body.result_set.total_objects).toBe(body.data.length);
      return body.data.map((file: { full_file_path: string }) => file.full_file_path.slice(ROOT.length));
    };
    expect(await found()).toEqual(['Report.csv', 'report']);
    expect(await found({ recursive: true })).toEqual(['Report.csv', 'report', 'x/REPORT-2.csv', 'x/y/report']);
    expect(await found({ recursive: true, file_path: 'x' })).toEqual(['x/REPORT-2.csv', 'x/y/report']);
    expect(await found({ file_path: 'x/REPORT-2.csv' })).toEqual(['x/REPORT-2.csv']);
    expect(await found({ file_path: 'x/rep' })).toEqual([]);
    expect((await files.search('', {})).status).toBe(400);
  });

  it('downloads a directory as a zip file, and deletes it with its content', async () => {
    for (const path of ['d/a.txt', 'd/sub/b.txt', 'other']) await put(path, `content of ${path}`);
    await files.upload('d/empty', { query: { is_dir: true } });
    const download = await files.download({ file_path: 'd', redirect: true });
    expect(download.headers.get('content-disposition')).toBe('attachment; filename="d.zip"');
    const content = unzip(Buffer.from(await download.arrayBuffer()));
    expect([...content]).toEqual([
      ['a.txt', 'content of d/a.txt'],
      ['empty/', ''],
      ['sub/', ''],
      ['sub/b.txt', 'content of d/sub/b.txt'],
    ]);
    const { body } = await files.delete({ file_path: 'd' });
    expect(body).toEqual({ message: 'The directory "d" with 2 files is deleted.' });
    expect(await bucket.keys()).toEqual(['other']);
    expect(await files.rows()).toEqual([{ path: 'other', is_dir: false }]);
  });

  it.each([
    ...['what?.txt', 'number#1.txt', '100%.txt', 'a b/c d.txt', 'plus+.txt', 'ünïcode 文件 🚀.txt', 'a"b\'c(d)*.txt'],
    ...['a&b=c;d.txt', '~tilde!$.txt', 'e\u0301 and \u00e9', '%2e%2e', `${'long-name/'.repeat(102)}abc`],
  ])('accepts the name %s', async (path) => {
    await put(path, 'content');
    expect(await bucket.keys()).toEqual([path]);
    expect(await names({ recursive: true, limit: 1000 })).toContain(path);
    const download = await files.download({ file_path: path });
    expect(await download.text()).toBe('content');
    const [, encoded] = /filename\*=UTF-8''(\S+)$/.exec(download.headers.get('content-disposition') ?? '') ?? [];
    const name = path.split('/').at(-1);
    if (encoded === undefined) expect(download.headers.get('content-disposition')).toContain(`filename="${name}"`);
    else expect(decodeURIComponent(encoded)).toBe(name);
    expect((await files.delete({ file_path: path })).status).toBe(201);
    expect(await bucket.keys()).toEqual([]);
  });

  it.each<{ path: string } & Query>([
    ...[
      { path: '//a' },
      { path: '/../a' },
      { path: '../a' },
      { path: 'a/../b' },
      { path: './a' },
      { path: 'a/.' },
      { path: 'a//b' },
    ],
    ...[{ path: 'a/' }, { path: 'a\nb' }, { path: 'a\u0000' }, { path: 'a\\b' }, { path: ' ' }, { path: 'a/ /b' }],
    ...[{ path: 'x'.repeat(1024) }, { path: 'é'.repeat(512) }, { path: 'x'.repeat(512), target_dir: 'y'.repeat(512) }],
    ...[
      { path: 'a', target_dir: '..' },
      { path: 'a', target_dir: '/../etc' },
      { path: 'a', target_dir: '//etc' },
      { path: '/', is_dir: true },
    ],
  ])('refuses to upload to %j', async (query) => {
    const { path, ...more } = query;
    const answer = await files.upload(path, { body: Buffer.from('x'), query: more });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'FILE.INVALID_PATH' } });
    expect(await bucket.keys()).toEqual([]);
    expect(await files.rows()).toEqual([]);
  });

  it('prepends target_dir to the path', async () => {
    await files.upload('b/c', { body: Buffer.from('x'), query: { target_dir: 'a/' } });
    await files.upload('d', { body: Buffer.from('x'), query: { target_dir: '/' } });
    await files.upload('e', { body: Buffer.from('x'), query: { target_dir: `${ROOT}a` } });
    await files.upload('/f', { body: Buffer.from('x'), query: { target_dir: '/a' } });
    expect(await bucket.keys()).toEqual(['a/b/c', 'a/e', 'a/f', 'd']);
  });

  it('treats a leading slash of a path as the root', async () => {
    const { body: made } = await files.upload('/dir/note.txt', { body: Buffer.from('x') });
    expect(made.full_file_path).toBe(`${ROOT}dir/note.txt`);
    expect((await files.upload('/other/', { query: { is_dir: true } })).status).toBe(200);
    expect((await files.upload('dir/note.txt', { body: Buffer.from('y') })).status).toBe(409);
    expect(await names({ file_path: '/', recursive: true })).toEqual(['dir/', 'dir/note.txt', 'other/']);
    for (const file_path of ['dir/note.txt', '/dir/note.txt']) {
      expect((await files.get({ file_path })).body.object_storage_manager_file_id).toBe(
        Number(made.object_storage_manager_file_id),
      );
      expect(await (await files.download({ file_path })).text()).toBe('x');
    }
    expect((await files.search('note', { file_path: '/dir' })).body.data).toHaveLength(1);
    for (const file_path of ['//dir/note.txt', '/dir//note.txt']) {
      expect(await files.get({ file_path })).toMatchObject({ status: 400, body: { error_code: 'FILE.INVALID_PATH' } });
    }
    expect((await files.delete({ file_path: '/dir/note.txt' })).status).toBe(201);
    expect((await files.delete({ file_path: '/other' })).status).toBe(201);
    expect(await bucket.keys()).toEqual([]);
  });

  it('replaces a file only with overwrite, and one of two concurrent uploads wins', async () => {
    const first = await put('file', 'first');
    const refused = await files.upload('file', { body: Buffer.from('second') });
    expect(refused).toMatchObject({ status: 409, body: { error_code: 'OBJECT_STORAGE.ALREADY_EXISTS' } });
    const third = await put('file', 'third', { overwrite: true });
    expect(third.object_storage_manager_file_id).toBe(first.object_storage_manager_file_id);
    expect(await (await files.download({ file_path: 'file' })).text()).toBe('third');
    const race = await Promise.all(
      ['one', 'two'].map((content) => files.upload('contested', { body: Buffer.from(content) })),
    );
    expect(race.map(({ status }) => status).sort()).toEqual([200, 409]);
    const kept = race[0]?.status === 200 ? 'one' : 'two';
    expect(await (await files.download({ file_path: 'contested' })).text()).toBe(kept);
  });

  it('never allows a file and a directory with the same path', async () => {
    await put('file');
    await put('dir/inner');
    const refusals = [
      await files.upload('file/below', { body: Buffer.from('x') }),
      await files.upload('file/far/below', { query: { is_dir: true } }),
      await files.upload('dir', { body: Buffer.from('x'), query: { overwrite: true } }),
      await files.upload('file', { query: { is_dir: true, overwrite: true } }),
      await files.upload('dir', { query: { is_dir: true } }),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error_code])).toEqual([
      [409, 'OBJECT_STORAGE.NOT_A_DIRECTORY'],
      [409, 'OBJECT_STORAGE.NOT_A_DIRECTORY'],
      [409, 'OBJECT_STORAGE.IS_DIRECTORY'],
      [409, 'OBJECT_STORAGE.NOT_A_DIRECTORY'],
      [409, 'OBJECT_STORAGE.ALREADY_EXISTS'],
    ]);
    expect(await bucket.keys()).toEqual(['dir/inner', 'file']);
    expect((await files.upload('dir', { query: { is_dir: true, overwrite: true } })).status).toBe(200);
    const withBody = await files.upload('new', { body: Buffer.from('x'), query: { is_dir: true } });
    expect(withBody).toMatchObject({ status: 400, body: { error_code: 'REQUEST.INVALID' } });
  });

  it('distinguishes a file and a directory that others created with the same path', async () => {
    await bucket.put('both', 'of the file');
    // MinIO supports both only if the directory is a marker.
    await bucket.put('dir/');
    expect(await names()).toEqual(['both', 'dir/']);
    const { body } = await files.get({ file_path: 'dir' });
    expect(body).toMatchObject({ is_dir: true, file_size_bytes: '0' });
    expect((await files.delete({ file_id: body.object_storage_manager_file_id })).status).toBe(201);
    expect(await bucket.keys()).toEqual(['both']);
  });

  it('shows files that others put, changed and removed in the store', async () => {
    await bucket.put('theirs', '12345');
    const { body } = await files.get({ file_path: 'theirs' });
    expect(body).toMatchObject({ file_size_bytes: '5', created_by: null, modified_by: null, parent_id: null });
    await bucket.put('theirs', '1234567');
    const id = body.object_storage_manager_file_id;
    expect((await files.get({ file_id: id })).body).toMatchObject({ file_size_bytes: '7' });
    await bucket.remove('theirs');
    expect(await names()).toEqual([]);
    for (const answer of [await files.get({ file_id: id }), await files.delete({ file_id: id })]) {
      expect(answer).toMatchObject({ status: 404, body: { error_code: 'OBJECT_STORAGE.NOT_FOUND' } });
    }
    await bucket.put('theirs', '1');
    expect((await files.get({ file_path: 'theirs' })).body.object_storage_manager_file_id).toBe(id);
  });

  it('accepts only ids of its own manager, and refuses an id and a path that disagree', async () => {
    const id = (await put('a')).object_storage_manager_file_id;
    await put('b');
    const others = await tenant.manager(bucket.access);
    const strangers = await (await tenantAdmin(api)).manager(bucket.access);
    const answers = [
      await others.get({ file_id: id }),
      await strangers.get({ file_id: id }),
      await strangers.get({ object_storage_manager_id: files.managerId, file_id: id }),
      await files.get({ file_id: id, file_path: 'b' }),
      await files.list({ file_id: id, file_path: 'b' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await files.get({})).body.error_code).toBe('REQUEST.SELECTOR_MISSING');
    for (const file_path of ['/', ROOT]) expect((await files.delete({ file_path })).status).toBe(400);
    expect(await bucket.keys()).toEqual(['a', 'b']);
  });

  it('returns the same ids to concurrent lists', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, index) => bucket.put(`many/${index}`)));
    const pages = await Promise.all(Array.from({ length: 6 }, () => files.list({ file_path: 'many' })));
    const ids = pages.map(({ body }) =>
      body.data.map((file: Record<string, unknown>) => file['object_storage_manager_file_id']),
    );
    for (const other of ids) expect(other).toEqual(ids[0]);
    expect(await files.rows()).toHaveLength(41);
  });

  it('uploads once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'upload-once' };
    const send = (content: string) => files.upload('once', { body: Buffer.from(content), headers });
    const first = await send('content');
    expect(first.status).toBe(200);
    expect((await send('content')).body).toEqual(first.body);
    expect(await send('other')).toMatchObject({
      status: 409,
      body: { error_code: 'REQUEST.IDEMPOTENCY_MISMATCH' },
    });
    expect(await text((await files.download({ file_path: 'once' })).body!)).toBe('content');
  });

  it('opens a job file for a node', async () => {
    await put('jobs/job.py', 'print()');
    await put('secret-dir/inner');
    const service = api.app.get(ObjectStorageFilesService, { strict: false });
    const statusOf = (error: unknown) => (error as { kind?: string }).kind ?? 'unexpected';
    const opened = async (path: string) => {
      try {
        const content = await service.openForNode(tenant.tenantId, files.managerId, path);
        return content.kind === 'file' ? await text(content.stream) : content.kind;
      } catch (error) {
        return statusOf(error);
      }
    };
    expect(await opened('jobs/job.py')).toBe('print()');
    expect(await opened(`${ROOT}jobs/job.py`)).toBe('print()');
    expect(await opened('secret-dir')).toBe('not-found');
    expect(await opened('absent')).toBe('not-found');
  });

  it('uploads and downloads a large file', async () => {
    const content = Buffer.alloc(20 * 2 ** 20 + 7, 'some bytes that repeat ');
    expect(
      (await files.upload('large', { body: content, headers: { 'x-file-size': String(content.length) } })).status,
    ).toBe(200);
    const { body } = await files.download({ file_path: 'large' });
    expect((await buffer(body!)).equals(content)).toBe(true);
    expect((await bucket.unfinishedUploads()) ?? []).toEqual([]);
  });

  it('leaves nothing of an upload whose client disconnects', async () => {
    const body = bytes(25 * 2 ** 20, { endsWith: 'failure' });
    await expect(files.upload('dir/file', { body })).rejects.toThrow('the client is gone');
    await soon(async () => {
      const [event] = await api.database.query(
        `SELECT outcome, error_code FROM audit_events WHERE tenant_id = $1 AND operation = 'uploadObjectStorageFile'
         ORDER BY audit_event_id DESC`,
        [tenant.tenantId],
      );
      expect(event).toEqual({ outcome: 'refused', error_code: 'OBJECT_STORAGE.SOURCE_FAILED' });
    });
    expect(await bucket.keys()).toEqual([]);
    expect((await bucket.unfinishedUploads()) ?? []).toEqual([]);
    expect(await files.rows()).toEqual([]);
  });

  it('reports a missing bucket', async () => {
    const { statuses, bodies } = await refusals(await tenant.manager({ ...bucket.access, bucket: newBucketName() }));
    expect(new Set(statuses)).toEqual(new Set([400]));
    for (const body of bodies) expect(body['error_code']).toBe('OBJECT_STORAGE.BUCKET_NOT_FOUND');
  });

  it('reports a wrong secret without showing it', async () => {
    const { access, secret } = bucket.wrongSecret;
    const { statuses, bodies } = await refusals(await tenant.manager(access));
    expect(new Set(statuses)).toEqual(new Set([400]));
    for (const body of bodies) {
      expect(body['error_message']).toMatch(/credential|access/);
      expect(JSON.stringify(body)).not.toContain(secret);
    }
    expect(bodies[0]?.['error_code']).toBe('OBJECT_STORAGE.INVALID_CREDENTIALS');
    expect(bodies[0]?.['error_message']).toMatch(/sign|authenticate/i);
  });
});
