import { randomInt } from 'node:crypto';
import { appendFile, truncate } from 'node:fs/promises';
import { type LogName, LogStore } from '../../libs/object-storage/log-store';
import { type Caller, People } from '../medium/harness/people';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { wholeApi } from '../medium/harness/test-api';

const GIGABYTE = 2 ** 30;
/** A request searches for a second; the rest is for a busy machine. */
const MAX_SEARCH_MS = 4_000;

// Real: the whole API, PostgreSQL and a log of a gigabyte.
describe('searches of logs', () => {
  const api = wholeApi();
  const people = new People(api);
  let own: Tenancy;
  let owner: Caller;
  let path: string;
  const runIds: number[] = [];

  beforeAll(async () => {
    // Test files share the folder of the logs, and each has a database that would begin with the same ids.
    await api.database.query(`ALTER TABLE runs ALTER COLUMN run_id RESTART WITH ${randomInt(1e6, 1e9)}`);
    own = await makeTenancy(api.database.manager, 'own');
    owner = await people.as(own.userId, own.tenantId);
    path = await runWithLog('aaaa\n');
  });

  afterAll(async () => {
    const store = api.app.get(LogStore, { strict: false });
    await Promise.all(runIds.map((id) => store.delete('run', id)));
  });

  /** Returns the path of a log that is followed by a gigabyte of zeros, one line without an end, and the text. */
  async function runWithLog(begin: string, end = ''): Promise<string> {
    const { body } = await owner.call('POST', `/workspace/${own.workspaceId}/spark/job`, {
      job_conf_id: own.jobConfId,
    });
    runIds.push(Number(body.job_id));
    const log: LogName = { kind: 'run', id: Number(body.job_id), stream: 'stdout' };
    const store = api.app.get(LogStore, { strict: false });
    await store.write(log, 0, Buffer.from(begin));
    const file = Reflect.apply(Reflect.get(store, 'path') as (log: LogName) => string, store, [log]);
    await truncate(file, GIGABYTE);
    await appendFile(file, end);
    return `/workspace/${own.workspaceId}/spark/job/${body.job_id}/log/stdout/search`;
  }

  const search = (caller: Caller, query: Record<string, string>, at = path) =>
    caller.call('GET', `${at}?${new URLSearchParams(query).toString()}`);

  it('end in time however large the log is, and find what is at its other end', async () => {
    const large = await runWithLog('the needle at the beginning\n', '\nthe needle at the end\n');
    const started = performance.now();
    const { status, body } = await search(owner, { text: 'nowhere' }, large);
    expect(performance.now() - started).toBeLessThan(MAX_SEARCH_MS);
    expect([status, body.matches]).toEqual([200, []]);
    expect(body.next_offset).toBeGreaterThan(0);
    expect(body.next_offset).toBeLessThan(GIGABYTE / 2);
    const last = await search(owner, { text: 'needle', direction: 'backward', limit: '1' }, large);
    expect(last.body.matches).toEqual([{ offset: GIGABYTE + 1, line: 'the needle at the end' }]);
  });

  it.each(['(a+)+$', `${'a'.repeat(199)}b`, `b${'a'.repeat(199)}`, '\\', '%', '[', '\u001b[', '\u0000'.repeat(200)])(
    'take %j as text, which costs no more than any other',
    async (text) => {
      const started = performance.now();
      const { status } = await search(owner, { text });
      expect(status).toBe(200);
      expect(performance.now() - started).toBeLessThan(MAX_SEARCH_MS);
    },
  );

  it('do not keep other requests waiting, and are limited for each tenant', async () => {
    const stranger = await makeTenancy(api.database.manager, 'stranger');
    const other = await people.as(stranger.userId, stranger.tenantId);
    const searches = Array.from({ length: 12 }, () => search(owner, { text: 'nowhere' }));
    const delays: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      const started = performance.now();
      expect((await other.call('GET', '/user/info')).status).toBe(200);
      delays.push(performance.now() - started);
    }
    expect(Math.min(...delays)).toBeLessThan(500);
    const statuses = (await Promise.all(searches)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await search(owner, { text: 'aaaa', limit: '1' })).status).toBe(200);
  });

  it('show nothing to others', async () => {
    const foreign = await makeTenancy(api.database.manager, 'foreign');
    const admin = await people.admin(foreign.tenantId);
    expect((await search(admin, { text: 'a' })).status).toBe(404);
    expect((await search(await people.member(own.tenantId), { text: 'a' })).status).toBe(403);
  });

  it.each([{}, { text: '' }, { text: 'x'.repeat(201) }, { text: 'a', offset: '-1' }, { text: 'a', limit: '1001' }])(
    'refuse %j',
    async (query) => {
      expect((await search(owner, query as Record<string, string>)).status).toBe(400);
    },
  );
});
