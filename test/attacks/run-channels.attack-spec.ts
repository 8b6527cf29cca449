import { encodeRecords } from '../../libs/contracts/channel-records';
import { RunChannelsService } from '../../src/modules/execution/runs/channels/run-channels.service';
import { Transactions } from '../../src/platform/kernel/persistence/transactions';
import { eventually } from '../harness/eventually';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';

const MIB = 2 ** 20;
const KEPT = 64 * MIB;
const MILLION = 1_000_000;

// Real: the whole API and PostgreSQL. Left out: the agents, whose tokens hostile jobs have stolen or whose files they write.
describe('channels of runs under attack by a node or job', () => {
  const api = wholeApi();
  let tenancy: Tenancy;
  let agent: TestAgent;
  /** Nodes that do not execute the run, by owner. */
  const others = new Map<string, TestAgent>();
  let channels: RunChannelsService;
  let runId: number;

  beforeAll(async () => {
    const { manager } = api.database;
    tenancy = await makeTenancy(manager, 'mine');
    agent = await TestAgent.unregistered(api, tenancy, 0);
    others.set('another node of the cluster', await TestAgent.unregistered(api, tenancy, 1));
    others.set('a node of another tenant', await TestAgent.unregistered(api, await makeTenancy(manager, 'theirs'), 0));
    for (const one of [agent, ...others.values()]) expect(await one.register()).toBe(200);
    channels = api.app.get(RunChannelsService, { strict: false });
  });

  beforeEach(async () => {
    runId = await agent.assignRun(tenancy, undefined, 'NOTEBOOK');
  });

  afterEach(() => api.database.query(`UPDATE runs SET ended_at = now(), status = 'DONE' WHERE ended_at IS NULL`));

  const record = (number: number, payload: Buffer | string = 'x') => ({ number, payload: Buffer.from(payload) });
  /** Retries like an agent if the database was too busy. */
  const putFrames = (body: Buffer, { by = agent, run = runId }: { by?: TestAgent; run?: number } = {}) =>
    eventually(
      async () => {
        const answer = await by.send('PUT', `/runs/${run}/frames`, { body });
        const text = await answer.text();
        return answer.status === 503 ? null : { status: answer.status, text };
      },
      { what: 'an answer to frames' },
    );
  const fetchRequests = (after: string, { by = agent, run = runId }: { by?: TestAgent; run?: number } = {}) =>
    by.send('GET', `/runs/${run}/requests?after=${after}&wait_ms=0`);
  const request = (payload: string) =>
    api.app
      .get(Transactions, { strict: false })
      .run((tx) => channels.send(tx, { run_id: runId, tenant_id: tenancy.tenantId }, Buffer.from(payload)));
  const kept = async (): Promise<{ bytes: number; counted: number; pieces: number }> => {
    const [row] = await api.database.query(
      `SELECT coalesce(sum(octet_length(f.records)), 0)::int AS bytes, count(f.*)::int AS pieces, max(l.kept_bytes)::int AS counted
       FROM run_frame_logs l LEFT JOIN run_frames f USING (run_id) WHERE l.run_id = $1`,
      [runId],
    );
    return row;
  };

  it.each(['another node of the cluster', 'a node of another tenant'])('are closed to %s', async (whose) => {
    const by = others.get(whose) as TestAgent;
    await request('for its own node');
    const theirs = await fetchRequests('0', { by });
    expect([theirs.status, await theirs.text()]).toEqual([404, expect.not.stringContaining('for its own node')]);
    // An acknowledgement of the other node removes nothing either.
    expect((await fetchRequests('1', { by })).status).toBe(404);
    expect((await putFrames(encodeRecords([record(1, 'a lie')]), { by })).status).toBe(404);
    // Even an empty report, whose response is only the next number, is refused.
    expect((await putFrames(Buffer.alloc(0), { by })).status).toBe(404);
    expect(await channels.frames(runId, 0)).toMatchObject({ frames: [], last: 0 });
    expect(await (await fetchRequests('0')).text()).toContain('for its own node');
  });

  it('are closed to a node of another run, whatever id it sends', async () => {
    const by = others.get('another node of the cluster') as TestAgent;
    const own = await by.assignRun(tenancy, undefined, 'NOTEBOOK');
    expect((await putFrames(encodeRecords([record(1, 'its own')]), { by, run: own })).status).toBe(200);
    for (const run of [runId, own + 1_000_000]) {
      expect([run, (await putFrames(encodeRecords([record(1)]), { by, run })).status]).toEqual([run, 404]);
      expect([run, (await fetchRequests('0', { by, run })).status]).toEqual([run, 404]);
    }
    expect((await channels.frames(runId, 0)).frames).toEqual([]);
  });

  it('are closed to users and to anonymous callers', async () => {
    const token = await api.login();
    for (const used of [token, '', 'x'.repeat(5_000)]) {
      const put = await agent.send('PUT', `/runs/${runId}/frames`, { token: used, body: encodeRecords([record(1)]) });
      const get = await agent.send('GET', `/runs/${runId}/requests?after=0&wait_ms=0`, { token: used });
      expect([put.status, get.status]).toEqual([401, 401]);
    }
  });

  it.each(['SPARK_JOB', 'SPARK_SQL', 'JAR', 'no type at all'])('accept nothing from a run of %s', async (type) => {
    runId = await agent.assignRun(tenancy, undefined, type);
    expect((await putFrames(encodeRecords([record(1)]))).status).toBe(404);
    expect(await kept()).toMatchObject({ bytes: 0 });
  });

  it('accept nothing from a run that has ended, however often it sends', async () => {
    await putFrames(encodeRecords([record(1, 'before')]));
    await api.database.query(`UPDATE runs SET ended_at = now(), status = 'KILLED' WHERE run_id = $1`, [runId]);
    for (let number = 2; number < 10; number += 1) {
      expect((await putFrames(encodeRecords([record(number, 'after')]))).status).not.toBe(200);
    }
    expect((await channels.frames(runId, 0)).last).toBe(1);
  });

  it.each(['-1', '1.5', 'NaN', '1e300', '9007199254740993', "0'--", '', '%00'])(
    'refuse requests behind %j',
    async (after) => expect((await fetchRequests(after)).status).toBe(400),
  );

  it.each([
    ['as many keys as fit', `{${Array.from({ length: 900_000 }, (_, at) => `"k${at}":1.0`).join(',')}}`],
    ['as many lists as fit', `[${'[],'.repeat(4_000_000)}1]`],
    ['as many levels as fit', `${'['.repeat(7_000_000)}${']'.repeat(7_000_000)}`],
  ])('do not parse the data of an output that has %s', async (_, data) => {
    const content = `{"data":{"application/json":${data}}}`;
    const message = `{"msg_type":"display_data","parent_header":{"msg_id":"cell"},"content":${content}}`;
    const body = encodeRecords([record(1, `{"op":"message","generation":1,"message":${message}}`)]);
    const heapBefore = process.memoryUsage().heapUsed;
    expect((await putFrames(body)).status).toBe(200);
    // The bytes are outside the heap, except for the text of the output; parsed values would take more than 100 MB of heap.
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(60 * MIB);
    expect((await channels.frames(runId, 0)).last).toBe(1);
  });

  it('refuse random bytes and malformed records, and ignore numbers out of order', async () => {
    const header = (length: number, number: bigint) => {
      const bytes = Buffer.alloc(12);
      bytes.writeUInt32BE(length, 0);
      bytes.writeBigUInt64BE(number, 4);
      return bytes;
    };
    const noise = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919 + 13) % 251));
    const hostile = {
      noise,
      'a gap': encodeRecords([record(1), record(3)]),
      'the same twice': encodeRecords([record(1), record(1)]),
      'the order reversed': encodeRecords([record(2), record(1)]),
      'a payload of 4 GiB': header(0xffffffff, 1n),
      'one byte more than is there': Buffer.concat([header(2, 1n), Buffer.alloc(1)]),
      'a number beyond all': header(0, 2n ** 64n - 1n),
      'a whole one before a broken one': Buffer.concat([encodeRecords([record(1)]), noise]),
    };
    for (const [what, body] of Object.entries(hostile)) {
      const { status, text } = await putFrames(body);
      expect([what, status, JSON.parse(text)]).toEqual([
        what,
        400,
        expect.objectContaining({ error_code: 'CHANNEL.MALFORMED' }),
      ]);
    }
    // Records with other first numbers are well-formed but ignored.
    for (const number of [0, 2, 1_000, Number.MAX_SAFE_INTEGER]) {
      expect(await putFrames(encodeRecords([record(number)]))).toEqual({ status: 200, text: '{"next":1}' });
    }
    expect(await channels.frames(runId, 0)).toEqual({ frames: [], lost: false, last: 0 });
  });

  it('refuse a body larger than any agent sends before they read it', async () => {
    const body = Buffer.alloc(48 * MIB);
    const { status } = await agent.send('PUT', `/runs/${runId}/frames`, { body }).catch(() => ({ status: 413 }));
    expect(status).toBe(413);
    expect((await channels.frames(runId, 0)).last).toBe(0);
    expect((await putFrames(encodeRecords([record(1, 'small')]))).status).toBe(200);
  });

  it('keep 64 MiB of a flood of long frames', async () => {
    const payload = Buffer.alloc(4 * MIB, 'flood');
    for (let number = 1; number <= 24; number += 1) {
      expect((await putFrames(encodeRecords([record(number, payload)]))).status).toBe(200);
      const { bytes, counted } = await kept();
      expect(bytes).toBeLessThanOrEqual(counted);
      expect(counted).toBeLessThanOrEqual(KEPT);
    }
    const found = await channels.frames(runId, 0);
    expect(found).toMatchObject({ lost: true, last: 24 });
    // A reader receives one piece at a time.
    expect(found.frames).toHaveLength(1);
  });

  it('count a million empty frames at the cost of their records', async () => {
    const nothing = Buffer.alloc(0);
    const AT_ONCE = 100_000;
    for (let first = 1; first <= MILLION; first += AT_ONCE) {
      const records = Array.from({ length: AT_ONCE }, (_, at) => ({ number: first + at, payload: nothing }));
      expect((await putFrames(encodeRecords(records))).status).toBe(200);
    }
    const { counted, pieces } = await kept();
    expect(pieces).toBe(MILLION / AT_ONCE);
    expect(counted).toBeLessThanOrEqual(KEPT);
    expect((await channels.frames(runId, 0)).last).toBe(MILLION);
  });

  it('count the overhead of the smallest pieces, too', async () => {
    const PIECES = 300;
    for (let number = 1; number <= PIECES; number += 1) {
      expect((await putFrames(encodeRecords([record(number, '')]))).status).toBe(200);
    }
    const { bytes, counted } = await kept();
    expect(counted - bytes).toBeGreaterThanOrEqual(PIECES * 500);
  });

  it('serve other requests during many polls of one node', async () => {
    const ending = new AbortController();
    const polls = Array.from({ length: 300 }, () =>
      agent
        .send('GET', `/runs/${runId}/requests?after=0&wait_ms=25000`, { signal: ending.signal })
        .catch(() => undefined),
    );
    let over = 0;
    for (const poll of polls) void poll.then(() => (over += 1));
    expect((await fetch(api.urlOf('/version'))).status).toBe(200);
    expect((await putFrames(encodeRecords([record(1)]))).status).toBe(200);
    // Some still wait.
    expect(over).toBeLessThan(polls.length);
    ending.abort();
    await Promise.all(polls);
  });
});
