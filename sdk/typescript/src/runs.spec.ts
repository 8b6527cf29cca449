import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeadlineExceeded, RunFailed, REMEDIES, Unreachable } from './face.ts';
import { Lines, MAX_LINE_LENGTH } from './lines.ts';
import type { Run } from './runs.ts';
import { caught, ok, TestPlatform, withoutPauses } from './testing/platform.ts';

const ROOT = join(__dirname, '..', '..', '..');
const encoder = new TextEncoder();

function job(job_status: string, more: object = {}): Response {
  return ok({ job_id: 7, job_status, reason: null, reason_code: null, to_date: 'infinity', ...more });
}

/** A log that ends, or breaks after its pieces. */
function log(offset: number, pieces: (string | Uint8Array)[], error?: Error): Response {
  const waiting = pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = waiting.shift();
      if (piece) controller.enqueue(piece);
      else if (error) controller.error(error);
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'x-log-offset': String(offset) } });
}

describe('Run', () => {
  let platform: TestPlatform;
  let run: Run;

  beforeEach(() => {
    withoutPauses();
    platform = new TestPlatform();
    run = platform.client().workspace(3).jobs.get(7);
  });

  const follow = async (options = {}): Promise<string[]> => {
    const lines: string[] = [];
    for await (const line of run.follow('stdout', options)) lines.push(line);
    return lines;
  };

  it('follows a log from the byte where the connection broke', async () => {
    const [first = 0, second = 0] = encoder.encode('é');
    const reset = new TypeError('terminated');
    platform.answers = [
      log(0, ['one\r\ntw', encoder.encode('o '), Uint8Array.of(first)], reset),
      new TypeError('fetch failed'),
      log(10, [Uint8Array.of(second), '\nthree\n'], reset),
      log(18, ['four']),
      job('RUNNING'),
      log(22, ['\nfive']),
      job('DONE'),
    ];
    expect(await follow()).toEqual(['one', 'two é', 'three', 'four', 'five']);
    const offsets = platform.requests.flatMap(({ url }) => new URL(url).searchParams.get('offset') ?? []);
    expect(offsets).toEqual(['0', '10', '10', '18', '22']);
  });

  it('searches a log until its end', async () => {
    const matches = [
      { offset: 40, line: 'error: gives up' },
      { offset: 8, line: 'ERROR' },
    ];
    platform.answers = [
      ok({ matches: matches.slice(0, 1), next_offset: 30, size_bytes: 60 }),
      ok({ matches: [], next_offset: 20, size_bytes: 60 }),
      ok({ matches: matches.slice(1), next_offset: null, size_bytes: 60 }),
    ];
    const found = [];
    for await (const match of run.searchLog('error', 'stderr', { backward: true })) found.push(match);
    expect(found).toEqual(matches);
    const sent = platform.requests.map(({ url }) => new URL(url));
    expect(sent.map(({ searchParams }) => searchParams.get('offset'))).toEqual([null, '30', '20']);
    expect(sent[0]?.pathname).toMatch(/\/spark\/job\/7\/log\/stderr\/search$/);
    expect(sent[0]?.searchParams.get('direction')).toBe('backward');
  });

  it('gives up on a log that always breaks', async () => {
    platform.handler = () => log(0, [], new TypeError('terminated'));
    const failure = await caught(follow());
    expect(failure).toBeInstanceOf(Unreachable);
    expect(failure.message).toMatch(/^The log of job 7 broke off 11 times: TypeError: terminated/);
  });

  it('opens a silent log again, and does not take the time of its reader for silence', async () => {
    jest.restoreAllMocks();
    const real = setTimeout;
    const limits: number[] = [];
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((action: () => void, milliseconds = 0) => {
      limits.push(milliseconds);
      // The silence of a stream ends after a minute; here, soon.
      return real(action, milliseconds === 60_000 ? 50 : 0);
    });
    const silent = new Response(new ReadableStream(), { headers: { 'x-log-offset': '4' } });
    platform.fetch = abortable(platform.fetch);
    platform.answers = [log(0, ['one\n']), job('RUNNING'), silent, log(4, ['two\n']), job('DONE')];
    run = platform.client().workspace(3).jobs.get(7);
    const lines: string[] = [];
    for await (const line of run.follow()) {
      lines.push(line);
      await new Promise((resolve) => real(resolve, 150));
    }
    expect(lines).toEqual(['one', 'two']);
    expect(limits).toContain(60_000);
  });

  it('ends a follower at its deadline', async () => {
    platform.handler = ({ url }) => (url.includes('/log/') ? log(0, []) : job('RUNNING'));
    const failure = await caught(follow({ timeoutMs: 0 }));
    expect(failure).toBeInstanceOf(DeadlineExceeded);
    expect(failure.message).toBe('Job 7 took longer than 0 s. It continues; wait again, or stop it.');
  });

  it('throws the reason of a failed run, and a remedy', async () => {
    platform.answers = [job('RUNNING'), job('ERROR', { reason: 'Boom', reason_code: 'OUT_OF_MEMORY' })];
    const failure = await caught(run.result());
    expect(failure).toBeInstanceOf(RunFailed);
    expect(failure).toMatchObject({
      code: 'OUT_OF_MEMORY',
      reason: 'Boom',
      remedy: 'Raise driver_memory, or collect less data on the driver.',
      logUrl: 'https://spark.test/api/v1/workspace/3/spark/job/7/log/stderr',
      message: 'Job 7 is ERROR: Boom. Raise driver_memory, or collect less data on the driver.',
    });
  });

  it('returns a finished run, with null for the end of what has not ended', async () => {
    platform.answers = [job('SUBMITTED'), job('DONE')];
    expect((await run.result()).to_date).toBeNull();
  });

  it('waits no longer than it may', async () => {
    platform.handler = () => job('RUNNING');
    expect(await caught(run.wait({ timeoutMs: 0 }))).toBeInstanceOf(DeadlineExceeded);
  });
});

describe('Lines', () => {
  it('gives a line without end in parts', () => {
    const lines = new Lines();
    const parts = [...lines.feed(encoder.encode('x'.repeat(2 * MAX_LINE_LENGTH + 1))), ...lines.end()];
    expect(parts.map(({ length }) => length)).toEqual([MAX_LINE_LENGTH, MAX_LINE_LENGTH, 1]);
  });
});

describe('REMEDIES', () => {
  it('are those of the platform', () => {
    const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
    expect(Object.keys(REMEDIES).length).toBeGreaterThan(20);
    expect(REMEDIES).toEqual(document.components.schemas.ReasonCode['x-enum-remedies']);
  });
});

/** Ends a body when its request is aborted, as a real connection does. */
function abortable(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const reader = response.body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const aborted = new Promise<never>((_, reject) => {
          const abort = () => reject(new DOMException('aborted', 'AbortError'));
          if (init?.signal?.aborted) abort();
          init?.signal?.addEventListener('abort', abort);
        });
        const read = reader?.read() ?? { done: true, value: undefined };
        const { done, value } = await Promise.race([read, aborted]);
        if (done || !value) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, response);
  };
}
