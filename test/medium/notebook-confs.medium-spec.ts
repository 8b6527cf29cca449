import { readOpaque } from '../../libs/json/opaque-json';
import { SHORT_JSON } from '../../libs/json/parse-json';
import { MAX_CELLS } from '../../libs/notebooks/ipynb';
import { type NbOutput, readOutput } from '../../libs/notebooks/outputs';
import { NotebookContentsRepository } from '../../src/modules/execution/notebooks/content/notebook-contents.repository';
import { NotebookDocumentsService } from '../../src/modules/execution/notebooks/content/notebook-documents.service';
import { NotebookOutputsService } from '../../src/modules/execution/notebooks/content/notebook-outputs.service';
import { Estate } from './harness/estate';
import { type Caller, People, refusal } from './harness/people';
import { insertPlain } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import { wholeApi, type TestAnswer } from './harness/test-api';
import { inTransaction, type Tx } from '../../src/platform/kernel/persistence/sql';

interface ShownCell {
  cell_uuid: string;
  code: string;
  output: { type: string; Celloutput: string }[];
}

interface Ipynb {
  cells: { outputs?: NbOutput[] }[];
}

const PNG = Buffer.from('a picture').toString('base64');

// Real: the whole API, PostgreSQL and the file store. Left out: kernels; the test sends their outputs.
describe('notebook configurations', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let tenant: string;
  let cluster: number;
  let workspace: number;
  let base: string;

  beforeAll(async () => {
    tenant = await people.tenant();
    caller = await people.everywhere(tenant);
    const estate = new Estate(people, caller);
    cluster = await estate.id('cluster', await estate.parts());
    // The cluster has no nodes, so that runs wait.
    await setClusterStatus(api.database.manager, cluster, 'RUNNING');
  });

  beforeEach(async () => {
    const made = await caller.call('POST', '/workspace', { name: people.unique('workspace') });
    workspace = Number(made.body.workspace_id);
    base = `/workspace/${workspace}/notebook`;
  });

  const create = (name: string, changes: object = {}) =>
    caller.call('POST', `${base}/conf`, {
      notebook_name: name,
      notebook_type: 'python3',
      cluster_id: cluster,
      ...changes,
    });
  const made = async (name: string, changes: object = {}): Promise<number> => {
    const answer = await create(name, changes);
    expect(answer).toMatchObject({ status: 200 });
    return Number(answer.body.notebook_conf_id);
  };
  const get = async (id: number) => (await caller.call('GET', `${base}/conf?notebook_conf_id=${id}`)).body;
  const cellsOf = async (id: number): Promise<ShownCell[]> => (await get(id)).notebook_cells.cells;
  const post = (id: number, cells: unknown, by = caller, query = '') =>
    by.call('POST', `${base}/${id}/update${query}`, { cells });
  const code = (cell_uuid: string, text: string, more: object = {}) => ({ cell_uuid, code: text, ...more });
  const bytes = async (path: string): Promise<{ status: number; name: string | null; text: string }> => {
    const response = await fetch(api.urlOf(path), { headers: { authorization: `Bearer ${caller.token}` } });
    return {
      status: response.status,
      name: response.headers.get('content-disposition'),
      text: await response.text(),
    };
  };
  const exportText = async (id: number) => (await bytes(`${base}/conf/export?notebook_conf_id=${id}`)).text;
  const exported = async (id: number) => JSON.parse(await exportText(id)) as Ipynb;
  const file = async (path: string) =>
    JSON.parse((await bytes(`/workspace/file/download?workspace_id=${workspace}&file_path=${path}`)).text) as Ipynb;
  const upload = async (path: string, content: unknown, query = '&overwrite=true'): Promise<TestAnswer> => {
    const url = `/workspace/files?workspace_id=${workspace}&path=${encodeURIComponent(path)}${query}`;
    const response = await fetch(api.urlOf(url), {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/octet-stream' },
      body: typeof content === 'string' ? content : JSON.stringify(content),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const files = (method: string, path: string, query: string) =>
    caller.call(method, `/workspace/file${path}?workspace_id=${workspace}${query}`);
  const ipynb = (...cells: object[]) => ({ cells, metadata: { author: 'x' }, nbformat: 4, nbformat_minor: 5, more: 1 });
  const member = async (permission: 'VIEW' | 'RUN' | 'EDIT'): Promise<Caller> => {
    const by = await people.member(tenant);
    await api.database.query(
      `INSERT INTO workspace_users (tenant_id, workspace_id, user_id, permission_id)
       SELECT $1, $2, $3, permission_id FROM workspace_permissions WHERE name = $4`,
      [tenant, workspace, by.userId, permission],
    );
    return by;
  };
  const revisions = async (id: number) =>
    (
      await api.database.query<{ n: number }[]>('SELECT count(*) AS n FROM notebook_revisions WHERE job_conf_id = $1', [
        id,
      ])
    )[0]?.n;
  const run = async (id: number): Promise<number> => {
    const answer = await caller.call('POST', base, { notebook_conf_id: id });
    expect(answer.status).toBe(200);
    return Number(answer.body.notebook_id);
  };
  const end = (runId: number) => caller.call('POST', `${base}/kill/${runId}`);
  const outputs = () => api.app.get(NotebookOutputsService);
  const inTx = <T>(work: (tx: Tx) => Promise<T>) => inTransaction(api.database, work);

  it('are created with an empty notebook, found by id, name and part of the name, and listed', async () => {
    const answer = await create('explore', { driver_memory: '1g', conf: ['spark.a=1'], notebook_type: 'PYTHON3' });
    const id = Number(answer.body.notebook_conf_id);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        notebook_conf_id: String(id),
        notebook_name: 'explore',
        notebook_type: 'python3',
        notebook_path: '/explore.ipynb',
        cluster_id: String(cluster),
        max_concurrency: 0,
        spark_job_type: { job_type: 'NOTEBOOK', language: 'Python3' },
        driver_memory: '1g',
        executor_memory: null,
      },
    });
    expect(await caller.call('GET', `${base}/conf?notebook_name=explore`)).toMatchObject({
      status: 200,
      body: { notebook_conf_id: id, notebook_cells: { cells: [] }, cluster_info: { cluster_id: cluster } },
    });
    expect(await file('explore.ipynb')).toMatchObject({ cells: [], nbformat: 4, nbformat_minor: 5 });
    await made('other', { notebook_type: 'sql' });
    const list = async (query: string) =>
      (await caller.call('GET', `${base}/confs${query}`)).body.data.map(
        (one: Record<string, string>) => one['notebook_name'],
      );
    expect(await list('')).toEqual(['other', 'explore']);
    expect(await list('?job_type_langs=SQL')).toEqual(['other']);
    expect(await list('?cluster_ids=999999')).toEqual([]);
    expect(await list('/search?notebook_name=XPLO')).toEqual(['explore']);
    const nothing = await caller.call('GET', `${base}/confs/search?notebook_name=nothing`);
    expect(refusal(nothing)).toEqual([404, 'NOTEBOOK_CONF.NOT_FOUND']);
    // Names of jobs are separate.
    expect(await caller.call('GET', `/workspace/${workspace}/spark/job/confs`)).toMatchObject({ body: { data: [] } });
  });

  it.each<[string, object, [number, string]]>([
    ['another ending', { notebook_path: '/a.txt' }, [400, 'NOTEBOOK_CONF.INVALID_PATH']],
    ['no name before the ending', { notebook_path: '/a/.ipynb' }, [400, 'NOTEBOOK_CONF.INVALID_PATH']],
    ['a place outside', { notebook_path: '../a.ipynb' }, [400, 'FILE.INVALID_PATH']],
    ['a directory', { notebook_path: '/folder.ipynb' }, [400, 'NOTEBOOK_CONF.INVALID_PATH']],
    ['a file in a file', { notebook_path: '/text.ipynb/a.ipynb' }, [409, 'FILE.NOT_A_DIRECTORY']],
    ['a file that is no notebook', { notebook_path: '/text.ipynb' }, [400, 'FILE.NOT_A_NOTEBOOK']],
    ["another's file", { notebook_path: '/taken.ipynb' }, [409, 'NOTEBOOK_CONF.PATH_IN_USE']],
    ['a name that is taken', { notebook_name: 'taken', notebook_path: '/b.ipynb' }, [409, 'RECORD.DUPLICATE_NAME']],
    ['no cluster', { cluster_id: 999_999 }, [404, 'CLUSTER.NOT_FOUND']],
    ["a property of the platform's", { conf: ['spark.master=x'] }, [400, 'NOTEBOOK_CONF.PROPERTY_OWNED']],
    ['a heap that Spark cannot read', { driver_memory: '12 potatoes' }, [400, 'REQUEST.INVALID']],
    ['cores that Spark cannot read', { conf: ['spark.executor.cores=two'] }, [400, 'NOTEBOOK_CONF.INVALID_CONF']],
    ['an invalid package', { packages: ['x'] }, [400, 'NOTEBOOK_CONF.INVALID_PACKAGE']],
    ['a file outside the workspace', { files: ['../x'] }, [400, 'FILE.INVALID_PATH']],
    ['an unknown language', { notebook_type: 'r' }, [400, 'REQUEST.INVALID']],
  ])('are not created with %s, and leave no file', async (_what, changes, expected) => {
    await made('taken');
    await upload('text.ipynb', 'no notebook');
    await files('POST', 's', '&path=folder.ipynb&is_dir=true');
    const before = (await files('GET', '/usage', '')).body;
    expect(refusal(await create('new', changes))).toEqual(expected);
    expect((await files('GET', '/usage', '')).body).toEqual(before);
  });

  it('adopt a file with its outputs, and return it unchanged except for ids', async () => {
    const stream = { output_type: 'stream', name: 'stderr', text: ['a\n', 'b'] };
    const picture = { output_type: 'display_data', data: { 'image/png': PNG, 'text/plain': ['x'] }, metadata: {} };
    const table = {
      output_type: 'execute_result',
      data: { 'text/html': '<b>', 'application/json': { a: [1] } },
      metadata: {},
      execution_count: 3,
    };
    const failed = { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[31mE\u001b[0m: v', 'line'] };
    const given = ipynb(
      {
        id: 'first',
        cell_type: 'code',
        source: ['a = 1\n', 'a'],
        metadata: { x: 1 },
        execution_count: 7,
        outputs: [stream, picture, table, failed],
      },
      { cell_type: 'markdown', source: '# Title', metadata: {}, attachments: { 'a.png': {} } },
      { cell_type: 'raw', source: 'raw \u0000', metadata: {}, odd: { kept: true } },
    );
    await upload('dir/adopted.ipynb', given);
    const id = await made('adopts', { notebook_path: 'dir/adopted.ipynb' });
    expect(await get(id)).toMatchObject({ notebook_path: '/dir/adopted.ipynb' });
    const cells = await cellsOf(id);
    expect(cells).toMatchObject([
      {
        cell_uuid: 'first',
        code: 'a = 1\na',
        cell_type: 'code',
        metadata: { x: 1 },
        output: [
          { type: 'text', Celloutput: 'a\nb' },
          { type: 'image', Celloutput: `data:image/png;base64,${PNG}` },
          { type: 'html', Celloutput: '<b>' },
          { type: 'text', Celloutput: 'E: v\nline' },
        ],
      },
      { code: '# Title', cell_type: 'markdown', attachments: { 'a.png': {} }, output: [] },
      { code: 'raw \u0000', cell_type: 'markdown', odd: { kept: true } },
    ]);
    const out = await exported(id);
    expect(out).toMatchObject({
      metadata: { author: 'x' },
      more: 1,
      cells: [
        {
          id: 'first',
          source: 'a = 1\na',
          execution_count: 7,
          outputs: [{ ...stream, text: 'a\nb' }, {}, table, failed],
        },
        { cell_type: 'markdown' },
        { cell_type: 'raw', odd: { kept: true } },
      ],
    });
    // Cells sent back unchanged cause no write.
    expect((await post(id, cells)).body.message).toContain('has not changed');
    expect([await revisions(id), await exported(id)]).toEqual([1, out]);
    const { name } = await bytes(`${base}/conf/export?notebook_conf_id=${id}`);
    expect(name).toBe('attachment; filename="adopts.ipynb"');
  });

  it('accept code with EDIT, as a revision and in the file, and outputs with RUN', async () => {
    const id = await made('cells');
    const first = [code('a', '1', { metadata: { x: 1 }, extra: [1] }), code('b', '# t', { cell_type: 'markdown' })];
    expect(await post(id, first)).toMatchObject({ status: 201, body: { message: expect.any(String) } });
    expect(await cellsOf(id)).toEqual([
      { cell_uuid: 'a', code: '1', cell_type: 'code', metadata: { x: 1 }, output: [], extra: [1] },
      { cell_uuid: 'b', code: '# t', cell_type: 'markdown', metadata: {}, output: [] },
    ]);
    expect(await file('cells.ipynb')).toMatchObject({ cells: [{ id: 'a', source: '1', outputs: [] }, { id: 'b' }] });
    const runner = await member('RUN');
    const shown = [
      { type: 'text', Celloutput: 'one' },
      { type: 'text', Celloutput: 'two' },
      { type: 'html', Celloutput: '<i>' },
      { type: 'image', Celloutput: `data:image/png;base64,${PNG}` },
    ];
    const withOutputs = [{ ...first[0], output: shown }, first[1]];
    expect((await post(id, withOutputs, runner)).status).toBe(201);
    expect((await post(id, withOutputs, runner)).body.message).toContain('has not changed');
    expect((await cellsOf(id))[0]?.output).toEqual(shown);
    expect(await revisions(id)).toBe(2);
    // The file is from the last save of code.
    expect(await file('cells.ipynb')).toMatchObject({ cells: [{ outputs: [] }, {}] });
    for (const changed of [
      [code('a', '2'), first[1]],
      [first[1], first[0]],
      [first[0]],
      [...first, code('c', '')],
      [{ ...first[0], metadata: {} }, first[1]],
      [{ ...first[0], cell_type: 'markdown' }, first[1]],
    ]) {
      expect(refusal(await post(id, changed, runner))).toEqual([403, 'WORKSPACE.PERMISSION_REQUIRED']);
    }
    const viewer = await member('VIEW');
    expect(refusal(await post(id, first, viewer))).toEqual([403, 'WORKSPACE.PERMISSION_REQUIRED']);
    const editor = await member('EDIT');
    expect((await post(id, [first[1], { ...first[0], code: '2', output: shown }], editor)).status).toBe(201);
    expect((await cellsOf(id)).map(({ code: text, output }) => [text, output.length])).toEqual([
      ['# t', 0],
      ['2', 4],
    ]);
    expect(await file('cells.ipynb')).toMatchObject({ cells: [{ id: 'b' }, { id: 'a', outputs: [{}, {}, {}, {}] }] });
    expect(await get(id)).toMatchObject({ modified_by: { user_id: editor.userId } });
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'REQUEST.INVALID'],
    ['a number', [1], 'NOTEBOOK_CONF.INVALID_CELLS'],
    ['no id', [{ code: '' }], 'NOTEBOOK_CONF.INVALID_CELLS'],
    ['an invalid id', [code('a b', '')], 'NOTEBOOK_CONF.INVALID_CELLS'],
    ['an id twice', [code('a', ''), code('a', '')], 'NOTEBOOK_CONF.INVALID_CELLS'],
    ['code that is not text', [{ cell_uuid: 'a', code: 1 }], 'NOTEBOOK_CONF.INVALID_CELLS'],
    ['an unknown type', [code('a', '', { cell_type: 'raw' })], 'NOTEBOOK_CONF.INVALID_CELLS'],
    ['invalid outputs', [code('a', '', { output: [{ type: 'text' }] })], 'NOTEBOOK_CONF.INVALID_CELLS'],
    [
      'an invalid image',
      [code('a', '', { output: [{ type: 'image', Celloutput: 'x' }] })],
      'NOTEBOOK_CONF.INVALID_CELLS',
    ],
    ['too many', Array.from({ length: MAX_CELLS + 1 }, (_, index) => code(`c${index}`, '')), 'REQUEST.INVALID'],
  ])('refuse cells with %s', async (_what, cells, expected) => {
    const id = await made('hostile');
    expect(refusal(await post(id, cells))).toEqual([400, expected]);
    expect(await cellsOf(id)).toEqual([]);
  });

  it('change their settings, are disabled, enabled and deleted; the file stays and can be adopted again', async () => {
    const id = await made('changes', { driver_memory: '1g' });
    const of = (path = '') => `${base}/conf${path}?notebook_conf_id=${id}`;
    expect(
      await caller.call('PUT', of(), { driver_memory: null, notebook_name: 'changed', max_concurrency: 1 }),
    ).toMatchObject({
      status: 201,
      body: { notebook_name: 'changed', driver_memory: null, notebook_path: '/changes.ipynb', max_concurrency: 1 },
    });
    expect(refusal(await caller.call('PUT', of(), {}))).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
    expect(refusal(await caller.call('PUT', of(), { notebook_type: 'sql' }))).toEqual([400, 'REQUEST.INVALID']);
    expect((await caller.call('PUT', of('/disable'))).status).toBe(201);
    expect(refusal(await caller.call('PUT', of('/disable')))).toEqual([409, 'NOTEBOOK_CONF.INVALID_STATE']);
    expect(refusal(await caller.call('PUT', of(), { driver_memory: '2g' }))).toEqual([409, 'NOTEBOOK_CONF.DISABLED']);
    expect(refusal(await post(id, [code('a', '')]))).toEqual([409, 'NOTEBOOK_CONF.DISABLED']);
    expect((await caller.call('PUT', of('/enable'))).status).toBe(201);
    await post(id, [code('a', 'kept')]);
    const runId = await run(id);
    expect(refusal(await caller.call('DELETE', of()))).toEqual([409, 'NOTEBOOK_CONF.IN_USE']);
    const revision = await inTx((tx) => api.app.get(NotebookDocumentsService).currentRevision(tx, id));
    await end(runId);
    expect(await caller.call('DELETE', of())).toMatchObject({ status: 201 });
    expect(refusal(await caller.call('GET', of()))).toEqual([404, 'NOTEBOOK_CONF.NOT_FOUND']);
    expect(await revisions(id)).toBe(1);
    const opened = await api.app.get(NotebookDocumentsService).exportRevision(tenant, revision ?? 0, 'then');
    expect(opened.name).toBe('then.ipynb');
    const again = await made('again', { notebook_path: '/changes.ipynb' });
    expect(await cellsOf(again)).toMatchObject([{ cell_uuid: 'a', code: 'kept' }]);
  });

  it('are cloned with their cells and without outputs', async () => {
    const id = await made('original', { driver_memory: '1g', max_concurrency: 2 });
    await post(id, [code('a', '1', { output: [{ type: 'text', Celloutput: 'x' }] })]);
    const clone = (query: string) => caller.call('POST', `${base}/conf/clone?notebook_name=original&${query}`);
    const answer = await clone('new_notebook_name=copy');
    expect(answer).toMatchObject({
      status: 200,
      body: { notebook_name: 'copy', notebook_path: '/copy.ipynb', driver_memory: '1g', max_concurrency: 2 },
    });
    expect(await cellsOf(Number(answer.body.notebook_conf_id))).toEqual([
      { cell_uuid: 'a', code: '1', cell_type: 'code', metadata: {}, output: [] },
    ]);
    expect((await cellsOf(id))[0]?.output).toHaveLength(1);
    expect(refusal(await clone('new_notebook_name=more&clone_file_path=copy.ipynb'))).toEqual([409, 'FILE.EXISTS']);
    expect(refusal(await clone('new_notebook_name=copy&clone_file_path=b.ipynb'))).toEqual([
      409,
      'RECORD.DUPLICATE_NAME',
    ]);
    expect((await clone('new_notebook_name=more&clone_file_path=/deep/er.ipynb')).body.notebook_path).toBe(
      '/deep/er.ipynb',
    );
  });

  it('follow their file: uploads are revisions, renames and moves change the path, and it cannot be deleted', async () => {
    const id = await made('file', { notebook_path: '/dir/file.ipynb' });
    await post(id, [code('a', '1', { output: [{ type: 'text', Celloutput: 'x' }] }), code('gone', '')]);
    const uploaded = await upload(
      'dir/file.ipynb',
      ipynb({ id: 'a', cell_type: 'code', source: '2', metadata: {}, outputs: [] }),
    );
    expect(uploaded.status).toBe(200);
    expect(await cellsOf(id)).toEqual([{ cell_uuid: 'a', code: '2', cell_type: 'code', metadata: {}, output: [] }]);
    expect(await revisions(id)).toBe(3);
    for (const wrong of [
      '',
      '[]',
      '{"cells":[]}',
      '{"cells":[],"nbformat":3}',
      `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
    ]) {
      expect(refusal(await upload('dir/file.ipynb', wrong))).toEqual([400, 'FILE.NOT_A_NOTEBOOK']);
    }
    expect(await cellsOf(id)).toMatchObject([{ code: '2' }]);
    expect((await files('PUT', '/rename', '&file_path=dir/file.ipynb&file_name=other.ipynb')).status).toBe(201);
    expect((await get(id)).notebook_path).toBe('/dir/other.ipynb');
    expect((await files('PUT', '/rename', '&file_path=dir&file_name=moved')).status).toBe(201);
    expect((await get(id)).notebook_path).toBe('/moved/other.ipynb');
    const asText = await files('PUT', '/rename', '&file_path=moved/other.ipynb&file_name=other.txt');
    expect(refusal(asText)).toEqual([409, 'FILE.IS_NOTEBOOK']);
    for (const path of ['moved', 'moved/other.ipynb']) {
      expect(refusal(await files('DELETE', '', `&file_path=${path}`))).toEqual([409, 'FILE.IS_NOTEBOOK']);
    }
    await upload('else.ipynb', 'x');
    const over = await files(
      'PUT',
      '/move',
      '&source_file_path=else.ipynb&destination_file_path=moved/other.ipynb&overwrite=true',
    );
    expect(refusal(over)).toEqual([409, 'FILE.IS_NOTEBOOK']);
    expect((await files('POST', '/copy', '&source_file_path=moved&destination_file_path=copied')).status).toBe(200);
    expect((await files('DELETE', '', '&file_path=copied')).status).toBe(201);
    await post(id, [code('a', '3')]);
    expect(await file('moved/other.ipynb')).toMatchObject({ more: 1, cells: [{ source: '3' }] });
  });

  it('keep the revisions that instances started with, and the newest twenty others', async () => {
    const id = await made('many');
    await post(id, [code('a', 'named')]);
    const kept = await inTx((tx) => api.app.get(NotebookDocumentsService).currentRevision(tx, id));
    for (let count = 0; count < 25; count += 1) await post(id, [code('a', String(count))]);
    expect(await revisions(id)).toBe(21);
    const left = await api.database.query<{ notebook_revision_id: number }[]>(
      'SELECT notebook_revision_id FROM notebook_revisions WHERE job_conf_id = $1 ORDER BY 1 LIMIT 1',
      [id],
    );
    expect(left).toEqual([{ notebook_revision_id: kept }]);
  });

  describe('and the outputs of their instances', () => {
    let id: number;
    let runId: number;
    const at = (cellUuid = 'a', of = runId) => ({ notebookConfId: id, cellUuid, runId: of });
    const print = (text: string, name: 'stdout' | 'stderr' = 'stdout'): NbOutput => ({
      output_type: 'stream',
      name,
      text,
    });
    const append = (...given: NbOutput[]) => inTx((tx) => outputs().append(tx, at(), given));
    const shown = async () => (await cellsOf(id))[0]?.output.map(({ Celloutput: text }) => text);

    beforeEach(async () => {
      id = await made('runs');
      await post(id, [
        code('a', '1', { output: [{ type: 'text', Celloutput: 'before' }] }),
        code('m', '', { cell_type: 'markdown' }),
      ]);
      runId = await run(id);
      expect(await inTx((tx) => outputs().startExecution(tx, at()))).toBe(true);
    });

    it('are written as they arrive, with each stream in one piece', async () => {
      expect(await shown()).toEqual([]);
      await append(print('a'), print('b'));
      await append(print('\u0000 "c"\\\n'), print('e', 'stderr'));
      await append(print('f', 'stderr'), { output_type: 'display_data', data: { 'text/html': '<b>' }, metadata: {} });
      await append(print('g'));
      await inTx((tx) => outputs().setExecutionCount(tx, at(), 4));
      expect(await shown()).toEqual(['ab\u0000 "c"\\\n', 'ef', '<b>', 'g']);
      expect((await exported(id)).cells[0]).toMatchObject({
        execution_count: 4,
        outputs: [{ name: 'stdout', text: 'ab\u0000 "c"\\\n' }, { name: 'stderr', text: 'ef' }, {}, { text: 'g' }],
      });
      await inTx((tx) => outputs().clear(tx, at(), { waits: false }));
      expect(await shown()).toEqual([]);
      expect((await exported(id)).cells[0]).toMatchObject({ execution_count: 4, outputs: [] });
    });

    it('keep their numbers and keys, even in an exported file that is adopted', async () => {
      const json = '{"constructor":"Ferrari","prototype":{"big":9007199254740993,"f":1.0,"small":[1e-05,-0.0]}}';
      const said = `{"output_type":"display_data","data":{"application/json":${json}},"metadata":{"z":1.0}}`;
      await append(readOutput(readOpaque(Buffer.from(said), { ...SHORT_JSON, parsedLevels: 2 })) as NbOutput);
      expect(await exportText(id)).toContain(`"outputs":[${said}]`);
      expect(await shown()).toEqual([json]);
      // A thread parses large files.
      for (const [name, more] of [
        ['small', ''],
        ['large', 'x'.repeat(200_000)],
      ] as const) {
        const text = (await exportText(id)).replace('"metadata":{}', `"metadata":{"constructor":"${more}"}`);
        expect((await upload(`${name}.ipynb`, text)).status).toBe(200);
        const adopted = await made(`${name}-adopted`, { notebook_path: `/${name}.ipynb` });
        expect(await exportText(adopted)).toContain(`"outputs":[${said}]`);
        await post(adopted, [code('a', '2', { output: [{ type: 'text', Celloutput: json }] })]);
        const { text: ofFile } = await bytes(
          `/workspace/file/download?workspace_id=${workspace}&file_path=/${name}.ipynb`,
        );
        expect(ofFile).toContain(`"outputs":[${said}]`);
      }
    });

    it('that the kernel clears stay until the next one arrives', async () => {
      const clear = () => inTx((tx) => outputs().clear(tx, at(), { waits: true }));
      await append(print('Hello world'));
      await clear();
      expect(await shown()).toEqual(['Hello world']);
      await append(print('1'));
      await append(print('2'));
      expect(await shown()).toEqual(['12']);
      await clear();
      await inTx((tx) => outputs().startExecution(tx, at()));
      await append(print('a'));
      await append(print('b'));
      expect(await shown()).toEqual(['ab']);
    });

    it('belong to existing code cells, and to the run that executed them last', async () => {
      const found = await inTx((tx) => outputs().cellTypes(tx, id, ['a', 'm', 'none']));
      expect([...found]).toEqual(
        expect.arrayContaining([
          ['a', 'code'],
          ['m', 'markdown'],
        ]),
      );
      expect(found.size).toBe(2);
      for (const cell of ['m', 'none']) expect(await inTx((tx) => outputs().startExecution(tx, at(cell)))).toBe(false);
      const second = await run(id);
      await inTx((tx) => outputs().startExecution(tx, at('a', second)));
      expect(await append(print('late'))).toBe(false);
      expect(await inTx((tx) => outputs().setExecutionCount(tx, at(), 1))).toBe(false);
      expect(await shown()).toEqual([]);
    });

    it('are managed by the server while the instance runs: a client does not replace them', async () => {
      await append(print('of the server'));
      const sent = (text: string) => [
        code('a', '1', { output: [{ type: 'text', Celloutput: text }] }),
        code('m', '', { cell_type: 'markdown' }),
      ];
      expect((await post(id, sent('less'), caller, `?run_id=${runId}`)).status).toBe(201);
      expect(await shown()).toEqual(['of the server']);
      const cleared = [code('a', '1'), code('m', '', { cell_type: 'markdown' })];
      for (const query of [`?run_id=${runId}`, '']) {
        await post(id, cleared, caller, query);
        expect(await shown()).toEqual(['of the server']);
      }
      await append(print(' goes on'));
      expect(await shown()).toEqual(['of the server goes on']);
      await end(runId);
      await post(id, sent('mine'));
      expect(await shown()).toEqual(['mine']);
      await post(id, cleared);
      expect(await shown()).toEqual([]);
    });

    const html = (text: string): NbOutput => ({
      output_type: 'display_data',
      data: { 'text/html': text },
      metadata: {},
    });
    const htmls = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => html(`${from + at}`));
    const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at}`);
    const leftOut = expect.stringMatching(/left out here.* 100 outputs and 10 MiB/) as string;

    it('are reduced to the first and the last ones if they are too many, with a note between', async () => {
      for (let from = 0; from < 90; from += 30) await append(...htmls(from, from + 30));
      await append(...htmls(90, 104));
      expect(await shown()).toEqual([...texts(0, 50), leftOut, ...texts(54, 104)]);
      await append(print('a', 'stderr'));
      await append(print('b', 'stderr'), html('FINAL RESULT'));
      const kept = [...texts(0, 50), leftOut, ...texts(56, 104), 'ab', 'FINAL RESULT'];
      expect(await shown()).toEqual(kept);
      expect((await exported(id)).cells[0]?.outputs).toHaveLength(101);
      // All at once, so most are never written.
      await append(...htmls(200, 1_200));
      expect(await shown()).toEqual([...texts(0, 50), leftOut, ...texts(1_150, 1_200)]);
      const [row] = await api.database.query<{ pieces: number; bytes: number; sum: number }[]>(
        `SELECT c.pieces, c.bytes, (SELECT sum(bytes) FROM notebook_outputs o WHERE o.job_conf_id = $1)::bigint AS sum
         FROM notebook_cells c WHERE c.job_conf_id = $1 AND cell_uuid = 'a'`,
        [id],
      );
      expect(row?.bytes).toBe(row?.sum);
      expect(row?.pieces).toBeLessThan(250);
      await inTx((tx) => outputs().startExecution(tx, at()));
      await append(...htmls(0, 100));
      expect(await shown()).toEqual(texts(0, 100));
    });

    it('are reduced to the first and the last ones if they are too large, with a note in place of others', async () => {
      const mib = (letter: string, count: number) => html(letter.repeat(count * 2 ** 20));
      await append(mib('a', 1), mib('b', 4));
      await append(mib('c', 4), mib('d', 5));
      const letters = async () => (await shown())?.map((text) => (text.length > 1_000 ? text.slice(0, 1) : text));
      expect(await letters()).toEqual(['a', leftOut, 'd']);
      await append(mib('e', 9));
      expect(await letters()).toEqual(['a', leftOut, 'd', leftOut]);
      await append(html('result'));
      expect(await letters()).toEqual(['a', leftOut, 'd', leftOut, 'result']);
      await inTx((tx) => outputs().startExecution(tx, at()));
      await append(print('x'.repeat(11 * 2 ** 20)));
      const [out = '', why = ''] = (await shown()) ?? [];
      expect([out.length > 9 * 2 ** 20, out.length <= 10 * 2 ** 20]).toEqual([true, true]);
      expect(why).toEqual(leftOut);
      await append(html('z'.repeat(2 ** 20)));
      expect(await letters()).toEqual([leftOut, 'z']);
      await inTx((tx) => outputs().startExecution(tx, at()));
      await append(html('w'.repeat(11 * 2 ** 20)));
      expect(await shown()).toEqual([leftOut]);
    });

    it('are stored once by their hash if they are large, until nothing refers to them', async () => {
      const picture = (text: string): NbOutput => ({
        output_type: 'display_data',
        data: { 'image/png': Buffer.from(text.repeat(300_000)).toString('base64') },
        metadata: {},
      });
      const contents = () =>
        api.database.query<{ blob_key: string }[]>(
          'SELECT blob_key FROM notebook_contents WHERE tenant_id = $1 AND sha256 IN (SELECT sha256 FROM notebook_outputs WHERE job_conf_id = $2)',
          [tenant, id],
        );
      const sweep = () =>
        inTx((tx) =>
          api.app.get(NotebookContentsRepository).removeUnused(tx, { minutes: 0, limit: 1_000, after: null }),
        );
      await append(picture('a'), picture('b'), picture('a'));
      const keys = (await contents()).map(({ blob_key: key }) => key);
      expect(keys).toHaveLength(2);
      await sweep();
      expect(await api.app.get(NotebookContentsRepository).keysInUse(keys)).toEqual(new Set(keys));
      expect((await exported(id)).cells[0]?.outputs?.[1]).toEqual(picture('b'));
      expect((await shown())?.[0]).toContain('data:image/png;base64,');
      await inTx((tx) => outputs().startExecution(tx, at()));
      await sweep();
      expect(await api.app.get(NotebookContentsRepository).keysInUse(keys)).toEqual(new Set());
    });

    it('are written completely or not at all', async () => {
      await expect(
        inTx(async (tx) => {
          await outputs().append(tx, at(), [print('never')]);
          throw new Error('rolled back');
        }),
      ).rejects.toThrow('rolled back');
      expect(await shown()).toEqual([]);
      const [row] = await api.database.query<{ output_bytes: number }[]>(
        'SELECT output_bytes FROM notebook_documents WHERE job_conf_id = $1',
        [id],
      );
      expect(row?.output_bytes).toBe(0);
    });
  });

  it('are created, cloned and changed once by a repeated request', async () => {
    const once = async (path: string, body?: object) => {
      const headers = { 'idempotency-key': people.unique('key') };
      const send = () => api.call('POST', path, { token: caller.token, body, headers });
      const [first, again] = [await send(), await send()];
      expect(again).toMatchObject({ status: first.status, body: first.body });
      return first;
    };
    const body = { notebook_name: 'once', notebook_type: 'scala', cluster_id: cluster };
    const id = Number((await once(`${base}/conf`, body)).body.notebook_conf_id);
    expect((await once(`${base}/conf/clone?notebook_name=once&new_notebook_name=twice`)).status).toBe(200);
    expect((await once(`${base}/${id}/update`, { cells: [code('a', '1')] })).status).toBe(201);
    expect(await revisions(id)).toBe(2);
    expect((await files('GET', '/usage', '')).body).toMatchObject({ file_count: 2 });
  });

  it('that many change at once have the last change, in the file, too', async () => {
    const id = await made('busy');
    await post(id, [code('a', 'first')]);
    const runId = await run(id);
    await inTx((tx) => outputs().startExecution(tx, { notebookConfId: id, cellUuid: 'a', runId }));
    const print = (index: number) =>
      inTx((tx) =>
        outputs().append(tx, { notebookConfId: id, cellUuid: 'a', runId }, [
          { output_type: 'stream', name: 'stdout', text: `${index} ` },
        ]),
      );
    const many = Array.from({ length: 6 }, (_, index) => index);
    const answers = await Promise.all([
      ...many.map((index) => post(id, [code('a', `by ${index}`)])),
      ...many.map(print),
      ...many.map((index) =>
        upload('busy.ipynb', ipynb({ id: 'a', cell_type: 'code', source: `file ${index}`, metadata: {} })),
      ),
    ]);
    const statuses = answers.flatMap((answer) => (typeof answer === 'boolean' ? [] : [answer.status]));
    expect(statuses.filter((status) => ![200, 201, 409].includes(status))).toEqual([]);
    const [cell] = await cellsOf(id);
    expect(cell?.output[0]?.Celloutput.trim().split(' ').sort()).toEqual(many.map(String));
    expect(await file('busy.ipynb')).toMatchObject({ cells: [{ id: 'a', source: cell?.code }] });
    const counted = await api.database.query<Record<string, number>[]>(
      `SELECT d.output_bytes, (SELECT sum(bytes)::bigint FROM notebook_cells c WHERE c.job_conf_id = d.job_conf_id) AS cells,
         (SELECT sum(bytes)::bigint FROM notebook_outputs o WHERE o.job_conf_id = d.job_conf_id) AS outputs
       FROM notebook_documents d WHERE d.job_conf_id = $1`,
      [id],
    );
    expect(counted[0]).toEqual({ output_bytes: 12, cells: 12, outputs: 12 });
  });

  it('of thirty MiB can be sent and read', async () => {
    const id = await made('large');
    const text = 'x'.repeat(29 * 2 ** 20);
    expect((await post(id, [code('a', '1', { output: [{ type: 'text', Celloutput: text }] })])).status).toBe(201);
    expect((await cellsOf(id))[0]?.output[0]?.Celloutput.length).toBe(text.length);
    const more = await post(id, [code('a', 'x'.repeat(31 * 2 ** 20))]);
    expect(refusal(more)).toEqual([413, 'REQUEST.TOO_LARGE']);
    expect((await post(id, [code('a', text)])).status).toBe(201);
    expect((await cellsOf(id))[0]?.code.length).toBe(text.length);
  });

  it('belong to one workspace and tenant', async () => {
    const id = await made('mine');
    const other = await caller.call('POST', '/workspace', { name: people.unique('workspace') });
    const there = `/workspace/${other.body.workspace_id}/notebook`;
    expect(refusal(await caller.call('GET', `${there}/conf?notebook_conf_id=${id}`))).toEqual([
      404,
      'NOTEBOOK_CONF.NOT_FOUND',
    ]);
    expect(refusal(await caller.call('POST', `${there}/${id}/update`, { cells: [] }))).toEqual([
      404,
      'NOTEBOOK_CONF.NOT_FOUND',
    ]);
    const job = await insertPlain(api.database.manager, 'job_confs', {
      tenant_id: tenant,
      workspace_id: workspace,
      cluster_id: cluster,
      name: 'a-job',
      job_type: 'SPARK_JOB',
      language: 'Python3',
      max_concurrency: 0,
      settings: {},
    });
    expect(refusal(await post(Number(job['job_conf_id']), []))).toEqual([404, 'NOTEBOOK_CONF.NOT_FOUND']);
  });

  describe('that two people change at once', () => {
    const save = (id: number, cells: object[], revision: number, by = caller) =>
      post(id, cells, by, `?revision_id=${revision}`);

    it('refuse the second change of a revision, and keep the outputs that a change leaves out', async () => {
      const id = await made('shared');
      const [shown] = [{ type: 'text', Celloutput: '1' }];
      await post(id, [code('a', '1', { output: [shown] }), code('b', '2')]);
      const { revision_id: first } = await get(id);
      const saved = await save(id, [code('a', '10'), code('b', '2')], first);
      expect(saved.status).toBe(201);
      const second = saved.body.revision_id as number;
      expect(second).toBeGreaterThan(first);
      expect((await get(id)).revision_id).toBe(second);
      expect((await cellsOf(id)).map(({ code: text, output }) => [text, output])).toEqual([
        ['10', [shown]],
        ['2', []],
      ]);

      const refused = await save(id, [code('a', '1'), code('b', '20')], first);
      expect([refused.status, refused.body.error_code]).toEqual([409, 'NOTEBOOK_CONF.CHANGED']);
      expect(refused.body.details).toMatchObject({ revision_id: second });
      expect((await cellsOf(id)).map(({ code: text }) => text)).toEqual(['10', '2']);
      const merged = await save(id, [code('a', '10'), code('b', '20')], second);
      expect(merged.body.revision_id).toBeGreaterThan(second);
      // Without a change there is nothing to lose, whatever the revision.
      const same = await save(id, [code('a', '10'), code('b', '20')], first);
      expect([same.status, same.body.revision_id]).toEqual([201, merged.body.revision_id]);
    });

    it('make one revision at a time, however many save at once', async () => {
      const id = await made('crowded');
      const { revision_id: revision } = await get(id);
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map((one) => save(id, [code(`cell-${one}`, String(one))], revision)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
      expect(await cellsOf(id)).toHaveLength(1);
    });

    it('are read without outputs, which are left out', async () => {
      const id = await made('short');
      await post(id, [code('a', '1', { output: [{ type: 'text', Celloutput: '1' }] })]);
      const { body } = await caller.call('GET', `${base}/conf?notebook_conf_id=${id}&with_outputs=false`);
      expect(body.notebook_cells.cells).toMatchObject([{ cell_uuid: 'a', code: '1', output: [] }]);
    });
  });

  describe('of all workspaces', () => {
    it('are listed as far as the caller may see them', async () => {
      const name = people.unique('everywhere');
      const id = await made(name);
      const other = (await caller.call('POST', '/workspace', { name: people.unique('workspace') })).body;
      const elsewhere = { notebook_name: `${name}-x`, notebook_type: 'sql', cluster_id: cluster };
      await caller.call('POST', `/workspace/${other.workspace_id}/notebook/conf`, elsewhere);
      const namesFor = async (by: Caller, query = '') => {
        const { status, body } = await by.call('GET', `/notebooks?name=${name.toUpperCase()}${query}`);
        expect(status).toBe(200);
        return (body.data as { notebook_name: string }[]).map((one) => one.notebook_name);
      };
      expect(await namesFor(caller)).toEqual([`${name}-x`, name]);
      expect(await namesFor(caller, `&workspace_id=${workspace}`)).toEqual([name]);
      expect(await namesFor(await member('VIEW'))).toEqual([name]);
      expect(await namesFor(await people.member(tenant))).toEqual([]);
      expect(await namesFor(await people.admin(await people.tenant()))).toEqual([]);
      const viewer = await member('VIEW');
      expect((await viewer.call('GET', `/notebooks?workspace_id=${other.workspace_id}`)).status).toBe(403);

      const { body } = await caller.call('GET', `/notebooks?workspace_id=${workspace}`);
      expect(body.data).toMatchObject([
        {
          notebook_conf_id: id,
          notebook_type: 'python3',
          workspace: { workspace_id: workspace },
          cluster: { cluster_id: cluster },
          last_notebook_run: null,
        },
      ]);
      await caller.call('PUT', `${base}/conf/disable?notebook_conf_id=${id}`);
      expect(await namesFor(caller)).toEqual([`${name}-x`]);
    });
  });
});
