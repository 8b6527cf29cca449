import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';
import type {
  DesiredDaemons,
  DesiredRun,
  NodeUtilization,
  ObservedDaemons,
  PollRequest,
  PollResponse,
  RegisterRequest,
  ReportRequest,
  RunReport,
  RunSpec,
} from '../contracts/agent-protocol';
import { Agent, type AgentEnd } from './agent';
import type { AgentConfig } from './config';
import { type LiveProcess, nodeProcesses, signal } from './processes';
import type { Confinement } from './sandbox';
import { plainRunSpec } from '../../test/harness/run-spec';

/** Maximum wait for one event, which may be late on a busy machine. */
const DEADLINE_MS = 60_000;

async function until<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** An in-memory control plane that tests can disconnect, and that can refuse requests. */
class FakeControlPlane {
  readonly reports: RunReport[] = [];
  readonly registrations: RegisterRequest[] = [];
  readonly logs = new Map<string, Buffer>();
  readonly files = new Map<string, string>();
  readonly runs = new Map<string, DesiredRun>();
  /** Calls in order, such as `PUT /runs/1/logs/stdout` and `end 1`. */
  readonly calls: string[] = [];
  observed: ObservedDaemons | null = null;
  /** The last report. */
  reported: ReportRequest | null = null;
  drain = false;
  leaseMs = 60_000;
  away = false;
  /** Accepts logs, but neither polls nor reports. */
  deaf = false;
  refusal: number | null = null;
  logLimit: number | undefined;
  /** Keeps runs in the desired state after their end, as if the end were not on record yet. */
  forgetful = false;
  /** Returns no files for now. */
  holdFiles = false;
  /** `wanted`: responses request utilization. `refused`: a poll with it is refused, as by an older release. */
  utilization: 'unknown' | 'wanted' | 'refused' = 'unknown';
  readonly utilizations: NodeUtilization[] = [];
  /** A field that it does not know: it refuses reports with it, as an older release. */
  refuses: string | null = null;
  refusals = 0;
  daemons: DesiredDaemons = {
    role: 'single',
    workers: 0,
    worker_cores: 1,
    worker_memory_mb: 512,
    master_url: null,
    bootstrap_script: null,
    env: { FROM_CLUSTER: 'yes' },
  };
  private version = 1;
  private waiting: (() => void)[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.changed();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  changed(): void {
    this.version++;
    for (const wake of this.waiting.splice(0)) wake();
  }

  run(id: string, spec: Partial<RunSpec>): void {
    this.runs.set(id, {
      run_id: id,
      action: 'run',
      correlation_id: `correlation-${id}`,
      spec: { ...SPEC, ...spec },
      log_offsets: { stdout: 0, stderr: 0, events: 0 },
    });
    this.changed();
  }

  stop(id: string, killGraceMs: number): void {
    const run = this.runs.get(id);
    if (!run) throw new Error(`no run ${id}`);
    this.runs.set(id, { ...run, action: 'stop', spec: { ...run.spec, kill_grace_ms: killGraceMs } });
    this.changed();
  }

  log(id: string, stream = 'stdout'): string {
    return this.logs.get(`/runs/${id}/logs/${stream}`)?.toString() ?? '';
  }

  states(id: string): string[] {
    return this.reports.filter((report) => report.run_id === id).map((report) => report.state);
  }

  ended(id: string): Promise<RunReport> {
    return until(`run ${id} ended, after ${this.states(id).join()}`, () =>
      this.reports.find((report) => report.run_id === id && report.state === 'ended'),
    );
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const url = new URL(request.url ?? '', 'http://x');
    const path = url.pathname.replace('/agent/v1', '');
    const json = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (this.isAwayFor(path)) return json(503, {});
    const token = path === '/register' ? 'Bearer bootstrap' : 'Bearer node-token';
    if (this.refusal !== null || request.headers.authorization !== token) return json(this.refusal ?? 403, {});
    this.calls.push(`${request.method} ${path}`);
    if (path === '/register') {
      this.registrations.push(JSON.parse(body.toString()) as RegisterRequest);
      return json(200, { node_id: '5', node_token: 'node-token', lease_ms: this.leaseMs });
    }
    if (path === '/poll') return this.poll(JSON.parse(body.toString()) as PollRequest, json);
    if (path === '/report') return this.report(body, json);
    if (request.method === 'PUT') return this.append(path, Number(url.searchParams.get('offset')), body, json);
    if (this.holdFiles) return json(503, {});
    const content = this.files.get(`${path}${url.search}`);
    if (content === undefined) return json(404, { error_message: 'The workspace has no file main.py.' });
    response.end(content);
  }

  private isAwayFor(path: string): boolean {
    return this.away || (this.deaf && ['/poll', '/report'].includes(path));
  }

  private poll(request: PollRequest, json: (status: number, value: object) => void): void {
    if (request.utilization) this.utilizations.push(request.utilization);
    if (request.utilization && this.utilization !== 'wanted') return json(400, {});
    let answered = false;
    const answer = (): void => {
      if (answered) return;
      answered = true;
      clearTimeout(timer);
      const desired: PollResponse = {
        version: this.version,
        daemons: this.daemons,
        runs: [...this.runs.values()],
        ...(this.logLimit !== undefined && { log_limit_bytes: this.logLimit }),
        ...(this.utilization === 'unknown' ? {} : { takes_utilization: true }),
        ...(this.drain ? { drain: true } : {}),
      };
      json(200, desired);
    };
    const timer = setTimeout(answer, Math.min(request.wait_ms, this.leaseMs / 4));
    if (request.version < this.version) answer();
    else this.waiting.push(answer);
  }

  private report(body: Buffer, json: (status: number, value: object) => void): void {
    if (this.refuses !== null && body.includes(this.refuses)) {
      this.refusals += 1;
      return json(400, {});
    }
    const request = JSON.parse(body.toString()) as ReportRequest;
    this.observed = request.daemons;
    this.reported = request;
    for (const report of request.runs) {
      const last = this.reports.findLast((known) => known.run_id === report.run_id);
      if (last && last.seq >= report.seq) continue;
      this.reports.push(report);
      if (report.state !== 'ended') continue;
      this.calls.push(`end ${report.run_id}`);
      if (this.forgetful) continue;
      this.runs.delete(report.run_id);
      this.changed();
    }
    json(200, {});
  }

  private append(key: string, offset: number, body: Buffer, json: (status: number, value: object) => void): void {
    const held = this.logs.get(key) ?? Buffer.alloc(0);
    if (offset <= held.length) this.logs.set(key, Buffer.concat([held, body.subarray(held.length - offset)]));
    json(200, { size: (this.logs.get(key) ?? held).length });
  }
}

const SPEC = plainRunSpec({
  application: { kind: 'fetched', index: 0, key: 'main', name: 'main.py', uri: null },
  master: 'local[1]',
  kill_grace_ms: 10_000,
});

/** A fake spark-submit. It writes the event log that names the application and runs the application as a shell script. */
const FAKE_SUBMIT = `#!/bin/sh
for word in "$@"; do
  case $word in
    spark.eventLog.dir=file://*) events=\${word#spark.eventLog.dir=file://} ;;
    */main.py) application=$word ;;
  esac
done
echo started >>"$SPARK_HOME/starts"
: >"$events/local-17.inprogress"
. "$application"
`;

/** If the agent is root, runs have users of their own here; otherwise they have the agent's. */
const KINDS = process.getuid?.() === 0 ? (['none', 'users'] as const) : (['none'] as const);

describe.each(KINDS)('Agent with confinement %s', (kind) => {
  let confinement: Confinement;
  let nodes = 0;
  let root: string;
  let config: AgentConfig;
  let plane: FakeControlPlane;
  let agents: { agent: Agent; end: Promise<AgentEnd> }[];
  let children: ChildProcess[];
  let compiled: string;

  beforeAll(() => {
    compiled = mkdtempSync(join(tmpdir(), 'agent-build-'));
    for (const dir of ['contracts', 'json', 'spark', 'node-agent'])
      for (const name of readdirSync(join(__dirname, '..', dir))) {
        if (!name.endsWith('.ts') || name.endsWith('.spec.ts')) continue;
        const { code } = transformFileSync(join(__dirname, '..', dir, name), {
          swcrc: false,
          configFile: false,
          jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
          module: { type: 'commonjs' },
        });
        const target = join(compiled, dir, name.replace(/ts$/, 'js'));
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, code);
      }
  });

  afterAll(() => rmSync(compiled, { recursive: true }));

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'agent-'));
    mkdirSync(`${root}/spark/bin`, { recursive: true });
    // A folder in which every job can leave marks, whatever its user.
    for (const folder of [root, `${root}/spark`]) chmodSync(folder, 0o777);
    writeFileSync(`${root}/spark/bin/spark-submit`, FAKE_SUBMIT);
    chmodSync(`${root}/spark/bin/spark-submit`, 0o755);
    nodes += 1;
    // No two nodes of a machine have the same users: killing those of one would kill the other's.
    const users = { firstUid: 1_900_000_000 + nodes * 16, uids: 16, bubblewrap: null };
    confinement = kind === 'users' ? { kind, ...users } : { kind };
    agents = [];
    children = [];
    plane = new FakeControlPlane();
    config = {
      api_url: await plane.listen(),
      bootstrap_token: 'bootstrap',
      node_dir: `${root}/node`,
      spark_home: `${root}/spark`,
      java_home: '/nowhere/java',
      python: '/usr/bin/python3',
      spark_version: '3.5.3',
      cores: 1,
      memory_mb: 512,
      bind_address: '127.0.0.1',
      env: { FROM_NODE: 'yes' },
      confinement,
    };
  });

  afterEach(async () => {
    for (const { agent } of agents) agent.stop();
    await Promise.all(agents.map(({ end }) => end));
    for (const child of children) child.kill('SIGKILL');
    await until('no process is left', () => {
      for (const { pid } of processes()) signal(pid, 'SIGKILL');
      return processes().length === 0;
    });
    await plane.close();
    rmSync(root, { recursive: true, force: true });
  });

  const processes = (): LiveProcess[] => {
    const uids = confinement.kind === 'users' ? { first: confinement.firstUid, count: confinement.uids } : null;
    return nodeProcesses({ nodeDir: config.node_dir, uids });
  };
  const startAgent = (): Agent => {
    const agent = new Agent(config, confinement);
    agents.push({ agent, end: agent.work() });
    return agent;
  };
  const startProcess = (): ChildProcess => {
    writeFileSync(`${root}/config.json`, JSON.stringify(config));
    const child = spawn(process.execPath, [join(compiled, 'node-agent/main.js'), `${root}/config.json`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.push(child);
    return child;
  };
  const script = (id: string, text: string): void => {
    plane.files.set(`/runs/${id}/files/0?key=main`, text);
  };
  const exitOf = (child: ChildProcess): Promise<number | null> =>
    child.exitCode !== null
      ? Promise.resolve(child.exitCode)
      : new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  const starts = (): number => readFileSync(`${root}/spark/starts`, 'utf8').trim().split('\n').length;
  const runDir = (id: string): string => `${config.node_dir}/runs/${id}`;

  describe('a run with mounts', () => {
    const credentials = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'the-secret', S3_ENDPOINT: 'http://s3' };
    const store = { provider: 's3-compatible' as const, bucket: 'b', path: '', encryption: null, extra_configs: {} };
    const mounts = [{ mount_point: '/mnt/data', read_only: false, credentials, ...store }];

    it("has connectors and the node's own properties, and leaves no secret behind", async () => {
      config.connectors = '/connectors';
      mkdirSync(`${root}/spark/conf`);
      writeFileSync(`${root}/spark/conf/spark-defaults.conf`, 'spark.of.node 1\n');
      script('1', 'echo "$SPARK_DIST_CLASSPATH"; cat ../generated/spark.properties');
      startAgent();
      plane.run('1', { mounts });
      expect(await plane.ended('1')).toMatchObject({ outcome: 'done' });
      const lines = plane.log('1').split('\n');
      expect(lines[0]).toBe('/connectors/*');
      expect(lines).toContain('spark.of.node 1');
      expect(lines).toContain('spark.hadoop.fs.s3a.bucket.b.secret.key=the-secret');
      for (const name of ['spec.json', 'box']) await until(`no ${name}`, () => !existsSync(`${runDir('1')}/${name}`));
    });

    it('ends before it starts if the node has no connectors', async () => {
      startAgent();
      script('1', 'echo never');
      plane.run('1', { mounts });
      const end = {
        outcome: 'error',
        reason: 'SUBMIT_FAILED',
        message: expect.stringMatching(/no connectors/) as string,
      };
      expect(await plane.ended('1')).toMatchObject(end);
      expect(existsSync(`${root}/spark/starts`)).toBe(false);
    });
  });

  describe('a run with secrets', () => {
    const secrets = {
      env: { WORD: 'hush!', LINES: 'line of secret\nother "line"' },
      conf: { 'spark.test.a': 'hidden' },
    };

    it('has them, and hides them in its log, even from an agent after kill -9', async () => {
      const first = startProcess();
      const wait = (file: string) => `while [ ! -e ${root}/${file} ]; do sleep 0.02; done`;
      script(
        '1',
        `printf "up $WORD hu"; touch ${root}/half; ${wait('go')}; test -r ../../secret-values.json && touch ${root}/read
         echo "sh! $LINES"; cat ../generated/spark.properties; echo "ValueError: with $WORD"; exit 4`,
      );
      plane.run('1', { secrets });
      await until('its log', () => existsSync(`${root}/half`) && plane.log('1').length > 0);
      first.kill('SIGKILL');
      await exitOf(first);
      expect('up ***** '.startsWith(plane.log('1'))).toBe(true);
      startProcess();
      writeFileSync(`${root}/go`, '');
      const end = await plane.ended('1');
      expect(end).toMatchObject({ outcome: 'error', exit_code: 4, message: expect.stringContaining('with *****') });
      const log = plane.log('1');
      expect(log).toContain(`up ***** ***** ${'*'.repeat(14)}\n${'*'.repeat(12)}\n`);
      expect(log).toContain(`spark.test.a=******\nspark.executorEnv.WORD=*****\n`);
      expect(log).not.toMatch(/hush|secret|other|hidden/);
      expect(existsSync(`${root}/read`)).toBe(kind === 'none');
    });

    it('does not start while one cannot be read', async () => {
      startAgent();
      script('1', 'echo never');
      plane.run('1', { secrets: { env: {}, conf: {}, fault: 'There is no secret "a".' } });
      expect(await plane.ended('1')).toMatchObject({ reason: 'SUBMIT_FAILED', message: 'There is no secret "a".' });
      expect(existsSync(`${root}/spark/starts`)).toBe(false);
    });
  });

  describe('on a machine that its provider reclaims', () => {
    const announce = (fields: object) =>
      writeFileSync(`${root}/notice`, JSON.stringify({ detail: 'Taken back.', ...fields }));
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
    const reason = 'SPOT_INTERRUPTED';
    const message = 'The provider reclaims the machine of the run: Taken back.';

    beforeEach(() => {
      config.interruption_notice = { kind: 'file', path: `${root}/notice` };
    });

    it('reports it, accepts no more runs, and lets the present ones continue for now', async () => {
      startAgent();
      script('1', `while [ ! -e ${root}/go ]; do sleep 0.02; done`);
      script('2', `touch ${root}/two`);
      plane.run('1', {});
      await until('running', () => plane.states('1').includes('running'));
      const ends_at = inMs(120_000);
      announce({ ends_at });
      await until('the notice', () => plane.reported?.interruption);
      expect(plane.reported?.interruption).toEqual({ detail: 'Taken back.', ends_at });
      plane.run('2', {});
      expect(await plane.ended('2')).toMatchObject({ outcome: 'terminated', reason, message });
      writeFileSync(`${root}/go`, '');
      expect(await plane.ended('1')).toMatchObject({ outcome: 'done' });
      expect(existsSync(`${root}/two`)).toBe(false);
    });

    it('ends its runs before the machine ends, and ships their logs', async () => {
      startAgent();
      script('1', 'trap "echo last words; exit 1" TERM; echo first; while :; do sleep 0.02; done');
      plane.run('1', {});
      await until('its log', () => plane.log('1') === 'first\n');
      announce({ ends_at: inMs(9_000) });
      expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason, message });
      expect(plane.log('1')).toBe('first\nlast words\n');
    });
  });

  it('is drained once a drain is requested and its runs have ended', async () => {
    startAgent();
    script('1', `while [ ! -e ${root}/go ]; do sleep 0.02; done`);
    plane.run('1', {});
    await until('running', () => plane.states('1').includes('running'));
    expect(plane.reported?.drained).toBeUndefined();
    plane.drain = true;
    plane.changed();
    await until('what is left', () => plane.reported?.drained === false);
    writeFileSync(`${root}/go`, '');
    await until('nothing left', () => plane.reported?.drained === true);
    expect(await plane.ended('1')).toMatchObject({ outcome: 'done' });
  });

  it('registers once, keeps its token secret and reports that it is ready', async () => {
    startAgent();
    await until('ready', () => plane.observed?.state === 'ready');
    expect(plane.registrations).toHaveLength(1);
    const path = `${config.node_dir}/agent.json`;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ node_token: 'node-token', node_id: '5' });
  });

  it('runs a job to its end: states, application id, whole log before the end, nothing left', async () => {
    startAgent();
    script('1', 'echo out; echo err >&2; env | sort');
    plane.run('1', { env: { FROM_RUN: 'yes' } });
    const end = await plane.ended('1');
    expect(end).toMatchObject({
      outcome: 'done',
      reason: 'COMPLETED',
      exit_code: 0,
      application_id: 'local-17',
    });
    expect(plane.states('1').at(-1)).toBe('ended');
    expect(plane.log('1')).toMatch(/^out\n/);
    expect(plane.log('1', 'stderr')).toBe('err\n');
    expect(plane.calls.lastIndexOf('PUT /runs/1/logs/stdout')).toBeLessThan(plane.calls.indexOf('end 1'));
    expect(plane.calls.lastIndexOf('PUT /runs/1/logs/stderr')).toBeLessThan(plane.calls.indexOf('end 1'));
    const environment = plane.log('1');
    for (const name of ['FROM_NODE', 'FROM_CLUSTER', 'FROM_RUN']) expect(environment).toContain(`${name}=yes`);
    expect(environment).not.toContain('node-token');
    expect(environment).not.toMatch(/JEST|npm_/);
    await until('the folder is gone', () => !existsSync(runDir('1')));
  });

  /** Returns the memory that the agent has measured of a run, MiB. */
  const peakOf = (id: string): number => {
    const path = `${runDir(id)}/state.json`;
    if (!existsSync(path)) return 0;
    return (JSON.parse(readFileSync(path, 'utf8')) as { peak_memory_mb?: number }).peak_memory_mb ?? 0;
  };

  it('reports what a run requested and the memory that its processes had at most, with its end only', async () => {
    startAgent();
    script('1', `${process.execPath} -e 'globalThis.held = Buffer.alloc(2 ** 27, 1); setInterval(() => 0, 1e6)'`);
    script('2', 'true');
    plane.run('1', { driver_memory: '700m' });
    plane.run('2', {});
    // Node and the shells of the run take 50 to 100 MiB.
    await until('measured', () => peakOf('1') > 128 + 30);
    plane.stop('1', 100);
    const end = await plane.ended('1');
    expect(end.requested_memory_mb).toBe(700);
    expect(end.peak_memory_mb).toBeGreaterThan(128 + 30);
    expect(end.peak_memory_mb).toBeLessThan(128 + 250);
    const others = plane.reports.filter(({ run_id, state }) => run_id === '1' && state !== 'ended');
    expect(others.filter((report) => 'peak_memory_mb' in report || 'requested_memory_mb' in report)).toEqual([]);
    // A run that is over before it was measured has no peak.
    const short = await plane.ended('2');
    expect([short.peak_memory_mb, short.requested_memory_mb].filter((value) => value === 0)).toEqual([]);
  });

  it('reports an end without memory to a control plane that does not know it', async () => {
    startAgent();
    plane.refuses = 'peak_memory_mb';
    script('1', 'sleep 600');
    plane.run('1', {});
    await until('measured', () => peakOf('1') > 0);
    plane.stop('1', 100);
    const end = await plane.ended('1');
    expect(end.reason).toBe('STOP_REQUESTED');
    expect(end).not.toHaveProperty('peak_memory_mb');
    expect(end).not.toHaveProperty('requested_memory_mb');
    expect(plane.refusals).toBe(1);
  });

  it('reports the application id and ships the log during the run', async () => {
    startAgent();
    script('1', `echo hello; while [ ! -e ${root}/go ]; do sleep 0.02; done; echo bye`);
    plane.run('1', {});
    await until('running with its id', () =>
      plane.reports.some((report) => report.state === 'running' && report.application_id === 'local-17'),
    );
    await until('its log', () => plane.log('1') === 'hello\n');
    writeFileSync(`${root}/go`, '');
    await plane.ended('1');
    expect(plane.log('1')).toBe('hello\nbye\n');
  });

  it('reports why a job failed', async () => {
    startAgent();
    script('1', `printf 'Traceback (most recent call last):\\n  File "a"\\nValueError: no\\n' >&2; exit 3`);
    plane.run('1', {});
    expect(await plane.ended('1')).toMatchObject({
      outcome: 'error',
      reason: 'PYTHON_ERROR',
      message: 'ValueError: no. The stderr log has the traceback.',
      exit_code: 3,
    });
  });

  it('ships all chunks of a long log', async () => {
    startAgent();
    script(
      '1',
      'i=0; while [ $i -lt 20000 ]; do echo "line $i of a log that is longer than one chunk"; i=$((i+1)); done',
    );
    plane.run('1', {});
    await plane.ended('1');
    const lines = plane.log('1').trimEnd().split('\n');
    expect(lines).toHaveLength(20_000);
    expect(lines[19_999]).toBe('line 19999 of a log that is longer than one chunk');
  });

  it("ends a run whose file is missing, with the control plane's message", async () => {
    startAgent();
    plane.run('1', {});
    expect(await plane.ended('1')).toMatchObject({
      outcome: 'error',
      reason: 'FILE_NOT_FOUND',
      message: 'The workspace has no file main.py.',
    });
    expect(existsSync(`${root}/spark/starts`)).toBe(false);
  });

  it('stops a run gracefully if it ends in time', async () => {
    startAgent();
    const leave = `echo bye; while [ ! -e ${root}/go ]; do sleep 0.02; done; exit 0`;
    script('1', `trap "${leave}" TERM; echo up; while :; do sleep 0.02; done`);
    plane.run('1', {});
    await until('it runs', () => plane.log('1') === 'up\n');
    plane.stop('1', 60_000);
    await until('stopping', () => plane.states('1').includes('stopping'));
    writeFileSync(`${root}/go`, '');
    expect(await plane.ended('1')).toMatchObject({ outcome: 'stopped', reason: 'STOP_REQUESTED' });
    expect(plane.log('1')).toBe('up\nbye\n');
    expect(plane.states('1')).not.toContain('killing');
  });

  it('kills a run that does not end in time, with its child processes', async () => {
    startAgent();
    script(
      '1',
      'trap "" TERM; sh -c "trap \\"\\" TERM; while :; do sleep 1; done" & echo up; while :; do sleep 0.02; done',
    );
    plane.run('1', {});
    await until('it runs', () => plane.log('1') === 'up\n');
    plane.stop('1', 50);
    expect(await plane.ended('1')).toMatchObject({ outcome: 'killed', reason: 'STOP_REQUESTED' });
    // A state that ends before its report is sent is skipped; the next report names the later state.
    const ways = ['stopping', 'killing', 'ended'];
    const told = [...new Set(plane.states('1'))].filter((state) => ways.includes(state));
    expect(told).toEqual(ways.filter((state) => told.includes(state)));
    expect(processes()).toEqual([]);
  });

  it('ends a run that exceeds its timeout', async () => {
    startAgent();
    script('1', 'while :; do sleep 0.02; done');
    plane.run('1', { timeout_ms: 100 });
    expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason: 'TIMEOUT' });
  });

  it('stops a run before its start without starting it', async () => {
    plane.run('1', {});
    plane.stop('1', 1000);
    startAgent();
    expect(await plane.ended('1')).toMatchObject({ outcome: 'stopped', reason: 'STOP_REQUESTED' });
    expect(existsSync(`${root}/spark/starts`)).toBe(false);
  });

  it('reports a driver that somebody else killed', async () => {
    startAgent();
    script('1', 'kill -9 $$');
    plane.run('1', {});
    expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason: 'SIGNALLED', exit_code: 137 });
  });

  it('continues its runs after kill -9: one start, one end, a log without gap or repetition', async () => {
    const first = startProcess();
    script('1', `i=0; while [ ! -e ${root}/go ]; do echo "line $i"; i=$((i+1)); sleep 0.02; done; exit 4`);
    plane.run('1', {});
    await until('its log', () => plane.log('1').includes('line 5\n'));
    first.kill('SIGKILL');
    await exitOf(first);
    const known = plane.log('1').length;
    startProcess();
    await until('its log goes on', () => plane.log('1').length > known);
    writeFileSync(`${root}/go`, '');
    expect(await plane.ended('1')).toMatchObject({ outcome: 'error', exit_code: 4, application_id: 'local-17' });
    const lines = plane.log('1').trimEnd().split('\n');
    expect(lines).toEqual(lines.map((_line, index) => `line ${index}`));
    expect(starts()).toBe(1);
    expect(plane.registrations).toHaveLength(1);
    const sequence = plane.reports.map((report) => report.seq);
    expect(sequence).toEqual([...new Set(sequence)].sort((a, b) => a - b));
  });

  it('reports the end of a run that ended while no agent was running', async () => {
    const first = startProcess();
    script('1', `echo up; while [ ! -e ${root}/go ]; do sleep 0.02; done; echo last`);
    plane.run('1', {});
    await until('its log', () => plane.log('1') === 'up\n');
    first.kill('SIGKILL');
    await exitOf(first);
    writeFileSync(`${root}/go`, '');
    await until('the driver is gone', () => processes().length === 0);
    startProcess();
    expect(await plane.ended('1')).toMatchObject({ outcome: 'done', exit_code: 0 });
    expect(plane.log('1')).toBe('up\nlast\n');
    expect(starts()).toBe(1);
  });

  it('reports a run whose driver was killed while no agent was running', async () => {
    const first = startProcess();
    script('1', 'echo up; while :; do sleep 0.02; done');
    plane.run('1', {});
    await until('its log', () => plane.log('1') === 'up\n');
    first.kill('SIGKILL');
    await exitOf(first);
    for (const { pid } of processes()) signal(pid, 'SIGKILL');
    await until('the driver is gone', () => processes().length === 0);
    startProcess();
    expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason: 'SIGNALLED', exit_code: null });
    expect(starts()).toBe(1);
  });

  it('starts a run after kill -9 that was accepted and not started, with the environment of the cluster', async () => {
    const first = startProcess();
    plane.holdFiles = true;
    script('1', 'env');
    plane.run('1', {});
    await until('accepted', () => plane.states('1').includes('accepted'));
    first.kill('SIGKILL');
    await exitOf(first);
    plane.holdFiles = false;
    startProcess();
    expect(await plane.ended('1')).toMatchObject({ outcome: 'done' });
    expect(plane.log('1')).toContain('FROM_CLUSTER=yes');
    expect(starts()).toBe(1);
  });

  it('runs only one agent on a node', async () => {
    startProcess();
    await until('ready', () => plane.observed?.state === 'ready');
    const second = spawn(process.execPath, [join(compiled, 'node-agent/main.js'), `${root}/config.json`], {
      stdio: 'ignore',
    });
    children.push(second);
    expect(await exitOf(second)).toBe(1);
  });

  it('continues while the control plane is down, and reports everything once it is back', async () => {
    startAgent();
    script('1', `echo up; while [ ! -e ${root}/go ]; do sleep 0.02; done; echo down`);
    plane.run('1', {});
    await until('its log', () => plane.log('1') === 'up\n');
    plane.away = true;
    writeFileSync(`${root}/go`, '');
    await until('the driver is gone', () => processes().length === 0);
    expect(plane.states('1')).not.toContain('ended');
    plane.away = false;
    expect(await plane.ended('1')).toMatchObject({ outcome: 'done' });
    expect(plane.log('1')).toBe('up\ndown\n');
  });

  it('ends its runs when its lease has expired', async () => {
    plane.leaseMs = 1_500;
    startAgent();
    script('1', 'echo up; while :; do sleep 0.02; done');
    plane.run('1', {});
    await until('its log', () => plane.log('1') === 'up\n');
    plane.away = true;
    await until('the driver is gone', () => processes().length === 0);
    plane.away = false;
    expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason: 'LEASE_EXPIRED' });
  });

  it('ends its runs if the control plane accepts only their logs', async () => {
    plane.leaseMs = 1_500;
    startAgent();
    script('1', 'while :; do echo up; sleep 0.02; done');
    plane.run('1', {});
    await until('its log', () => plane.log('1') !== '');
    plane.deaf = true;
    plane.changed();
    await until('the driver is gone', () => processes().length === 0);
    plane.deaf = false;
    expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason: 'LEASE_EXPIRED' });
  });

  it('reports an end again that the control plane has lost', async () => {
    startAgent();
    script('1', 'exit 0');
    plane.forgetful = true;
    plane.run('1', {});
    await plane.ended('1');
    plane.reports.length = 0;
    plane.changed();
    await until('asked again', () => plane.calls.filter((call) => call === 'POST /poll').length >= 3);
    plane.changed();
    expect(await plane.ended('1')).toMatchObject({ outcome: 'done' });
    expect(starts()).toBe(1);
  });

  it('kills everything and ends permanently when its token is refused', async () => {
    const child = startProcess();
    script('1', 'trap "" TERM; echo up; while :; do sleep 0.02; done');
    plane.run('1', {});
    await until('its log', () => plane.log('1') === 'up\n');
    plane.refusal = 410;
    plane.changed();
    expect(await exitOf(child)).toBe(86);
    expect(processes()).toEqual([]);
  });

  it('ends its runs and reports that when it is stopped', async () => {
    const child = startProcess();
    script('1', 'echo up; while :; do sleep 0.02; done');
    plane.run('1', {});
    await until('its log', () => plane.log('1') === 'up\n');
    child.kill('SIGTERM');
    expect(await exitOf(child)).toBe(0);
    expect(await plane.ended('1')).toMatchObject({ outcome: 'terminated', reason: 'NODE_STOPPED' });
    expect(processes()).toEqual([]);
  });

  it("reports the node's utilization on request, and again after a process of an older release has refused it", async () => {
    plane.leaseMs = 400;
    startAgent();
    await until('polls beyond the first sample', () => plane.calls.filter((call) => call === 'POST /poll').length > 6);
    expect(plane.utilizations).toEqual([]);
    plane.utilization = 'refused';
    await until('refused', () => plane.utilizations.length > 0);
    plane.utilization = 'wanted';
    const refused = plane.utilizations.length;
    const { disk_mb, memory_mb } = await until('reported again', () => plane.utilizations[refused]);
    expect(disk_mb.total).toBeGreaterThan(disk_mb.average);
    expect(memory_mb.max).toBeGreaterThan(0);
  });

  it('runs the bootstrap script once, before it is ready, even with line ends of Windows', async () => {
    const bootstrap_script = `\uFEFF#!/bin/sh\r\nset -e\r\necho once >>${root}/bootstrapped\r\n`;
    plane.daemons = { ...plane.daemons, bootstrap_script };
    const first = startProcess();
    await until('ready', () => plane.observed?.state === 'ready');
    first.kill('SIGKILL');
    await exitOf(first);
    plane.observed = null;
    startProcess();
    await until('ready again', () => plane.observed?.state === 'ready');
    expect(readFileSync(`${root}/bootstrapped`, 'utf8')).toBe('once\n');
  });

  it('fails the node when the bootstrap script fails, with its last output', async () => {
    plane.daemons = { ...plane.daemons, bootstrap_script: 'echo no such mirror >&2; exit 7' };
    startAgent();
    const failed = await until('failed', () => (plane.observed?.state === 'failed' ? plane.observed : null));
    expect(failed.error).toMatch(/ended with 7.*no such mirror/);
    await until('its log', () => plane.logs.get('/node/logs/stderr')?.toString().includes('no such mirror'));
  });

  describe('a bootstrap script', () => {
    const failure = async (bootstrap_script: string, change: Partial<DesiredDaemons> = {}): Promise<string> => {
      plane.daemons = { ...plane.daemons, bootstrap_script, ...change };
      startAgent();
      const seen = () => (plane.observed?.state === 'failed' ? plane.observed : null);
      return (await until('failed', seen)).error ?? '';
    };

    it('that hangs is killed after its timeout, with its child processes', async () => {
      const script = `echo begun; sh -c 'trap "" TERM HUP; exec sleep 1000' & sleep 1000`;
      const error = await failure(script, { bootstrap_timeout_ms: 300 });
      // On a busy machine there may be no output within this time.
      expect(error).toMatch(/took longer than 0.3 seconds\.(?: Its last output: begun)?$/);
      expect(processes().filter(({ argv }) => argv.includes('1000'))).toEqual([]);
    });

    it('that prints without end only fills the log of the node', async () => {
      plane.logLimit = 1024 * 1024;
      const script = 'yes 0123456789abcde | head -c 209715200; echo the end; exit 4';
      expect(await failure(script)).toMatch(/ended with 4. Its last output: [^]*the end$/);
      const log = `${root}/node/logs/stdout`;
      await until('the log is cut', () => statSync(log).size < 3 * 1024 * 1024);
      await until('its log', () => (plane.logs.get('/node/logs/stdout')?.length ?? 0) >= 1024 * 1024);
      expect(plane.logs.get('/node/logs/stdout')?.length).toBeLessThan(3 * 1024 * 1024);
    });

    it('whose output has NUL is reported', async () => {
      expect(await failure(`head -c 100 /dev/zero; printf 'why\\377'; exit 5`)).toMatch(/ended with 5.*: why\uFFFD$/);
    });

    // Only root can create a small disk.
    if (kind === 'none') return;

    it('that fills the disk is stopped before the node loses its journal', async () => {
      mkdirSync(`${root}/node`);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'bootstrap', `${root}/node`]);
      try {
        // Fills most of the disk at once, and the rest more slowly than a busy agent checks it.
        const fill =
          'head -c 45000000 /dev/zero >"$HOME/x"; while head -c 100000 /dev/zero >>"$HOME/x"; do sleep 0.02; done';
        expect(await failure(`${fill}; exit 9`)).toMatch(/filled the disk of the node, so it was stopped/);
        expect(statfsSync(`${root}/node`).bavail).toBeGreaterThan(0);
        expect(JSON.parse(readFileSync(`${root}/node/agent.json`, 'utf8'))).toMatchObject({ node_id: '5' });
      } finally {
        for (const { agent } of agents) agent.stop();
        await Promise.all(agents.map(({ end }) => end));
        execFileSync('umount', ['--lazy', `${root}/node`]);
      }
    });
  });

  it('names the run in its own log, which becomes the log of the node', async () => {
    startAgent();
    script('1', 'exit 0');
    plane.run('1', {});
    await plane.ended('1');
    const lines = await until('its log', () => {
      const text = plane.logs.get('/node/logs/stdout')?.toString() ?? '';
      return text.includes('Run ended') ? text.trim().split('\n') : null;
    });
    const line = lines.find((text) => text.includes('Run ended')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ run_id: '1', correlation_id: 'correlation-1', outcome: 'done' });
  });
});
