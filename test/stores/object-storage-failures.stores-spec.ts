import { Readable } from 'node:stream';
import { eventually } from '../harness/eventually';
import { UploadSlots } from '../../src/platform/http/upload-slots';
import { configure, soon, startWholeApi, TestApi, type TestDatabase } from '../medium/harness/test-api';
import { FaultProxy } from './harness/fault-proxy';
import { bytes, FileClient, FileTenant, refusals, tenantAdmin } from './harness/file-client';
import { storeServers } from './harness/store-servers';
import { S3Bucket } from './harness/test-bucket';

const MEBIBYTE = 2 ** 20;
const MAX_UPLOAD = 30 * MEBIBYTE;
/** Total limit; one tenant gets half of it. */
const MAX_UPLOADS = 4;

describe('files of an object storage manager, with failures', () => {
  let api: TestApi;
  let database: TestDatabase;
  let stop: (() => Promise<void>) | undefined;
  let tenant: FileTenant;
  let bucket: S3Bucket;
  let files: FileClient;
  let proxy: FaultProxy;
  /** The same bucket through the proxy. */
  let proxied: FileClient;

  const limits = {
    HTTP_MAX_UPLOAD_BYTES: String(MAX_UPLOAD),
    OBJECT_STORE_MAX_UPLOADS: String(MAX_UPLOADS),
  };

  beforeAll(async () => {
    ({ api, database, stop } = await startWholeApi(limits));
    tenant = await tenantAdmin(api);
  });

  afterAll(() => stop?.());

  beforeEach(async () => {
    bucket = await S3Bucket.make();
    files = await tenant.manager(bucket.access);
    proxy = await FaultProxy.before(bucket.endpoint);
    proxied = await tenant.manager(bucket.accessBy({ endpoint: proxy.url }));
  });

  afterEach(async () => {
    await proxy.stop();
    bucket.close();
  });

  const nothingIsLeft = async () => {
    expect(await bucket.keys()).toEqual([]);
    expect(await bucket.unfinishedUploads()).toEqual([]);
    expect(await files.rows()).toEqual([]);
  };

  it.each([
    ['more', 9 * MEBIBYTE, 8 * MEBIBYTE],
    ['fewer', 17 * MEBIBYTE, 18 * MEBIBYTE],
    ['more', 3, 2],
    ['fewer', 2, 3],
  ])('refuses %s bytes than announced (%i for %i)', async (_what, size, announced) => {
    const headers = { 'x-file-size': String(announced) };
    for (const body of [bytes(size), Buffer.alloc(size)]) {
      const answer = await files.upload('file', { body, headers });
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'OBJECT_STORAGE.SIZE_MISMATCH' } });
    }
    await nothingIsLeft();
  });

  it('refuses an invalid size', async () => {
    const answer = await files.upload('file', { body: Buffer.alloc(3), headers: { 'x-file-size': '0x3' } });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'REQUEST.INVALID' } });
  });

  it('refuses a file that is too large, with or without an announced size', async () => {
    const refused = { status: 413, body: { error_code: 'FILE.TOO_LARGE' } };
    const headers = { 'x-file-size': String(MAX_UPLOAD + 1) };
    expect(await files.upload('file', { body: bytes(MAX_UPLOAD + 1), headers })).toMatchObject(refused);
    expect(await files.upload('file', { body: bytes(MAX_UPLOAD + 5 * MEBIBYTE) })).toMatchObject(refused);
    await nothingIsLeft();
    expect(await files.upload('file', { body: bytes(MAX_UPLOAD) })).toMatchObject({ status: 200 });
  });

  it('responds to a refused client that continues to send', async () => {
    await bucket.put('file');
    const answer = await files.upload('file', { body: bytes(20 * MEBIBYTE) });
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'OBJECT_STORAGE.ALREADY_EXISTS' } });
  });

  it('allows one tenant only half of the configured number of concurrent uploads', async () => {
    const held = Array.from({ length: MAX_UPLOADS / 2 }, () => new Readable({ read: () => {} }));
    held.forEach((source) => source.push(Buffer.alloc(10)));
    const begun = jest.spyOn(UploadSlots.prototype, 'run');
    const underWay = held.map((body, index) => files.upload(`held-${index}`, { body }));
    // Starting it earlier could take the slot of one of the uploads.
    await eventually(() => begun.mock.calls.length === held.length);
    const answer = await files.upload('further', { body: Buffer.from('x') });
    expect(answer).toMatchObject({ status: 429, body: { error_code: 'OBJECT_STORAGE.TOO_MANY_UPLOADS' } });
    expect(answer.headers.get('retry-after')).toBe('10');
    held.forEach((source) => source.push(null));
    expect((await Promise.all(underWay)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await files.upload('further', { body: Buffer.from('x') })).status).toBe(200);
  });

  describe('reports why the store is not accessible', () => {
    it('if nothing listens at the address', async () => {
      const endpoint = 'http://127.0.0.1:9';
      const { statuses, bodies } = await refusals(await tenant.manager(bucket.accessBy({ endpoint })));
      expect(new Set(statuses)).toEqual(new Set([500]));
      for (const body of bodies) expect(body.error_code).toBe('OBJECT_STORAGE.UNAVAILABLE');
    });

    it('on this machine, under the policy of production', async () => {
      const client = await tenant.manager(bucket.access);
      const keys = { SECRETS_MASTER_KEYS: process.env['SECRETS_MASTER_KEYS']! };
      const strict = await TestApi.startWhole(
        configure(database.url, { ...limits, ...keys, OUTBOUND_ADDRESSES: 'private' }),
      );
      try {
        const answer = await strict.call(
          'GET',
          `/object_storage_manager/files?object_storage_manager_id=${client.managerId}`,
          {
            token: tenant.token,
          },
        );
        expect(answer).toMatchObject({ status: 400, body: { error_code: 'OBJECT_STORAGE.ADDRESS_REFUSED' } });
      } finally {
        await strict.stop();
      }
    });
  });

  // moto accepts every name that the platform accepts.
  if (storeServers().s3.name === 'MinIO')
    it('reports that the store refuses a name', async () => {
      const answer = await files.upload('n'.repeat(1000), { body: Buffer.from('x') });
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'OBJECT_STORAGE.INVALID_REQUEST' } });
    });

  describe('with a short timeout of stores', () => {
    let impatient: TestApi;
    /** A client of the API with a short timeout, for the bucket behind the proxy. */
    let hurried: FileClient;

    beforeAll(async () => {
      const keys = { SECRETS_MASTER_KEYS: process.env['SECRETS_MASTER_KEYS']! };
      const more = { ...limits, ...keys, OBJECT_STORE_TIMEOUT_MS: '1500' };
      impatient = await TestApi.startWhole(configure(database.url, more));
    });
    afterAll(() => impatient?.stop());
    beforeEach(() => {
      const { token, tenantId, userId } = tenant;
      hurried = new FileClient(
        new FileTenant(impatient, token, tenantId, userId),
        proxied.managerId,
        proxied.managerName,
      );
    });

    it('fails if a store does not respond', async () => {
      proxy.hangAfter(0);
      const answers = [await hurried.list(), await hurried.get({ file_path: 'file' })];
      answers.push(await hurried.upload('file', { body: Buffer.from('x') }));
      const download = await hurried.download({ file_path: 'file' });
      const codes = [
        ...answers.map(({ body }) => body.error_code),
        ((await download.json()) as { error_code: string }).error_code,
      ];
      expect(codes).toEqual(Array.from({ length: 4 }, () => 'OBJECT_STORAGE.TIMEOUT'));
      expect([...answers.map(({ status }) => status), download.status]).toEqual([500, 500, 500, 500]);
    });

    it.each(['hang', 'cut'] as const)('aborts a download when the store does (%s)', async (fault) => {
      await bucket.put('dir/file', Buffer.alloc(20 * MEBIBYTE, 'not to be compressed well '));
      for (const path of ['dir/file', 'dir']) {
        // On a busy machine the start of a download may exceed the short timeout.
        const response = await eventually(async () => {
          const begun = await hurried.download({ file_path: path });
          if (begun.status === 200) return begun;
          throw new Error(await begun.text());
        });
        if (fault === 'hang') proxy.hangAfter(0);
        else proxy.cutAfter(0);
        await expect(response.arrayBuffer()).rejects.toThrow();
        proxy.heal();
      }
    });
  });

  it('stops reading when the client of a download goes away', async () => {
    await bucket.put('dir/file', Buffer.alloc(25 * MEBIBYTE));
    for (const path of ['dir/file', 'dir']) {
      proxy.heal();
      await soon(async () => expect(proxy.connections).toBe(0));
      const controller = new AbortController();
      const response = await proxied.download({ file_path: path }, controller.signal);
      await response.body!.getReader().read();
      const during = proxy.connections;
      controller.abort();
      await soon(async () => expect(proxy.connections).toBeLessThan(during));
    }
  });
});
