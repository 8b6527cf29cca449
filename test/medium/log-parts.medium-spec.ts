import { randomInt } from 'node:crypto';
import { LogStore } from '../../libs/object-storage/log-store';
import { type Caller, People } from './harness/people';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { wholeApi } from './harness/test-api';

const LOG = 'reads the invoices\n\u001b[31mERROR\u001b[0m: no such table\nreads the orders\nerror: gives up\n';

// Real: the whole API, PostgreSQL and the log store of a folder.
describe('the log of a run', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenancy: Tenancy;
  let caller: Caller;
  let path: string;

  beforeAll(async () => {
    // Test files share the folder of the logs, and each has a database that would begin with the same ids.
    await api.database.query(`ALTER TABLE runs ALTER COLUMN run_id RESTART WITH ${randomInt(1e6, 1e9)}`);
    tenancy = await makeTenancy(api.database.manager, 'logs');
    caller = await people.as(tenancy.userId, tenancy.tenantId);
    const { body } = await caller.call('POST', `/workspace/${tenancy.workspaceId}/spark/job`, {
      job_conf_id: tenancy.jobConfId,
    });
    const store = api.app.get(LogStore, { strict: false });
    await store.write({ kind: 'run', id: Number(body.job_id), stream: 'stdout' }, 0, Buffer.from(LOG));
    path = `/workspace/${tenancy.workspaceId}/spark/job/${body.job_id}/log/stdout`;
  });

  const get = async (headers: Record<string, string> = {}, query = '') => {
    const response = await fetch(api.urlOf(`${path}${query}`), {
      headers: { authorization: `Bearer ${caller.token}`, ...headers },
    });
    const range = response.headers.get('content-range');
    return { status: response.status, range, text: await response.text(), headers: response.headers };
  };
  const search = async (query: Record<string, string>) => {
    const { status, body } = await caller.call('GET', `${path}/search?${new URLSearchParams(query).toString()}`);
    return { status, body };
  };

  it('is sent in the part that a header Range names', async () => {
    const size = Buffer.byteLength(LOG);
    expect(await get({ range: 'bytes=0-4' })).toMatchObject({ status: 206, range: `bytes 0-4/${size}`, text: 'reads' });
    const end = await get({ range: 'bytes=-9' });
    expect(end).toMatchObject({ status: 206, range: `bytes ${size - 9}-${size - 1}/${size}`, text: 'gives up\n' });
    expect(end.headers.get('content-length')).toBe('9');
    expect(end.headers.get('x-log-offset')).toBe(String(size));
  });

  it('is refused with 416 where it has no bytes, with its size', async () => {
    const size = Buffer.byteLength(LOG);
    const refused = await get({ range: `bytes=${size}-` });
    expect(refused).toMatchObject({ status: 416, range: `bytes */${size}` });
    expect(JSON.parse(refused.text)).toMatchObject({ error_code: 'REQUEST.RANGE', details: { size } });
  });

  it.each([
    ['several parts', { range: 'bytes=0-1,3-4' }, ''],
    ['a condition', { range: 'bytes=0-4', 'if-range': '"1"' }, ''],
    ['a part in the query', { range: 'bytes=0-4' }, '?offset=0'],
  ])('is sent whole if the header cannot count because of %s', async (_why, headers, query) => {
    expect(await get(headers as Record<string, string>, query)).toMatchObject({ status: 200, range: null, text: LOG });
  });

  it('is searched for lines with a text', async () => {
    const lines = LOG.split('\n');
    const places = [0, 1, 2, 3].map((line) => Buffer.byteLength(lines.slice(0, line).join('\n')) + (line ? 1 : 0));
    expect(await search({ text: 'ERROR:' })).toEqual({
      status: 200,
      body: {
        matches: [
          { offset: places[1], line: 'ERROR: no such table' },
          { offset: places[3], line: 'error: gives up' },
        ],
        next_offset: null,
        size_bytes: Buffer.byteLength(LOG),
      },
    });
    const first = await search({ text: 'reads', direction: 'backward', limit: '1' });
    expect(first.body.matches).toEqual([{ offset: places[2], line: 'reads the orders' }]);
    const { body } = await search({ text: 'reads', direction: 'backward', offset: String(first.body.next_offset) });
    expect(body).toMatchObject({ matches: [{ offset: 0 }], next_offset: null });
  });

  it('is empty for a search if it was never written', async () => {
    const { body } = await caller.call('GET', `${path.replace('stdout', 'stderr')}/search?text=x`);
    expect(body).toEqual({ matches: [], next_offset: null, size_bytes: 0 });
  });
});

// Real: the whole API, PostgreSQL and the log store of a folder.
describe('the logs of nodes and notebooks', () => {
  const api = wholeApi();
  const people = new People(api);
  const size = Buffer.byteLength(LOG);
  const paths = new Map<string, string>();
  let caller: Caller;

  beforeAll(async () => {
    const { manager } = api.database;
    await api.database.query(`ALTER TABLE runs ALTER COLUMN run_id RESTART WITH ${randomInt(1e6, 1e9)}`);
    await api.database.query(`ALTER TABLE cluster_nodes ALTER COLUMN node_id RESTART WITH ${randomInt(1e6, 1e9)}`);
    const tenancy = await makeTenancy(manager, 'outputs');
    const { tenantId: tenant_id, clusterId: cluster_id, workspaceId: workspace_id, jobConfId: job_conf_id } = tenancy;
    caller = await people.as(tenancy.userId, tenant_id);
    const nodeId = await makeNode(manager, tenancy, 0);
    const [state] = await api.database.query<{ node_state_id: number }[]>(
      `SELECT node_state_id FROM node_states WHERE node_id = ${nodeId}`,
    );
    const ofRun = { tenant_id, cluster_id, workspace_id, job_conf_id, kind: 'notebook', status: 'SUBMITTED' };
    const { run_id } = await insertPlain(manager, 'runs', { ...ofRun, workflow_job_instance_id: 1 });
    const store = api.app.get(LogStore, { strict: false });
    await store.write({ kind: 'node', id: nodeId, stream: 'stdout' }, 0, Buffer.from(LOG));
    await store.write({ kind: 'run', id: Number(run_id), stream: 'stdout' }, 0, Buffer.from(LOG));
    paths.set('node', `/cluster/log/stdout?cluster_id=${cluster_id}&node_status_id=${state?.node_state_id}`);
    paths.set('notebook', `/workspace/${workspace_id}/notebook/${Number(run_id)}/log/stdout?`);
  });

  const get = async (of: string, range: string, query = '') => {
    const response = await fetch(api.urlOf(`${paths.get(of)}${query}`), {
      headers: { authorization: `Bearer ${caller.token}`, range },
    });
    const { status, headers } = response;
    const [part, next] = ['content-range', 'x-log-offset'].map((name) => headers.get(name));
    return { status, part, next, text: await response.text() };
  };

  it.each(['node', 'notebook'])('are sent in the part that a header Range or the query names, for a %s', async (of) => {
    expect(await get(of, 'bytes=0-4')).toEqual({ status: 206, part: `bytes 0-4/${size}`, next: '5', text: 'reads' });
    expect(await get(of, 'bytes=-9')).toMatchObject({ status: 206, text: 'gives up\n' });
    expect(await get(of, `bytes=${size}-`)).toMatchObject({ status: 416, part: `bytes */${size}` });
    const window = await get(of, 'bytes=0-4', '&offset=6&file_size_bytes=3');
    expect(window).toEqual({ status: 200, part: null, next: '9', text: 'the' });
    expect(await get(of, '', `&offset=${size + 10}`)).toMatchObject({ status: 200, next: String(size), text: '' });
  });
});
