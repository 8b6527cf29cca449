import { Estate } from '../medium/harness/estate';
import { type Caller, People } from '../medium/harness/people';
import { wholeApi, type TestAnswer } from '../medium/harness/test-api';

const MIB = 2 ** 20;

// Real: the whole API, PostgreSQL and the store of files.
describe('a hostile notebook file', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let cluster: number;
  let workspace: number;

  beforeAll(async () => {
    caller = await people.everywhere(await people.tenant());
    const estate = new Estate(people, caller);
    cluster = await estate.id('cluster', await estate.parts());
    workspace = await people.workspace(caller);
  });

  const create = (name: string, more: object = {}) =>
    caller.call('POST', `/workspace/${workspace}/notebook/conf`, {
      notebook_name: name,
      notebook_type: 'python3',
      cluster_id: cluster,
      ...more,
    });

  async function upload(path: string, content: string): Promise<TestAnswer> {
    const response = await fetch(api.urlOf(`/workspace/files?workspace_id=${workspace}&path=${path}&overwrite=true`), {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/octet-stream' },
      body: content,
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Checks that the API serves other requests while the work runs. */
  async function meanwhile<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const answer = await fetch(api.urlOf('/version'), { signal: AbortSignal.timeout(60_000) });
        expect(answer.status).toBe(200);
        await answer.text();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const result = await work.finally(() => (isOver = true));
    await asking;
    return result;
  }

  const cells = (text: string) => `{"nbformat":4,"metadata":{},"cells":[${text}]}`;
  const cell = '{"cell_type":"code","source":"","metadata":{},"outputs":[]}';

  it.each<[string, () => string]>([
    ['a million cells', () => cells(`${`${cell},`.repeat(400_000)}${cell}`)],
    ['a million lists', () => cells('[],'.repeat(1_000_000))],
    ['twenty thousand cells', () => cells(`${`${cell},`.repeat(20_000)}${cell}`)],
    ['a million levels', () => cells('['.repeat(1_000_000))],
    ['a million quotes', () => cells('"'.repeat(1_000_001))],
    ['a key twice', () => '{"nbformat":4,"nbformat":4,"cells":[]}'],
    ['a key with a special meaning', () => '{"nbformat":4,"cells":[],"metadata":{"__proto__":{"a":1}}}'],
    ['half of a surrogate pair', () => cells('{"cell_type":"code","source":"\\ud800","metadata":{}}')],
    ['bytes that are no text', () => '\u0000\u0001'.repeat(1_000)],
    [
      'more than a notebook may have',
      () => cells(`{"cell_type":"code","source":"${'x'.repeat(31 * MIB)}","metadata":{}}`),
    ],
  ])('of %s is refused with its reason, and the notebook stays as it is', async (_what, content) => {
    const name = people.unique('notebook');
    expect((await create(name)).status).toBe(200);
    const answer = await meanwhile(upload(`${name}.ipynb`, content()));
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'FILE.NOT_A_NOTEBOOK' } });
    expect(answer.body.error_message.length).toBeLessThan(1_000);
    const got = await caller.call('GET', `/workspace/${workspace}/notebook/conf?notebook_name=${name}`);
    expect(got.body.notebook_cells.cells).toEqual([]);
  });

  it('is read one at a time, and other requests wait or get 503', async () => {
    const name = people.unique('large');
    const large = cells(`{"cell_type":"code","source":"${'x'.repeat(20 * MIB)}","metadata":{}}`);
    expect((await upload(`${name}.ipynb`, large)).status).toBe(200);
    const path = `/${name}.ipynb`;
    const requests = Array.from({ length: 16 }, (_, index) => create(`${name}-${index}`, { notebook_path: path }));
    const answers = await meanwhile(Promise.all(requests));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(503);
  });
});
