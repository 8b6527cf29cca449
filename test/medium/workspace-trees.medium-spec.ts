import { WorkspaceFilesRepository } from '../../src/modules/execution/workspaces/workspace-files.repository';
import { type Caller, People } from './harness/people';
import { wholeApi } from './harness/test-api';

const PAGE = 1_000;

// Real: the whole API, PostgreSQL and the file store.
describe('a directory with more than a page below it', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let workspaceId: number;

  beforeAll(async () => {
    caller = await people.admin(await people.tenant());
    workspaceId = await people.workspace(caller);
    // Directories next to it start with the same text, or match its name as a pattern.
    for (const path of ['d_/file', 'd_-/file', 'd_.txt', 'dx/file', 'd']) expect(await upload(path)).toBe(200);
    await directories('d_', 2 * PAGE + 500);
  });

  const headers = () => ({ authorization: `Bearer ${caller.token}`, 'content-type': 'application/octet-stream' });

  async function upload(path: string): Promise<number> {
    const url = api.urlOf(`/workspace/files?workspace_id=${workspaceId}&path=${path}`);
    return (await fetch(url, { method: 'POST', headers: headers(), body: path })).status;
  }

  /** Creates directories in another one, some of them with characters that collations ignore. */
  async function directories(path: string, count: number): Promise<void> {
    await api.database.query(
      `INSERT INTO workspace_files (tenant_id, workspace_id, path, parent_path, name, is_dir, created_by_user_id, modified_by_user_id)
       SELECT tenant_id, workspace_id, path || '/' || named.name, path, named.name, true, created_by_user_id, modified_by_user_id
       FROM workspace_files, LATERAL (SELECT n || (ARRAY['', '-', '. ', 'É', 'z'])[n % 5 + 1] AS name
         FROM generate_series(1, $3) n) named
       WHERE workspace_id = $1 AND path = $2`,
      [workspaceId, path, count],
    );
  }

  async function below(path: string) {
    const found = await api.database.query<{ path: string }[]>(
      `SELECT path FROM workspace_files WHERE workspace_id = $1 AND to_date = 'infinity' AND starts_with(path, $2)`,
      [workspaceId, `${path}/`],
    );
    return found.map((row) => row.path).sort();
  }

  async function downloaded(path: string): Promise<string[]> {
    const url = api.urlOf(`/workspace/file/download?workspace_id=${workspaceId}&file_path=${path}`);
    const response = await fetch(url, { headers: headers() });
    expect(response.status).toBe(200);
    return namesOf(Buffer.from(await response.arrayBuffer()));
  }

  it('is downloaded with all of its content, each entry once', async () => {
    const names = await downloaded('d_');
    expect(names).toHaveLength(2 * PAGE + 501);
    expect(names.map((name) => `d_/${name}`.replace(/\/$/, '')).sort()).toEqual(await below('d_'));
  });

  it('is read page by page, each as it is at that moment, and no path twice', async () => {
    const repository = api.app.get(WorkspaceFilesRepository);
    const workspace = { workspaceId, name: '', description: null, active: true };
    const tenantId = (await caller.call('GET', '/user/info')).body.tenant_id;
    const scope = { tenantId, userId: 0, username: '', workspace };
    const directory = await repository.select(scope, { file_path: 'd_' });
    const sizes: number[] = [];
    const paths: string[] = [];
    for await (const page of repository.below(directory)) {
      sizes.push(page.length);
      paths.push(...page.map(({ path }) => path));
      if (sizes.length > 1) continue;
      // The first path already read, and the last one still to come.
      const [first] = paths;
      const last = (
        await api.database.query<{ path: string }[]>(
          `SELECT max(path) AS path FROM workspace_files WHERE workspace_id = $1 AND path LIKE 'd\\_/%'`,
          [workspaceId],
        )
      )[0]?.path;
      for (const gone of [first, last]) {
        const { status } = await caller.call(
          'DELETE',
          `/workspace/file?workspace_id=${workspaceId}&file_path=${encodeURIComponent(String(gone))}`,
        );
        expect(status).toBe(201);
      }
      expect(await upload('d_/zzzz')).toBe(200);
    }
    expect(sizes).toEqual([PAGE, PAGE, 501]);
    expect(new Set(paths).size).toBe(paths.length);
    const [first = '', ...others] = paths;
    expect(await below('d_')).toEqual([...others].sort());
    expect(first).not.toBe('');
  });
});

/** Returns the names of the entries of a small zip file, from its central directory. */
function namesOf(zip: Buffer): string[] {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const names: string[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    names.push(zip.toString('utf8', at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
  }
  return names;
}
