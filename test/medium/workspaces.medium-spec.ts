import { type Caller, People } from './harness/people';
import { wholeApi, type TestAnswer } from './harness/test-api';

// Real: the whole API and PostgreSQL.
describe('workspaces', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let workspace: string;
  let made = 0;

  beforeAll(async () => {
    caller = await people.admin(await people.tenant('tenant'));
  });

  beforeEach(async () => {
    const { body } = await caller.call('POST', '/workspace', { name: `workspace-${(made += 1)}` });
    workspace = `workspace_id=${String(body.workspace_id)}`;
  });

  const refusal = ({ status, body }: TestAnswer) => [status, body.error_code];
  const upload = async (query: string): Promise<TestAnswer> => {
    const response = await fetch(api.urlOf(`/workspace/files?${workspace}&${query}`), {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/octet-stream' },
      body: query.includes('is_dir') ? undefined : 'content',
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as TestAnswer['body'] };
  };

  describe('the files of a workspace', () => {
    const lists: [string, string][] = [
      ['list', '/workspace/files?'],
      ['search', '/workspace/files/search?file_name=e&'],
    ];

    describe.each(lists)('%s', (_what, path) => {
      const list = (query = '') => caller.call('GET', `${path}${workspace}${query}`);
      const nothing = [404, 'FILE.NOT_FOUND'];

      it('is 404 if there is nothing', async () => {
        expect(refusal(await list())).toEqual(nothing);
        expect(refusal(await list('&recursive=true&pageNumber=2'))).toEqual(nothing);
        expect(refusal(await list('&file_path=/'))).toEqual(nothing);
        await upload('path=e-empty&is_dir=true');
        for (const more of ['', '&recursive=true', '&is_dir=false', '&pageNumber=3']) {
          expect(refusal(await list(`&file_path=e-empty${more}`))).toEqual(nothing);
        }
        expect(refusal(await list('&file_path=e-nowhere'))).toEqual(nothing);
        expect(refusal(await list('&is_dir=false'))).toEqual(nothing);
        expect(refusal(await list('&is_git=true'))).toEqual(nothing);
      });

      it('returns the existing files, and an empty page beyond the last', async () => {
        await upload('path=e-full/e-file');
        for (const query of ['', '&file_path=e-full', '&file_path=/e-full/e-file', '&recursive=true&is_dir=false']) {
          const { status, body } = await list(query);
          expect([status, body.data.length]).toEqual([200, 1]);
        }
        const beyond = await list('&pageNumber=2');
        expect([beyond.status, beyond.body.data, beyond.body.result_set.total_objects]).toEqual([200, [], 1]);
      });
    });

    it('is 404 if no name contains the part', async () => {
      await upload('path=file');
      const answer = await caller.call('GET', `/workspace/files/search?${workspace}&file_name=other`);
      expect(refusal(answer)).toEqual([404, 'FILE.NOT_FOUND']);
    });

    it('are the same with a leading slash in the path, which is the root', async () => {
      const made = await upload('path=/note.txt&target_dir=/data');
      expect([made.status, made.body.full_file_path]).toEqual([200, 'data/note.txt']);
      expect(refusal(await upload('path=data/note.txt'))).toEqual([409, 'FILE.EXISTS']);
      for (const path of ['data/note.txt', '/data/note.txt']) {
        const { body } = await caller.call('GET', `/workspace/file?${workspace}&file_path=${path}`);
        expect(body.workspace_file_id).toBe(Number(made.body.workspace_file_id));
        const list = await caller.call('GET', `/workspace/files?${workspace}&file_path=${path}`);
        expect(list.body.data).toEqual([body]);
        const download = api.urlOf(`/workspace/file/download?${workspace}&file_path=${path}`);
        const content = await fetch(download, { headers: { authorization: `Bearer ${caller.token}` } });
        expect(await content.text()).toBe('content');
      }
      expect(refusal(await upload('path=/../note.txt'))).toEqual([400, 'FILE.INVALID_PATH']);
      expect((await caller.call('DELETE', `/workspace/file?${workspace}&file_path=/data/note.txt`)).status).toBe(201);
    });

    it('keep the content of an existing directory that is created again with overwrite', async () => {
      const made = await upload('path=a/b&is_dir=true');
      await upload('path=a/b/file');
      expect(refusal(await upload('path=a/b&is_dir=true'))).toEqual([409, 'FILE.EXISTS']);
      const again = await upload('path=a/b&is_dir=true&overwrite=true');
      expect(again.status).toBe(200);
      expect(again.body).toMatchObject({ workspace_file_id: made.body.workspace_file_id, is_dir: true });
      const { body } = await caller.call('GET', `/workspace/files?${workspace}&file_path=a/b`);
      expect(body.data).toMatchObject([{ full_file_path: 'a/b/file' }]);
    });

    it('do not replace a file that was changed after it was read, or is gone', async () => {
      const file = await upload('path=edited.py');
      const since = (version: string) => `path=edited.py&overwrite=true&unchanged_since=${version}`;
      const first = await upload(since(file.body.last_update_date));
      expect(first.status).toBe(200);
      expect(refusal(await upload(since(file.body.last_update_date)))).toEqual([409, 'FILE.CHANGED']);
      expect((await upload(since(first.body.last_update_date))).status).toBe(200);
      expect((await caller.call('DELETE', `/workspace/file?${workspace}&file_path=edited.py`)).status).toBe(201);
      expect(refusal(await upload(since(first.body.last_update_date)))).toEqual([409, 'FILE.CHANGED']);
    });

    it('do not replace a file by a directory, nor a directory by a file', async () => {
      await upload('path=file');
      await upload('path=directory&is_dir=true');
      expect(refusal(await upload('path=file&is_dir=true'))).toEqual([409, 'FILE.EXISTS']);
      expect(refusal(await upload('path=file&is_dir=true&overwrite=true'))).toEqual([409, 'FILE.NOT_A_DIRECTORY']);
      expect(refusal(await upload('path=directory&overwrite=true'))).toEqual([409, 'FILE.IS_DIRECTORY']);
    });
  });

  describe('once disabled', () => {
    beforeEach(async () => {
      expect((await caller.call('PUT', `/workspace/disable?${workspace}`)).status).toBe(201);
    });

    it('are renamed and described, and stay disabled', async () => {
      const name = `renamed-${made}`;
      const answer = await caller.call('PUT', `/workspace?${workspace}`, { name, description: 'put aside' });
      expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ name, description: 'put aside' })]);
      expect(answer.body.to_date).not.toBe('infinity');
      expect(refusal(await upload('path=file'))).toEqual([409, 'WORKSPACE.DISABLED']);
      expect((await caller.call('PUT', `/workspace/enable?${workspace}`)).status).toBe(201);
    });

    it('leave their name to the current workspace', async () => {
      const name = `workspace-${made}`;
      const { body } = await caller.call('POST', '/workspace', { name });
      expect((await caller.call('PUT', `/workspace/disable?workspace_id=${body.workspace_id}`)).status).toBe(201);
      expect((await caller.call('PUT', `/workspace/enable?${workspace}`)).status).toBe(201);
      const found = await caller.call('GET', `/workspace?workspace_name=${name}`);
      expect(`workspace_id=${found.body.workspace_id}`).toBe(workspace);
    });

    it('accept no files and no directories', async () => {
      expect(refusal(await upload('path=file'))).toEqual([409, 'WORKSPACE.DISABLED']);
      expect(refusal(await upload('path=directory&is_dir=true&overwrite=true'))).toEqual([409, 'WORKSPACE.DISABLED']);
    });
  });
});
