import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { eventually } from '../harness/eventually';
import { UploadSlots } from '../../src/platform/http/upload-slots';
import { People } from '../medium/harness/people';
import { startWholeApi, type TestApi } from '../medium/harness/test-api';

const MEBIBYTE = 2 ** 20;
const QUOTA = MEBIBYTE;
const UPLOADS = 4;

interface Member {
  token: string;
  workspaceId: number;
}

// Real: the whole API, PostgreSQL, the disk. Left out: other pods.
describe('a user who tries to fill the shared disk', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  let dataDir: string;
  let people: People;

  async function start(environment: Record<string, string> = {}): Promise<void> {
    dataDir = await mkdtemp(join(tmpdir(), 'disk-of-all-'));
    const limits = { WORKSPACE_QUOTA_BYTES: String(QUOTA), WORKSPACE_MAX_UPLOADS: String(UPLOADS) };
    ({ api, stop } = await startWholeApi({ DATA_DIR: dataDir, ...limits, ...environment }));
    people = new People(api);
  }

  afterEach(async () => {
    await stop?.();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function member(tenant: string): Promise<Member> {
    const { token, call } = await people.admin(await people.tenant(tenant));
    const { body } = await call('POST', '/workspace', { name: 'workspace' });
    return { token, workspaceId: Number(body.workspace_id) };
  }

  /** An upload whose body the test sends, and its response, which may arrive before the body ends. */
  function upload({ token, workspaceId }: Member, path: string, headers: Record<string, string | number> = {}) {
    const url = api.urlOf(`/workspace/files?workspace_id=${workspaceId}&path=${path}&overwrite=true`);
    const body = request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream', ...headers },
    });
    body.flushHeaders();
    // The server closes the connection of a refused client that goes on sending.
    body.on('error', () => undefined);
    return { body, answer: answerOf(body) };
  }

  async function answerOf(body: ClientRequest) {
    const [response] = (await once(body, 'response')) as [IncomingMessage];
    const document = (await json(response)) as { error_code?: string };
    return { status: response.statusCode, code: document.error_code, retryAfter: response.headers['retry-after'] };
  }

  /**
   * Sends mebibytes as fast as the server accepts them, until the response arrives or this many are sent; returns the number sent.
   */
  async function pour(body: ClientRequest, answer: Promise<unknown>, mebibytes: number): Promise<number> {
    let answered = false;
    const end = answer.then(() => (answered = true));
    let sent = 0;
    for (; sent < mebibytes && !answered; sent += 1) {
      if (!body.write(Buffer.alloc(MEBIBYTE))) await Promise.race([once(body, 'drain'), end]);
    }
    return sent;
  }

  async function blobsOnDisk(): Promise<string[]> {
    const entries = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  const whole = async (who: Member, path: string, bytes: number) => {
    const { body, answer } = upload(who, path);
    body.end(Buffer.alloc(bytes));
    return (await answer).status;
  };

  it('is stopped at the quota of the workspace, with or without a Content-Length', async () => {
    await start();
    const mallory = await member('mallory');
    const endless = upload(mallory, 'endless', { 'transfer-encoding': 'chunked' });
    const sent = await pour(endless.body, endless.answer, 600);
    expect(await endless.answer).toMatchObject({ status: 413, code: 'WORKSPACE.QUOTA_EXCEEDED' });
    expect(sent).toBeLessThan(64);
    endless.body.destroy();
    for (const [header, bytes] of [
      ['content-length', 600 * MEBIBYTE],
      ['x-file-size', QUOTA + 1],
    ] as const) {
      const { body, answer } = upload(mallory, 'announced', { [header]: bytes });
      expect(await answer).toMatchObject({ status: 413, code: 'WORKSPACE.QUOTA_EXCEEDED' });
      body.destroy();
    }
    expect(await blobsOnDisk()).toEqual([]);
    expect(await whole(mallory, 'fits', QUOTA)).toBe(200);
  });

  it('is stopped at the quota with many uploads at once', async () => {
    await start({ WORKSPACE_MAX_UPLOADS: '20' });
    const mallory = await member('mallory');
    const uploads = Array.from({ length: 10 }, (_, index) =>
      upload(mallory, `part-${index}`, { 'transfer-encoding': 'chunked' }),
    );
    const size = Math.floor(0.4 * QUOTA);
    for (const { body } of uploads) body.write(Buffer.alloc(size));
    // More may be refused: uploads that arrive in step take space from each other before any of them has enough.
    const refused = await eventually(async () => {
      const early = uploads.map(({ answer }) =>
        Promise.race([answer, new Promise<null>((go) => setImmediate(go, null))]),
      );
      const answers = (await Promise.all(early)).filter((answer) => answer !== null);
      return answers.length >= 8 ? answers : null;
    });
    for (const answer of refused) expect(answer).toMatchObject({ status: 413, code: 'WORKSPACE.QUOTA_EXCEEDED' });
    for (const { body } of uploads) body.end();
    const kept = (await Promise.all(uploads.map(({ answer }) => answer))).filter(({ status }) => status === 200);
    expect(await blobsOnDisk()).toHaveLength(kept.length);
    expect(await whole(mallory, 'fits', QUOTA - kept.length * size)).toBe(200);
  });

  it('leaves nothing on the disk by overwriting a file again and again, or by deleting it', async () => {
    await start();
    const mallory = await member('mallory');
    for (let round = 0; round < 5; round += 1) expect(await whole(mallory, 'd/file', 0.9 * QUOTA)).toBe(200);
    expect(await blobsOnDisk()).toHaveLength(1);
    const { token, workspaceId } = mallory;
    const path = `/workspace/file?workspace_id=${workspaceId}&file_path=d`;
    expect((await api.call('DELETE', path, { token })).status).toBe(201);
    expect(await blobsOnDisk()).toEqual([]);
  });

  it('does not keep other tenants from uploading', async () => {
    await start();
    const [mallory, alice] = [await member('mallory'), await member('alice')];
    const begun = jest.spyOn(UploadSlots.prototype, 'run');
    const slow = [1, 2].map((index) => upload(mallory, `slow-${index}`, { 'transfer-encoding': 'chunked' }));
    for (const { body } of slow) body.write('a');
    // Starting it earlier could take the slot of one of the uploads.
    await eventually(() => begun.mock.calls.length === slow.length);
    const further = upload(mallory, 'further');
    further.body.end('b');
    const refused = await further.answer;
    expect(refused).toMatchObject({ status: 429, code: 'WORKSPACE.TOO_MANY_UPLOADS' });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    expect(await whole(alice, 'file', 10)).toBe(200);
    for (const { body } of slow) body.end();
    for (const { answer } of slow) expect((await answer).status).toBe(200);
    expect(await whole(mallory, 'further', 10)).toBe(200);
  });

  it('cannot use up the reserve for other files on the disk', async () => {
    await start({ FILES_RESERVE_BYTES: String(2 ** 52) });
    const { body, answer } = upload(await member('mallory'), 'file');
    body.end('a');
    expect(await answer).toMatchObject({ status: 503, code: 'FILE.STORE_FULL' });
    expect(await blobsOnDisk()).toEqual([]);
  });
});
