import { DirectoryBlobStore } from '../../libs/object-storage/directory-blob-store';
import { type Caller, People } from './harness/people';
import { wholeApi } from './harness/test-api';

// Real: the whole API and PostgreSQL.
describe('a download of a file that is overwritten meanwhile', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let workspaceId: number;

  beforeAll(async () => {
    caller = await people.admin(await people.tenant('tenant'));
    const { body } = await caller.call('POST', '/workspace', { name: 'workspace' });
    workspaceId = Number(body.workspace_id);
  });

  afterEach(() => jest.restoreAllMocks());

  const headers = () => ({ authorization: `Bearer ${caller.token}`, 'content-type': 'application/octet-stream' });
  const upload = async (content: string) => {
    const url = api.urlOf(`/workspace/files?workspace_id=${workspaceId}&path=file&overwrite=true`);
    const response = await fetch(url, { method: 'POST', headers: headers(), body: content });
    // A response that nobody reads keeps its connection, for which the API waits when it stops.
    await response.text();
    return response.status;
  };
  const download = async (further = '') => {
    const url = api.urlOf(`/workspace/file/download?workspace_id=${workspaceId}&file_path=file${further}`);
    const response = await fetch(url, { headers: headers() });
    return { status: response.status, content: await response.text() };
  };

  it('has the new bytes', async () => {
    expect(await upload('old')).toBe(200);
    const { read } = DirectoryBlobStore.prototype;
    jest.spyOn(DirectoryBlobStore.prototype, 'read').mockImplementationOnce(async function (
      this: DirectoryBlobStore,
      ...of
    ) {
      expect(await upload('the new ones')).toBe(200);
      return read.apply(this, of);
    });
    expect(await download()).toEqual({ status: 200, content: 'the new ones' });
    // A directory of the platform's own signs no addresses.
    expect(await download('&redirect=true')).toEqual({ status: 200, content: 'the new ones' });
  });
});
