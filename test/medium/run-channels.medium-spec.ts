import { decodeRecords, encodeRecords, type NumberedPayload } from '../../libs/contracts/channel-records';
import { Config } from '../../src/config/config';
import { LOGGER, type Logger } from '../../src/platform/kernel/logging/logger';
import { tableOf } from '../../src/platform/kernel/persistence/entity-table';
import { insertRow } from '../../src/platform/kernel/persistence/sql';
import { Transactions } from '../../src/platform/kernel/persistence/transactions';
import { RetentionSweeper } from '../../src/platform/background/workflows/retention';
import { RunFrameLog } from '../../src/modules/execution/runs/channels/entities/run-frame-log.entity';
import { RunRequestQueue } from '../../src/modules/execution/runs/channels/entities/run-request-queue.entity';
import { KernelFramesService } from '../../src/modules/execution/notebooks/instances/kernel-frames.service';
import type { FrameConsumer } from '../../src/modules/execution/runs/channels/frame-consumer';
import { RunChannelsService } from '../../src/modules/execution/runs/channels/run-channels.service';
import { ENDED_CHANNELS } from '../../src/modules/execution/runs/channels/run-channels.repository';
import { eventually } from '../harness/eventually';
import { makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { soon, wholeApi } from './harness/test-api';

const MIB = 1024 * 1024;

const consumed: { run: number; text: string }[] = [];
let consumerFails = false;

const records = (first: number, ...texts: (string | Buffer)[]) =>
  encodeRecords(texts.map((text, at) => ({ number: first + at, payload: Buffer.from(text) })));
const texts = (found: readonly NumberedPayload[]) => found.map(({ payload }) => payload.toString());

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends.
describe('channels of runs', () => {
  const api = wholeApi();
  let tenancy: Tenancy;
  let agent: TestAgent;
  let other: TestAgent;
  let channels: RunChannelsService;
  let runId: number;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
    agent = await TestAgent.unregistered(api, tenancy, 0);
    other = await TestAgent.unregistered(api, tenancy, 1);
    for (const one of [agent, other]) expect(await one.register()).toBe(200);
    channels = api.app.get(RunChannelsService, { strict: false });
  });

  beforeEach(async () => {
    consumed.length = 0;
    consumerFails = false;
    const consumer: FrameConsumer<unknown> = api.app.get(KernelFramesService, { strict: false });
    jest.spyOn(consumer, 'read').mockImplementation((_tenantId, frames) => Promise.resolve([...frames]));
    jest.spyOn(consumer, 'consume').mockImplementation((_tx, { run_id }, frames) => {
      if (consumerFails) return Promise.reject(new Error('The consumer fails.'));
      for (const { payload } of frames as NumberedPayload[]) consumed.push({ run: run_id, text: payload.toString() });
      return Promise.resolve();
    });
    runId = await agent.assignRun(tenancy, undefined, 'NOTEBOOK');
  });

  afterEach(() => api.database.query(`UPDATE runs SET ended_at = now(), status = 'DONE' WHERE ended_at IS NULL`));

  const run = () => ({ run_id: runId, tenant_id: tenancy.tenantId });
  const sendRequests = (...asked: (string | Buffer)[]) =>
    api.app
      .get(Transactions, { strict: false })
      .run((tx) => Promise.all(asked.map((text) => channels.send(tx, run(), Buffer.from(text)))));
  const fetched = async (after: number, waitMs = 0, by = agent) => {
    const answer = await by.send('GET', `/runs/${runId}/requests?after=${after}&wait_ms=${waitMs}`);
    expect(answer.status).toBe(200);
    return decodeRecords(Buffer.from(await answer.arrayBuffer()));
  };
  /** Like an agent, it repeats requests that a busy database has refused. */
  const sendFrames = (body: Buffer, by = agent) =>
    eventually(
      async () => {
        const answer = await by.send('PUT', `/runs/${runId}/frames`, { body });
        const response = (await answer.json()) as { next?: number; error_code?: string };
        return answer.status === 503 ? null : ([answer.status, response] as const);
      },
      { what: 'an answer to frames' },
    );
  const storedFrames = async (after = 0) => texts((await channels.frames(runId, after)).frames);
  const row = async <E extends object>(entity: new () => E): Promise<E> =>
    (await api.database.query(`SELECT * FROM ${tableOf(entity)} WHERE run_id = $1`, [runId]))[0] as E;
  const end = () =>
    api.database.query(`UPDATE runs SET ended_at = now() - interval '2 hours', status = 'DONE' WHERE run_id = $1`, [
      runId,
    ]);

  it('deliver requests in order until the node acknowledges them', async () => {
    await sendRequests('one', 'two');
    expect(await fetched(0)).toEqual([
      { number: 1, payload: Buffer.from('one') },
      { number: 2, payload: Buffer.from('two') },
    ]);
    // The response was lost, so the node repeats the request.
    expect(texts(await fetched(0))).toEqual(['one', 'two']);
    expect(texts(await fetched(1))).toEqual(['two']);
    // A short request stays for a while.
    expect(await row(RunRequestQueue)).toMatchObject({ last: 2, acknowledged: 0, waiting_bytes: 6 });
    expect(await fetched(2)).toEqual([]);
    expect(await row(RunRequestQueue)).toMatchObject({ last: 2, acknowledged: 2, waiting_bytes: 0 });
    // An acknowledgement beyond the last request counts only up to that request.
    await fetched(1_000_000);
    await sendRequests('three');
    expect(await fetched(2)).toEqual([{ number: 3, payload: Buffer.from('three') }]);
    expect(await row(RunRequestQueue)).toMatchObject({ acknowledged: 2, waiting_bytes: 5 });
  });

  it('wake the poll of the node that waits', async () => {
    const poll = fetched(0, 30_000);
    await sendRequests('now');
    expect(texts(await poll)).toEqual(['now']);
  });

  it('number the requests of many concurrent callers without gaps', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => sendRequests(`${at}`)));
    const found = await fetched(0);
    expect(found.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(new Set(texts(found)).size).toBe(20);
  });

  it('deliver no request of a failed transaction', async () => {
    const failing = api.app.get(Transactions, { strict: false }).run(async (tx) => {
      await channels.send(tx, run(), Buffer.from('never'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await fetched(0)).toEqual([]);
  });

  it('refuse requests beyond their limits, and continue afterwards', async () => {
    await expect(sendRequests(Buffer.alloc(16 * MIB + 1))).rejects.toMatchObject({ code: 'CHANNEL.TOO_LARGE' });
    for (let count = 0; count < 4; count += 1) await sendRequests(Buffer.alloc(16 * MIB, count));
    await expect(sendRequests('more')).rejects.toMatchObject({ kind: 'rate-limited', code: 'CHANNEL.FULL' });
    // One at a time, because each is longer than a batch.
    for (let after = 0; after < 4; after += 1) expect(await fetched(after)).toHaveLength(1);
    await fetched(4);
    await sendRequests('more');
    await api.database.query('UPDATE run_request_queues SET last = acknowledged + 10000 WHERE run_id = $1', [runId]);
    await expect(sendRequests('one more')).rejects.toMatchObject({ code: 'CHANNEL.FULL' });
  });

  it('store each frame once, in order, whatever is repeated', async () => {
    expect(await sendFrames(Buffer.alloc(0))).toEqual([200, { next: 1 }]);
    expect(await sendFrames(records(1, 'one', 'two'))).toEqual([200, { next: 3 }]);
    expect(await sendFrames(records(1, 'one', 'two'))).toEqual([200, { next: 3 }]);
    expect(await sendFrames(records(2, 'two', 'three'))).toEqual([200, { next: 4 }]);
    expect(await sendFrames(records(5, 'five'))).toEqual([200, { next: 4 }]);
    expect(await storedFrames()).toEqual(['one', 'two', 'three']);
    expect(await storedFrames(1)).toEqual(['two', 'three']);
    expect(await storedFrames(3)).toEqual([]);
    expect(consumed).toEqual(['one', 'two', 'three'].map((text) => ({ run: runId, text })));
  });

  it('store each frame once if agents send it at the same time', async () => {
    const bodies = Array.from({ length: 16 }, (_, at) =>
      records(1, ...Array.from({ length: at + 1 }, (_, n) => `${n}`)),
    );
    await Promise.all(bodies.map((body) => sendFrames(body)));
    expect(await storedFrames()).toEqual(Array.from({ length: 16 }, (_, n) => `${n}`));
    expect(consumed.map(({ text }) => text)).toEqual(await storedFrames());
  });

  it('store no frame that its consumer failed to process, and process it when it is repeated', async () => {
    consumerFails = true;
    expect((await sendFrames(records(1, 'one')))[0]).toBe(500);
    expect(await storedFrames()).toEqual([]);
    consumerFails = false;
    expect(await sendFrames(records(1, 'one'))).toEqual([200, { next: 2 }]);
    expect(consumed).toHaveLength(1);
  });

  it('notify followers of a run in this process, and in others by a poll every two seconds', async () => {
    let calls = 0;
    const off = channels.subscribeToFrames(runId, () => (calls += 1));
    await sendFrames(records(1, 'one'));
    await eventually(() => calls > 0, { what: 'a wake-up' });
    await soon(async () => expect(calls).toBeGreaterThan(1));
    const before = calls;
    await api.database.query('UPDATE run_frame_logs SET last = last + 1 WHERE run_id = $1', [runId]);
    await eventually(() => calls > before, { what: 'a look' });
    off();
  });

  it('return many frames in batches', async () => {
    const many = Array.from({ length: 300 }, (_, at) => Buffer.alloc(10_000, at % 256));
    await sendFrames(records(1, ...many.slice(0, 100)));
    await sendFrames(records(101, ...many.slice(100)));
    const first = await channels.frames(runId, 0, 500_000);
    expect(first).toMatchObject({ lost: false, last: 300 });
    expect(first.frames).toHaveLength(100);
    const rest = await channels.frames(runId, 150, 500_000);
    expect(rest.frames[0]?.number).toBe(151);
    expect(rest.frames).toHaveLength(150);
  });

  it('drop the oldest frames once there are too many, and report that to readers of them', async () => {
    for (let at = 1; at <= 5; at += 1) expect((await sendFrames(records(at, Buffer.alloc(16 * MIB, at))))[0]).toBe(200);
    const { dropped, kept_bytes: kept } = await row(RunFrameLog);
    expect(dropped).toBeGreaterThan(0);
    expect(kept).toBeLessThanOrEqual(64 * MIB);
    const found = await channels.frames(runId, 0);
    expect(found).toMatchObject({ lost: true, last: 5 });
    expect(found.frames[0]?.number).toBe(dropped + 1);
    expect((await channels.frames(runId, dropped)).lost).toBe(false);
    const [{ bytes }] = await api.database.query(
      'SELECT sum(octet_length(records)) AS bytes FROM run_frames WHERE run_id = $1',
      [runId],
    );
    expect(Number(bytes)).toBeLessThanOrEqual(kept);
  });

  it('are open to the node of the run only, while the run is active', async () => {
    await sendRequests('mine');
    for (const [method, path] of [
      ['GET', 'requests?after=0&wait_ms=0'],
      ['PUT', 'frames'],
    ] as const) {
      const options = method === 'PUT' ? { body: records(1, 'x') } : {};
      expect((await other.send(method, `/runs/${runId}/${path}`, options)).status).toBe(404);
      expect((await agent.send(method, `/runs/${runId}/${path}`, { ...options, token: 'none' })).status).toBe(401);
    }
    await end();
    expect(await sendFrames(records(1, 'late'))).toEqual([
      409,
      expect.objectContaining({ error_code: 'CHANNEL.ENDED' }),
    ]);
    expect(await storedFrames()).toEqual([]);
  });

  it('exist for interactive runs only', async () => {
    runId = await agent.assignRun(tenancy);
    expect((await sendFrames(records(1, 'x')))[0]).toBe(404);
  });

  it.each([
    ['no record', Buffer.from('no record')],
    ['a part of one', records(1, 'one').subarray(0, 14)],
    ['a gap', Buffer.concat([records(1, 'one'), records(3, 'three')])],
    ['an endless record', Buffer.from('ffffffff0000000000000001', 'hex')],
    ['an endless number', Buffer.from('00000000ffffffffffffffff', 'hex')],
  ])('refuse %s', async (_, body) => {
    expect(await sendFrames(body)).toEqual([400, expect.objectContaining({ error_code: 'CHANNEL.MALFORMED' })]);
    expect(await storedFrames()).toEqual([]);
  });

  it('are removed an hour after the run', async () => {
    await sendRequests('one');
    await sendFrames(records(1, 'one'));
    const { app, database } = api;
    const sweeper = new RetentionSweeper(ENDED_CHANNELS, database, app.get(Config), app.get<Logger>(LOGGER));
    await sweeper.reconcile(AbortSignal.timeout(60_000));
    expect(await storedFrames()).toEqual(['one']);
    await end();
    await sweeper.reconcile(AbortSignal.timeout(60_000));
    expect(await row(RunFrameLog)).toBeUndefined();
    expect(await row(RunRequestQueue)).toBeUndefined();
    expect(await channels.frames(runId, 0)).toEqual({ frames: [], lost: false, last: 0 });
  });

  it('cannot be created for a run of another tenant', async () => {
    const theirs = await makeTenancy(api.database.manager, 'theirs');
    const { manager } = api.database;
    const foreign = { run_id: runId, tenant_id: theirs.tenantId };
    await expect(insertRow(manager, RunRequestQueue, foreign)).rejects.toThrow(/fk_run_request_queues_run/);
    await expect(insertRow(manager, RunFrameLog, foreign)).rejects.toThrow(/fk_run_frame_logs_run/);
  });
});
