import { setTimeout as delay } from 'node:timers/promises';
import { Estate } from './harness/estate';
import { type Caller, People, refusal } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import { wholeApi, type TestAnswer } from './harness/test-api';

const MANY = 10_000;

interface Document {
  format_version?: number;
  exported_at?: string;
  workspace: { name?: string; description?: string | null };
  spark_job_confs: Record<string, unknown>[];
  notebook_confs: unknown[];
}

// Real: the whole API and PostgreSQL.
describe('a workspace as a document', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let cluster: number;
  let clusterName: string;

  beforeAll(async () => {
    caller = await people.everywhere(await people.tenant());
    const estate = new Estate(people, caller);
    cluster = await estate.id('cluster', await estate.parts());
    clusterName = (await estate.get('cluster', cluster)).body.name;
    // The cluster has no nodes, so that jobs wait.
    await setClusterStatus(api.database.manager, cluster, 'RUNNING');
  });

  const workspace = async (body: object = {}): Promise<number> => {
    const made = await caller.call('POST', '/workspace', { name: people.unique('workspace'), ...body });
    return Number(made.body.workspace_id);
  };
  const send = (id: number, document: object, query = `&cluster_id=${cluster}`): Promise<TestAnswer> =>
    caller.call('POST', `/workspace/import?workspace_id=${id}${query}`, document);
  const exported = async (id: number, query = ''): Promise<{ document: Document; disposition: string | null }> => {
    const url = api.urlOf(`/workspace/export?workspace_id=${id}${query}`);
    const response = await fetch(url, { headers: { authorization: `Bearer ${caller.token}` } });
    expect(response.status).toBe(200);
    return {
      document: (await response.json()) as Document,
      disposition: response.headers.get('content-disposition'),
    };
  };
  const named = (...names: string[]): Document => ({
    format_version: 1,
    workspace: { name: 'of-a-test' },
    spark_job_confs: names.map((name) => ({ name, job_type: 'Python3', command: `${name}.py` })),
    notebook_confs: [],
  });
  const names = async (id: number): Promise<string[]> =>
    (await caller.call('GET', `/workspace/${id}/spark/job/confs?limit=1000`)).body.data
      .map(({ name }: { name: string }) => name)
      .sort();

  it('is the same after a round trip except for its name and the time', async () => {
    const from = await workspace({ description: 'of somebody' });
    const jobs = `/workspace/${from}/spark/job`;
    const confs = [
      { name: 'python', job_type: 'Python3', command: 'a.py', arguments: '1 "2 3"', files: ['a', 's3a://b/c'] },
      { name: 'jar', job_type: 'Jar', command: 'a.jar', class_name: 'A', packages: ['a:b:1'], max_concurrency: 3 },
      { name: 'scala', job_type: 'RAW_SCALA', rawScalaCode: 'println("é")', extra_info: { a: [1, { b: null }] } },
      { name: 'sql', job_type: 'SQL', rawScalaCode: 'SELECT 1', conf: ['spark.a=b=c'], job_timeout_min: 5 },
    ];
    for (const conf of confs) {
      expect((await caller.call('POST', `${jobs}/conf`, { ...conf, cluster_id: cluster })).status).toBe(200);
    }
    const first = await exported(from);
    expect(first.disposition).toMatch(/^attachment; filename="workspace-\d+\.platform"$/);
    expect(first.document).toMatchObject({ format_version: 2, workspace: { description: 'of somebody' } });
    expect(first.document.spark_job_confs).toMatchObject(confs);
    const to = await workspace();
    expect((await send(to, first.document, `&cluster_name=${clusterName}`)).body).toMatchObject({
      workspace_id: String(to),
      imported: { spark_job_confs: 4, notebook_confs: 0 },
      failed: [],
    });
    const second = await exported(to);
    const comparable = ({ workspace: { description }, spark_job_confs }: Document) => ({
      description,
      spark_job_confs,
    });
    expect(comparable(second.document)).toEqual(comparable(first.document));
    expect((await caller.call('GET', `/workspace?workspace_id=${to}`)).body).toMatchObject({
      description: 'of somebody',
      modified_by: { user_id: caller.userId },
    });
    const { body } = await caller.call('GET', `/workspace/${to}/spark/job/conf?job_conf_name=jar`);
    expect(body).toMatchObject({ cluster_id: cluster, max_concurrency: 3, created_by: { user_id: caller.userId } });
  });

  it('has only the active or the disabled configurations on request, and never deleted ones', async () => {
    const id = await workspace();
    await send(id, named('a', 'b', 'c'));
    await caller.call('PUT', `/workspace/${id}/spark/job/conf/disable?job_conf_name=b`);
    await caller.call('DELETE', `/workspace/${id}/spark/job/conf?job_conf_name=c`);
    const confs = async (query: string) => (await exported(id, query)).document.spark_job_confs.map(({ name }) => name);
    expect(await confs('')).toEqual(['a', 'b']);
    expect(await confs('&enable=true')).toEqual(['a']);
    expect(await confs('&enable=false')).toEqual(['b']);
  });

  it('is read without fields of later versions, and refused if it is of a later version', async () => {
    const id = await workspace();
    const old = { workspace: {}, spark_job_confs: [{ name: 'old', job_type: 'Python3', command: 'a.py' }] };
    expect((await send(id, old)).body.imported.spark_job_confs).toBe(1);
    expect(refusal(await send(id, { ...named('new'), format_version: 3 }))).toEqual([
      400,
      'WORKSPACE_DOCUMENT.VERSION_UNKNOWN',
    ]);
  });

  it('changes nothing if one of its configurations cannot be imported', async () => {
    const id = await workspace();
    await send(id, named('b'));
    const taken = await send(id, named('a', 'b', 'c'));
    expect(refusal(taken)).toEqual([409, 'RECORD.DUPLICATE_NAME']);
    expect(taken.body.error_message).toContain('"b"');
    const broken = named('a', 'c');
    Object.assign(broken.spark_job_confs[1] ?? {}, { command: null });
    const refused = await send(id, broken);
    expect(refusal(refused)).toEqual([400, 'JOB_CONF.FIELD_REQUIRED']);
    expect(refused.body.error_message).toContain('spark_job_confs[1] "c"');
    expect(await names(id)).toEqual(['b']);
  });

  it('replaces configurations of the same name with overwrite; they keep their id, their jobs and their count', async () => {
    const id = await workspace();
    await send(id, named('a'));
    const before = (await caller.call('GET', `/workspace/${id}/spark/job/conf?job_conf_name=a`)).body;
    const run = await caller.call('POST', `/workspace/${id}/spark/job`, { job_conf_name: 'a' });
    const document = named('b');
    document.spark_job_confs.push({ name: 'a', job_type: 'SQL', rawScalaCode: 'SELECT 1', max_concurrency: 1 });
    expect((await send(id, document, `&cluster_id=${cluster}&overwrite=true`)).body.imported.spark_job_confs).toBe(2);
    const after = (await caller.call('GET', `/workspace/${id}/spark/job/conf?job_conf_name=a`)).body;
    expect(after).toMatchObject({ job_conf_id: before.job_conf_id, command: null, rawScalaCode: 'SELECT 1' });
    const again = await caller.call('POST', `/workspace/${id}/spark/job`, { job_conf_name: 'a' });
    expect(refusal(again)).toEqual([409, 'JOB_CONF.MAX_CONCURRENCY']);
    const { body } = await caller.call('GET', `/workspace/${id}/spark/job/${run.body.job_id}`);
    expect(body.job_conf.command).toBe('a.py');
  });

  it('is imported as far as possible when permissive, and lists the failures', async () => {
    const id = await workspace();
    await send(id, named('taken'));
    const document: Document = {
      ...named('good', 'taken', 'good'),
      notebook_confs: [{ notebook_name: 'notebook' }],
    };
    document.spark_job_confs.push(
      { name: 'Bad Name', job_type: 'Python3', command: 'a.py' },
      { name: 'thrift', job_type: 'THRIFT_SQL', command: 'a.py' },
      { name: 'extra', job_type: 'Python3', command: 'a.py', job_conf_id: 1 },
      { name: 'path', job_type: 'Python3', command: '../../a.py' },
      { name: 'owned', job_type: 'Python3', command: 'a.py', conf: ['spark.master=local'] },
      null as never,
    );
    expect(refusal(await send(id, document))[0]).toBe(400);
    const { body } = await send(id, document, `&cluster_id=${cluster}&permissive=true`);
    expect(body.imported).toEqual({ spark_job_confs: 1, notebook_confs: 0 });
    expect(
      body.failed.map(({ kind, name, error_code: code }: Record<string, string>) => [kind, name, code]).sort(),
    ).toEqual(
      [
        ['spark_job_conf', 'good', 'WORKSPACE_DOCUMENT.NAME_TWICE'],
        ['spark_job_conf', 'Bad Name', 'REQUEST.INVALID'],
        ['spark_job_conf', 'thrift', 'JOB_CONF.FIELD_REFUSED'],
        ['spark_job_conf', 'extra', 'REQUEST.INVALID'],
        ['spark_job_conf', 'path', 'FILE.INVALID_PATH'],
        ['spark_job_conf', 'owned', 'JOB_CONF.PROPERTY_OWNED'],
        ['spark_job_conf', '', 'REQUEST.INVALID'],
        ['notebook_conf', 'notebook', 'REQUEST.INVALID'],
        ['spark_job_conf', 'taken', 'RECORD.DUPLICATE_NAME'],
      ].sort(),
    );
    expect(await names(id)).toEqual(['good', 'taken']);
  });

  describe('of notebooks', () => {
    const cells = [
      {
        cell_uuid: 'first',
        code: 'a = 1',
        cell_type: 'code',
        metadata: { x: 1 },
        output: [
          { type: 'text', Celloutput: 'one' },
          { type: 'html', Celloutput: '<b>' },
          { type: 'image', Celloutput: `data:image/png;base64,${Buffer.from('p').toString('base64')}` },
        ],
        more: [1],
      },
      { cell_uuid: 'second', code: '# Title', cell_type: 'markdown', metadata: {}, output: [] },
    ];
    const notebooks = (...confs: object[]): Document => ({ ...named(), format_version: 2, notebook_confs: confs });
    const notebook = (name: string, changes: object = {}) => ({
      notebook_name: name,
      notebook_type: 'python3',
      notebook_cells: { cells },
      ...changes,
    });
    const got = async (id: number, name: string) =>
      (await caller.call('GET', `/workspace/${id}/notebook/conf?notebook_name=${name}`)).body;
    const usage = async (id: number) => (await caller.call('GET', `/workspace/file/usage?workspace_id=${id}`)).body;

    it('has their settings and cells with outputs, the same after a round trip, and no secrets', async () => {
      const [from, to] = [await workspace(), await workspace()];
      const given = notebooks(
        notebook('first', {
          conf: ['spark.a=1', 'spark.my.password=x'],
          notebook_path: '/dir/a.ipynb',
          max_concurrency: 2,
        }),
        notebook('second', { notebook_type: 'sql', notebook_cells: null }),
      );
      expect((await send(from, given)).body).toMatchObject({
        imported: { spark_job_confs: 0, notebook_confs: 2 },
        failed: [],
      });
      const { document } = await exported(from);
      expect(document.notebook_confs).toMatchObject([
        { ...notebook('first'), notebook_path: '/dir/a.ipynb', conf: ['spark.a=1', 'spark.my.password='] },
        {
          notebook_name: 'second',
          notebook_path: '/second.ipynb',
          notebook_type: 'sql',
          notebook_cells: { cells: [] },
        },
      ]);
      expect((await send(to, document)).status).toBe(200);
      expect((await exported(to)).document.notebook_confs).toEqual(document.notebook_confs);
      expect(await got(to, 'first')).toMatchObject({ cluster_id: cluster, notebook_cells: { cells } });
      expect(await usage(to)).toMatchObject({ file_count: 2, directory_count: 1 });
    });

    it('replaces a notebook with overwrite as another revision of the same file', async () => {
      const id = await workspace();
      await send(id, notebooks(notebook('a')));
      const before = await got(id, 'a');
      const changed = notebooks(notebook('a', { notebook_cells: { cells: cells.slice(1) }, driver_memory: '1g' }));
      expect(refusal(await send(id, changed))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
      expect(await got(id, 'a')).toEqual(before);
      expect((await send(id, changed, `&cluster_id=${cluster}&overwrite=true`)).body.imported.notebook_confs).toBe(1);
      expect(await got(id, 'a')).toMatchObject({
        notebook_conf_id: before.notebook_conf_id,
        driver_memory: '1g',
        notebook_cells: { cells: [cells[1]] },
      });
      expect(await usage(id)).toMatchObject({ file_count: 1 });
    });

    it('imports what is valid when permissive, and leaves nothing of the rest', async () => {
      const id = await workspace();
      await send(id, notebooks(notebook('taken')));
      const before = await usage(id);
      const document = notebooks(
        notebook('taken', { notebook_path: '/other.ipynb' }),
        notebook('file', { notebook_path: '/taken.ipynb' }),
        notebook('inside', { notebook_path: '/taken.ipynb/a.ipynb' }),
        notebook('good'),
        notebook('good', { notebook_path: '/more.ipynb' }),
        notebook('path', { notebook_path: '/good.ipynb' }),
        notebook('text', { notebook_path: '/good.txt' }),
        notebook('cells', { notebook_cells: { cells: [{ cell_uuid: 'a' }] } }),
        notebook('extra', { notebook_conf_id: 1 }),
        notebook('owned', { conf: ['spark.master=x'] }),
      );
      expect((await send(id, document)).status).toBe(400);
      expect(await usage(id)).toEqual(before);
      const { body } = await send(id, document, `&cluster_id=${cluster}&permissive=true`);
      expect(body.imported).toEqual({ spark_job_confs: 0, notebook_confs: 1 });
      expect(
        body.failed.map(({ kind, name, error_code: code }: Record<string, string>) => [kind, name, code]).sort(),
      ).toEqual(
        [
          ['notebook_conf', 'taken', 'RECORD.DUPLICATE_NAME'],
          ['notebook_conf', 'file', 'NOTEBOOK_CONF.PATH_IN_USE'],
          ['notebook_conf', 'inside', 'FILE.NOT_A_DIRECTORY'],
          ['notebook_conf', 'good', 'WORKSPACE_DOCUMENT.NAME_TWICE'],
          ['notebook_conf', 'path', 'WORKSPACE_DOCUMENT.NAME_TWICE'],
          ['notebook_conf', 'text', 'NOTEBOOK_CONF.INVALID_PATH'],
          ['notebook_conf', 'cells', 'NOTEBOOK_CONF.INVALID_CELLS'],
          ['notebook_conf', 'extra', 'REQUEST.INVALID'],
          ['notebook_conf', 'owned', 'NOTEBOOK_CONF.PROPERTY_OWNED'],
        ].sort(),
      );
      expect(await usage(id)).toMatchObject({ file_count: 2 });
      expect(await got(id, 'good')).toMatchObject({ notebook_cells: { cells } });
      const file = await fetch(api.urlOf(`/workspace/file/download?workspace_id=${id}&file_path=good.ipynb`), {
        headers: { authorization: `Bearer ${caller.token}` },
      });
      expect(await file.json()).toMatchObject({ nbformat: 4, cells: [{ id: 'first' }, { id: 'second' }] });
    });
  });

  it('obeys associations, permissions and disabled workspaces', async () => {
    const [id, other] = [await workspace(), await workspace()];
    const unnamed = await send(id, named('a'), '');
    expect(refusal(unnamed)).toEqual([400, 'REQUEST.SELECTOR_MISSING']);
    expect(refusal(await send(id, named('a'), '&cluster_id=999999'))).toEqual([404, 'CLUSTER.NOT_FOUND']);
    await caller.call('POST', `/ac/workspace/${other}/cluster/${cluster}`);
    expect(refusal(await send(id, named('a')))).toEqual([409, 'CLUSTER.NOT_ASSOCIATED']);
    await api.database.query('DELETE FROM cluster_workspaces');
    await caller.call('PUT', `/workspace/disable?workspace_id=${id}`);
    expect(refusal(await send(id, named('a')))).toEqual([409, 'WORKSPACE.DISABLED']);
    expect((await exported(id)).document.spark_job_confs).toEqual([]);
  });

  it('is refused with a reason when it is hostile', async () => {
    const id = await workspace();
    const url = api.urlOf(`/workspace/import?workspace_id=${id}&cluster_id=${cluster}`);
    const post = async (body: string) => {
      const headers = { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body });
      const answer = (await response.json()) as { error_code: string; error_message: string };
      return [response.status, answer.error_code, answer.error_message];
    };
    const deep = `{"workspace":{},"spark_job_confs":[{"name":"a","extra_info":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}]}`;
    expect(await post(deep)).toEqual([400, 'REQUEST.INVALID', expect.stringContaining('deeper')]);
    const twice = '{"workspace":{},"spark_job_confs":[{"name":"a","job_type":"SQL","name":"b"}]}';
    expect(await post(twice)).toEqual([400, 'REQUEST.MALFORMED_JSON', expect.stringContaining('twice')]);
    expect(await post(`{"workspace":{"name":"${'a'.repeat(31 << 20)}"}}`)).toEqual([
      413,
      'REQUEST.TOO_LARGE',
      expect.any(String),
    ]);
    const many = JSON.stringify({ workspace: {}, spark_job_confs: Array.from({ length: MANY + 1 }, () => ({})) });
    expect(await post(many)).toEqual([400, 'REQUEST.INVALID', expect.stringContaining('spark_job_confs')]);
    const proto = '{"workspace":{},"spark_job_confs":[{"__proto__":{"name":"a"}}]}';
    expect(await post(proto)).toEqual([400, 'REQUEST.INVALID', expect.stringContaining('__proto__')]);
  });

  it('of thousands of configurations is imported and exported while others are served', async () => {
    const id = await workspace();
    const document = named(...Array.from({ length: MANY }, (_, index) => `job-${index}`));
    let others = 0;
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        expect((await caller.call('GET', '/workspaces?limit=1')).status).toBe(200);
        others += 1;
        await delay(50);
      }
    })();
    const { body } = await send(id, document);
    const again = await exported(id);
    isOver = true;
    await asking;
    expect(body.imported.spark_job_confs).toBe(MANY);
    expect(again.document.spark_job_confs.map(({ name }) => name)).toEqual(
      document.spark_job_confs.map(({ name }) => name),
    );
    expect(others).toBeGreaterThan(10);
    expect((await send(id, again.document, `&cluster_id=${cluster}&overwrite=true`)).status).toBe(200);
  });
});
