import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RecordedExchange, recordedReleases } from '../../test/harness/recorded-releases';
import type { PollRequest, PollResponse, ReportRequest, RunReport } from '../contracts/agent-protocol';
import { decodeRecords } from '../contracts/channel-records';
import { eventually } from '../../test/harness/eventually';
import { Agent } from './agent';

const DEADLINE_MS = 60_000;

/** Responds as the control plane of a release did, in its order, and refuses requests that it did not know. */
class RecordedControlPlane {
  readonly reports: RunReport[] = [];
  readonly refused: string[] = [];
  private polled = 0;
  private readonly sizes = new Map<string, number>();
  private readonly server: Server;

  constructor(private readonly exchanges: readonly RecordedExchange[]) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Polls that still wait for their response. */
  get left(): number {
    return this.polls.length - this.polled;
  }

  get polls(): RecordedExchange[] {
    return this.exchanges.filter(({ path }) => path === '/poll');
  }

  stateOf(runId: string): string | undefined {
    return this.reports.findLast(({ run_id }) => run_id === runId)?.state;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const url = new URL(request.url ?? '', 'http://x');
    const path = url.pathname.replace('/agent/v1', '');
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.method === 'POST') {
      const body: unknown = JSON.parse(bytes.toString());
      const unknown = this.unknownTo(path, body);
      if (unknown.length > 0) {
        this.refused.push(`${path} with ${unknown.join()}`);
        return json(400, { error_message: `The request is not valid: ${unknown.join()} is not known.` });
      }
      if (path === '/poll') return this.poll(body as PollRequest, response, json);
      if (path === '/report') this.reports.push(...(body as ReportRequest).runs);
      return json(200, this.exchanges.find((exchange) => exchange.path === path)?.answer.body);
    }
    if (request.method === 'GET') return this.give(`${path}${url.search}`, response);
    if (path.endsWith('/frames')) return json(200, { next: (decodeRecords(bytes).at(-1)?.number ?? 0) + 1 });
    const size = Math.max(this.sizes.get(path) ?? 0, Number(url.searchParams.get('offset')) + bytes.length);
    this.sizes.set(path, size);
    json(200, { size });
  }

  /** Sends a file or requests as recorded. Requests without a record wait. */
  private give(path: string, response: ServerResponse): void {
    const wanted = path.split('&')[0];
    const recorded = this.exchanges.find((one) => one.method === 'GET' && one.path.split('&')[0] === wanted);
    if (!recorded) return;
    const { status, type, body } = recorded.answer;
    response.writeHead(status, { 'content-type': type ?? '' });
    response.end(typeof body === 'string' ? Buffer.from(body, 'base64') : 'x');
  }

  /** Returns the fields of a body that no recorded request had. */
  private unknownTo(path: string, body: unknown): string[] {
    const known = new Set(
      this.exchanges.filter((one) => one.path === path).flatMap(({ body: sent }) => fieldsOf(sent)),
    );
    return fieldsOf(body).filter((field) => !known.has(field));
  }

  /** Returns the next recorded response, once the agent is in the recorded state. */
  private poll(
    { wait_ms }: PollRequest,
    response: ServerResponse,
    json: (status: number, value: unknown) => void,
  ): void {
    const next = this.polls[this.polled];
    if (next && this.isDue(next.answer.body as PollResponse)) {
      this.polled += 1;
      return json(200, next.answer.body);
    }
    const again = setTimeout(() => this.poll({ version: 0, wait_ms }, response, json), 20);
    response.once('close', () => clearTimeout(again));
  }

  private isDue({ runs }: PollResponse): boolean {
    const before = (this.polls[this.polled - 1]?.answer.body as PollResponse | undefined)?.runs ?? [];
    return before.every(({ run_id }) => {
      const now = runs.find((run) => run.run_id === run_id);
      return this.stateOf(run_id) === (now?.action === 'stop' ? 'running' : 'ended');
    });
  }
}

function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [`${path}.${key}`, ...fieldsOf(item, `${path}.${key}`)]);
}

/** A fake spark-submit, whose job succeeds at once. */
const FAKE_SUBMIT = `#!/bin/sh
for word in "$@"; do
  case $word in
    spark.eventLog.dir=file://*) : >"\${word#spark.eventLog.dir=file://}/local-17.inprogress" ;;
  esac
done
`;

/**
 * A fake Python. The program that puts files beside a driver becomes the run. A program that serves requests waits until it is stopped.
 */
const FAKE_PYTHON = `#!/bin/sh
case $3 in
  */beside_driver.py) shift 4; exec "$@" ;;
esac
exec sleep 600
`;

// The agent is real. Spark and confinement are left out.
describe.each(recordedReleases().map(({ name, exchanges }) => [name, exchanges] as const))(
  'an agent with the control plane of %s',
  (_name, exchanges) => {
    let root: string;
    let plane: RecordedControlPlane;
    let agent: Agent;
    let end: Promise<unknown>;

    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'recorded-'));
      mkdirSync(`${root}/spark/bin`, { recursive: true });
      writeFileSync(`${root}/spark/bin/spark-submit`, FAKE_SUBMIT);
      writeFileSync(`${root}/python`, FAKE_PYTHON);
      for (const program of ['spark/bin/spark-submit', 'python']) chmodSync(`${root}/${program}`, 0o755);
      plane = new RecordedControlPlane(exchanges);
      const config = {
        api_url: await plane.listen(),
        bootstrap_token: 'bootstrap',
        node_dir: `${root}/node`,
        spark_home: `${root}/spark`,
        java_home: '/nowhere/java',
        python: `${root}/python`,
        spark_version: '3.5.3',
        cores: 1,
        memory_mb: 512,
        bind_address: '127.0.0.1',
        env: {},
        confinement: { kind: 'none' as const },
      };
      agent = new Agent(config, { kind: 'none' });
      end = agent.work();
    });

    afterEach(async () => {
      agent.stop();
      await end;
      await plane.close();
      rmSync(root, { recursive: true, force: true });
    });

    it('ends every run as it ended then', async () => {
      await eventually(() => plane.left === 0, { timeoutMs: DEADLINE_MS, what: 'an answer to every poll' });
      const recorded = exchanges.flatMap(({ path, body }) => (path === '/report' ? (body as ReportRequest).runs : []));
      const endsOf = (reports: readonly RunReport[]) =>
        reports
          .filter(({ state }) => state === 'ended')
          .map(({ run_id, outcome, reason }) => [run_id, outcome, reason].join(' '));
      const wanted = endsOf(recorded);
      const ends = await eventually(() => endsOf(plane.reports).length >= wanted.length && endsOf(plane.reports), {
        timeoutMs: DEADLINE_MS,
        what: 'the end of every run',
      });
      expect(ends).toEqual(wanted);
      expect(plane.refused.filter((call) => !call.startsWith('/report'))).toEqual([]);
    });
  },
);
