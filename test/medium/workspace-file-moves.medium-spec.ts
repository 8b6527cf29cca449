import { type Caller, People, refusal } from './harness/people';
import { wholeApi, type TestAnswer } from './harness/test-api';

const QUOTA = 1_000;

// Real: the whole API, PostgreSQL and the file store.
describe('files of a workspace', () => {
  const api = wholeApi({ WORKSPACE_QUOTA_BYTES: String(QUOTA) });
  const people = new People(api);
  let caller: Caller;
  let workspace: string;

  beforeAll(async () => {
    caller = await people.admin(await people.tenant());
  });

  beforeEach(async () => {
    const { body } = await caller.call('POST', '/workspace', { name: people.unique('workspace') });
    workspace = `workspace_id=${String(body.workspace_id)}`;
  });

  const authorization = () => ({ authorization: `Bearer ${caller.token}` });
  const upload = async (path: string, content = path, query = ''): Promise<TestAnswer> => {
    const response = await fetch(api.urlOf(`/workspace/files?${workspace}&path=${encodeURIComponent(path)}${query}`), {
      method: 'POST',
      headers: { ...authorization(), 'content-type': 'application/octet-stream' },
      body: query.includes('is_dir') ? undefined : content,
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as TestAnswer['body'] };
  };
  const download = async (path: string): Promise<string | number> => {
    const url = api.urlOf(`/workspace/file/download?${workspace}&file_path=${encodeURIComponent(path)}`);
    const response = await fetch(url, { headers: authorization() });
    return response.status === 200 ? response.text() : response.status;
  };
  const paths = async (): Promise<string[]> => {
    const { body } = await caller.call('GET', `/workspace/files?${workspace}&recursive=true&limit=1000`);
    return body.data.map(({ full_file_path: path }: { full_file_path: string }) => path).sort();
  };
  const usage = async () => {
    const { body } = await caller.call('GET', `/workspace/file/usage?${workspace}`);
    return [body.file_count, body.directory_count, body.total_size_bytes];
  };
  const rename = (path: string, name: string) =>
    caller.call(
      'PUT',
      `/workspace/file/rename?${workspace}&file_path=${encodeURIComponent(path)}&file_name=${encodeURIComponent(name)}`,
    );
  const relocate = (how: 'move' | 'copy', from: string, to: string, overwrite = false) =>
    caller.call(
      how === 'move' ? 'PUT' : 'POST',
      `/workspace/file/${how}?${workspace}&source_file_path=${encodeURIComponent(from)}&destination_file_path=${encodeURIComponent(to)}&overwrite=${overwrite}`,
    );
  const move = (from: string, to: string, overwrite = false) => relocate('move', from, to, overwrite);
  const copy = (from: string, to: string, overwrite = false) => relocate('copy', from, to, overwrite);

  it('are renamed in place, and keep their id and content', async () => {
    const made = await upload('a/b/file.txt');
    expect(await rename('a/b/file.txt', 'note.md')).toMatchObject({
      status: 201,
      body: {
        workspace_file_id: made.body.workspace_file_id,
        file_name: 'note.md',
        full_file_path: 'a/b/note.md',
        file_type: 'md',
      },
    });
    expect((await rename('a', '%_')).status).toBe(201);
    expect(await paths()).toEqual(['%_', '%_/b', '%_/b/note.md']);
    expect(await download('/%_/b/note.md')).toBe('a/b/file.txt');
    const listed = await caller.call('GET', `/workspace/files?${workspace}&file_path=${encodeURIComponent('%_/b')}`);
    expect(listed.body.data).toMatchObject([{ file_name: 'note.md' }]);
  });

  it('are moved into directories that are created for them', async () => {
    await upload('in/x/1');
    await upload('in/2');
    await upload('in2/3');
    expect((await move('/in/x', 'out/y/z')).body).toMatchObject({ full_file_path: 'out/y/z', is_dir: true });
    expect((await move('in/2', 'out/2')).status).toBe(201);
    expect(await paths()).toEqual(['in', 'in2', 'in2/3', 'out', 'out/2', 'out/y', 'out/y/z', 'out/y/z/1']);
    expect(await download('out/y/z/1')).toBe('in/x/1');
    expect(await usage()).toEqual([3, 5, 'in/x/1'.length + 'in/2'.length + 'in2/3'.length]);
  });

  it('are copied with their content, count again, and remain if the original is deleted or replaced', async () => {
    await upload('a/1', 'one');
    await upload('a/d/2', 'two');
    expect(await copy('a', 'b')).toMatchObject({ status: 200, body: { full_file_path: 'b', is_dir: true } });
    expect(await usage()).toEqual([4, 4, 12]);
    await upload('a/1', 'uno', '&overwrite=true');
    expect([await download('a/1'), await download('b/1')]).toEqual(['uno', 'one']);
    await caller.call('DELETE', `/workspace/file?${workspace}&file_path=a`);
    expect([await download('b/1'), await download('b/d/2')]).toEqual(['one', 'two']);
    await caller.call('DELETE', `/workspace/file?${workspace}&file_path=b`);
    expect(await usage()).toEqual([0, 0, 0]);
  });

  it('are moved, copied, replaced and deleted only up to a limit, because others wait meanwhile', async () => {
    await upload('large/0');
    await upload('small/0');
    await api.database.query(
      `INSERT INTO workspace_files (tenant_id, workspace_id, path, parent_path, name, is_dir, created_by_user_id, modified_by_user_id)
       SELECT tenant_id, workspace_id, path || '/' || n, path, n, true, created_by_user_id, modified_by_user_id
       FROM workspace_files, generate_series(1, 99999) n WHERE workspace_id = $1 AND path = 'large'`,
      [workspace.replace('workspace_id=', '')],
    );
    const tooMany = [400, 'FILE.TOO_MANY_ENTRIES'];
    expect(refusal(await caller.call('DELETE', `/workspace/file?${workspace}&file_path=large`))).toEqual(tooMany);
    expect(refusal(await move('large', 'elsewhere'))).toEqual(tooMany);
    expect(refusal(await copy('large', 'elsewhere'))).toEqual(tooMany);
    expect(refusal(await copy('small', 'large', true))).toEqual(tooMany);
    expect((await caller.call('DELETE', `/workspace/file?${workspace}&file_path=large/0`)).status).toBe(201);
    expect((await caller.call('DELETE', `/workspace/file?${workspace}&file_path=large`)).status).toBe(201);
    expect(await usage()).toEqual([1, 1, 'small/0'.length]);
  });

  it('replace files by files and directories by directories, only with overwrite', async () => {
    await upload('f', 'f');
    await upload('g', 'g');
    await upload('d/1', '1');
    await upload('e/2', '2');
    for (const to of [copy, move]) {
      expect(refusal(await to('f', 'g'))).toEqual([409, 'FILE.EXISTS']);
      expect(refusal(await to('d', 'e'))).toEqual([409, 'FILE.EXISTS']);
      expect(refusal(await to('d', 'f', true))).toEqual([409, 'FILE.NOT_A_DIRECTORY']);
      expect(refusal(await to('f', 'g/h'))).toEqual([409, 'FILE.NOT_A_DIRECTORY']);
    }
    expect(refusal(await rename('f', 'g'))).toEqual([409, 'FILE.EXISTS']);
    expect(refusal(await rename('f', 'd'))).toEqual([409, 'FILE.IS_DIRECTORY']);
    expect((await copy('f', 'g', true)).status).toBe(200);
    expect(await download('g')).toBe('f');
    expect((await move('d', 'e', true)).status).toBe(201);
    expect(await paths()).toEqual(['e', 'e/1', 'f', 'g']);
  });

  it('are put into the directory at their destination', async () => {
    await upload('f', 'f');
    await upload('d/g', 'g');
    await upload('d/e/f', 'old');
    expect(await copy('f', 'd')).toMatchObject({ status: 200, body: { full_file_path: 'd/f' } });
    expect(refusal(await copy('f', 'd'))).toEqual([409, 'FILE.EXISTS']);
    expect(refusal(await move('d/f', '/d/'))).toEqual([409, 'FILE.EXISTS']);
    expect(refusal(await move('f', 'd/e'))).toEqual([409, 'FILE.EXISTS']);
    expect((await move('f', 'd/e', true)).status).toBe(201);
    expect(await download('d/e/f')).toBe('f');
    expect(refusal(await copy('d/g', 'd/e/f/g', true))).toEqual([409, 'FILE.NOT_A_DIRECTORY']);
  });

  it.each<[string, string, string, boolean, [number, string]]>([
    ['into itself', 'd', 'd/e/f', false, [400, 'FILE.INVALID_PATH']],
    ['onto itself', 'd', '/d/', true, [409, 'FILE.EXISTS']],
    ['onto a directory that it is in', 'd/e', 'd', true, [409, 'FILE.EXISTS']],
    ['out of the workspace', 'd', '../d', false, [400, 'FILE.INVALID_PATH']],
    ['to nowhere', 'd', '/', false, [400, 'FILE.INVALID_PATH']],
    [
      'beyond the longest path',
      'd',
      `${'n'.repeat(250)}/`.repeat(4) + 'n'.repeat(19),
      false,
      [400, 'FILE.INVALID_PATH'],
    ],
    ['from nowhere', 'x', 'y', false, [404, 'FILE.NOT_FOUND']],
  ])('go nowhere %s', async (_what, from, to, overwrite, expected) => {
    await upload('d/e/file');
    const before = [await paths(), await usage()];
    expect(refusal(await move(from, to, overwrite))).toEqual(expected);
    expect(refusal(await copy(from, to, overwrite))).toEqual(expected);
    expect([await paths(), await usage()]).toEqual(before);
  });

  it('refuse invalid names', async () => {
    await upload('f');
    for (const name of ['a/b', '..', '.', ' ', 'a\\b', 'n'.repeat(256)]) {
      expect((await rename('f', name)).status).toBe(400);
    }
    expect((await caller.call('PUT', `/workspace/file/rename?${workspace}&file_name=a`)).status).toBe(400);
    expect((await caller.call('PUT', `/workspace/file/move?${workspace}&destination_file_path=a`)).status).toBe(400);
    expect(await paths()).toEqual(['f']);
  });

  it('are not copied beyond the quota, although a copy needs no space of its own', async () => {
    await upload('half', 'x'.repeat(QUOTA / 2 + 1));
    expect(refusal(await copy('half', 'other'))).toEqual([413, 'WORKSPACE.QUOTA_EXCEEDED']);
    await upload('small', 'x');
    expect((await copy('half', 'small', true)).status).toBe(413);
    expect(await download('small')).toBe('x');
    expect((await copy('small', 'half', true)).status).toBe(200);
  });

  it('are always found at one of the two places by concurrent lists', async () => {
    for (let file = 0; file < 20; file += 1) await upload(`there/${file}`, 'x');
    const counts = new Set<number>();
    let isMoving = true;
    const moving = (async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        await move(turn % 2 === 0 ? 'there' : 'here', turn % 2 === 0 ? 'here' : 'there');
      }
      isMoving = false;
    })();
    while (isMoving) counts.add((await paths()).length);
    await moving;
    expect([...counts]).toEqual([21]);
  });

  it('stay where they are in a disabled workspace', async () => {
    await upload('f');
    await caller.call('PUT', `/workspace/disable?${workspace}`);
    for (const answer of [await rename('f', 'g'), await move('f', 'g'), await copy('f', 'g')]) {
      expect(refusal(answer)).toEqual([409, 'WORKSPACE.DISABLED']);
    }
  });
});
