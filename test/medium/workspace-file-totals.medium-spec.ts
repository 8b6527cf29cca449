import { rows } from '../../src/platform/kernel/persistence/sql';
import { WorkspaceFileTotals1795353906772 } from '../../src/database/migrations/1795353906772-workspace-file-totals';
import { type Caller, People } from './harness/people';
import { wholeApi } from './harness/test-api';

// Real: the whole API and PostgreSQL.
describe('the totals of the files of a workspace', () => {
  const api = wholeApi({ WORKSPACE_QUOTA_BYTES: '1000' });
  const people = new People(api);
  let caller: Caller;
  let workspaceId: number;
  let made = 0;

  beforeAll(async () => {
    caller = await people.admin(await people.tenant('tenant'));
  });

  beforeEach(async () => {
    const { body } = await caller.call('POST', '/workspace', { name: `workspace-${(made += 1)}` });
    workspaceId = Number(body.workspace_id);
  });

  const upload = async (path: string, bytes: number, more = '') => {
    const response = await fetch(api.urlOf(`/workspace/files?workspace_id=${workspaceId}&path=${path}${more}`), {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/octet-stream' },
      body: Buffer.alloc(bytes),
    });
    return response.status;
  };
  const remove = async (path: string) =>
    (await caller.call('DELETE', `/workspace/file?workspace_id=${workspaceId}&file_path=${path}`)).status;
  const usage = async () => {
    const { body } = await caller.call('GET', `/workspace/file/usage?workspace_id=${workspaceId}`);
    return [body.file_count, body.directory_count, body.total_size_bytes];
  };
  const totals = () =>
    rows(api.database.manager, 'SELECT * FROM workspace_file_totals WHERE files + directories + bytes <> 0 ORDER BY 1');
  const sums = () =>
    rows(
      api.database.manager,
      `SELECT workspace_id, count(*) FILTER (WHERE NOT is_dir) AS files, count(*) FILTER (WHERE is_dir) AS directories,
         coalesce(sum(size_bytes), 0)::bigint AS bytes
       FROM workspace_files WHERE to_date = 'infinity' GROUP BY 1 ORDER BY 1`,
    );

  it('include uploads, overwritten files, new directories and deletions', async () => {
    expect(await usage()).toEqual([0, 0, 0]);
    expect(await upload('a/b/file', 10)).toBe(200);
    expect(await upload('a/other', 5)).toBe(200);
    expect(await usage()).toEqual([2, 2, 15]);
    expect(await upload('a/b/file', 100, '&overwrite=true')).toBe(200);
    expect(await upload('empty', 0, '&is_dir=true')).toBe(200);
    expect(await usage()).toEqual([2, 3, 105]);
    expect(await upload('a/other', 5)).toBe(409);
    expect(await upload('a/other/file', 5)).toBe(409);
    expect(await totals()).toEqual(await sums());
    expect(await remove('a/other')).toBe(201);
    expect(await usage()).toEqual([1, 3, 100]);
    expect(await remove('a')).toBe(201);
    expect(await usage()).toEqual([0, 1, 0]);
    expect(await totals()).toEqual(await sums());
  });

  it('include concurrent changes, which stay within the quota', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => upload(`d${index % 3}/f${index}`, 60).catch(() => 0)),
    );
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(16);
    await Promise.all(['d0', 'd1', 'd1/f4'].map(remove));
    expect(await totals()).toEqual(await sums());
    expect((await usage())[2]).toBeLessThanOrEqual(1000);
  });

  it('allow replacing a file by one that fits into its space', async () => {
    expect(await upload('file', 900)).toBe(200);
    expect(await upload('file', 1000, '&overwrite=true')).toBe(200);
    expect(await upload('file', 1001, '&overwrite=true')).toBe(413);
    expect(await usage()).toEqual([1, 0, 1000]);
  });

  it('are calculated for existing files when the release is installed', async () => {
    expect(await upload('d/file', 10)).toBe(200);
    const runner = api.database.createQueryRunner();
    const migration = new WorkspaceFileTotals1795353906772();
    try {
      await runner.startTransaction();
      await migration.down(runner);
      await runner.query(`UPDATE workspace_files SET to_date = now() WHERE name = 'f7'`);
      await migration.up(runner);
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
    expect(await totals()).toEqual(await sums());
    expect(await usage()).toEqual([1, 1, 10]);
  });
});
