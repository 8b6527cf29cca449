import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../harness/eventually';
import type { Json } from '../../e2e/harness/api-client';
import { clientOf, createTenant, createUser } from '../../e2e/harness/people';
import { createCluster, describeEstate, startCluster } from '../../e2e/harness/estate';
import { GatedJob } from '../../e2e/harness/gated-job';
import { type ClusterType, JobDesk } from '../../e2e/harness/jobs';
import { PlatformUnderTest, type ProcessUser, readRuntime, type TestRuntime } from '../../e2e/harness/platform';
import { containerRoot, ordinaryUser } from './users';
import { CHATTERBOX, FORGER, HISTORIAN, INTRUDER, SNOOP, TRAPPER } from './hostile-jobs';

const LOG_MAX_BYTES = 1_000_000;
const SETTINGS = {
  LOG_MAX_BYTES: String(LOG_MAX_BYTES),
  // The lease is short, so that an agent that is busy with the code of one run loses its node.
  AGENT_LEASE_MS: '15000',
  AGENT_LEASE_MARGIN_MS: '1000',
};

/** Drivers wait for jobs, however busy the machine is. */
const WARM = { COMPUTE_WARM_DRIVERS: '1', COMPUTE_WARM_DRIVERS_MAX_CPU_PRESSURE: '100' };

type Way = 'by root' | 'by an ordinary user' | 'in a container';
type Start = (runtime: TestRuntime) => { user?: ProcessUser; env?: Record<string, string> };

/** A platform with a job that keeps running, and the resources that the tests of other jobs need. */
interface Ground {
  platform: PlatformUnderTest;
  clusterId: number;
  desk: JobDesk;
  victim: { jobId: number; job: GatedJob };
  /** Tokens of the nodes of both tenants, that of `clusterId` first. */
  nodes: string[];
  strangersDesk: JobDesk;
  strangersClusterId: number;
  /** Runs one of the hostile scripts to its end. */
  run: (script: string, fields?: object, how?: { canBeWarm?: boolean }) => Promise<Json>;
}

/** One way to start a platform, and the confinement of jobs that the worker then reports. */
interface Confined {
  way: Way;
  confinement: string;
  as: Start;
}

const BY_USER: Confined = {
  way: 'by an ordinary user',
  confinement: 'Namespaces for each job',
  as: (runtime) => ({ user: ordinaryUser(runtime) }),
};
const BY_ROOT: Confined = { way: 'by root', confinement: 'A user and namespaces for each job', as: () => ({}) };
const IN_CONTAINER: Confined = { way: 'in a container', confinement: 'A user for each job', as: containerRoot };

/** Only root can run these. */
const OF_ROOT: Record<'by root' | 'in a container', Confined> = { 'by root': BY_ROOT, 'in a container': IN_CONTAINER };

/**
 * Declares the tests of a job on a platform that an ordinary user starts; any user can run them.
 *
 * Real: API, worker, agents and Spark as processes of one machine, with two tenants on it.
 */
export function describeConfinedJobs(): void {
  describe(`a job on a platform that is started ${BY_USER.way}`, () => {
    const ground = groundFor(BY_USER, 'STANDALONE');
    declareByKind(ground, BY_USER);
    declareForAll(ground);
  });
}

/**
 * Declares the tests that depend on the kind of confinement, on a platform that root starts; with `whole`, all others, too. With `warm`, a
 * driver that waited for runs has each hostile job.
 */
export function describeConfinedJobsOfRoot(way: keyof typeof OF_ROOT, { whole = false, warm = false } = {}): void {
  if (process.getuid?.() !== 0) {
    it('needs root', () => expect(process.getuid?.()).not.toBe(0));
    return;
  }
  describe(`a job ${warm ? 'in a warm driver ' : ''}on a platform that is started ${way}`, () => {
    const ground = groundFor(OF_ROOT[way], whole ? 'STANDALONE' : 'PLATFORM', warm);
    declareByKind(ground, OF_ROOT[way]);
    if (whole) declareForAll(ground);
  });
}

function groundFor({ way, as }: Confined, type: ClusterType, warm = false): () => Ground {
  let ground: Ground | undefined;
  let platform: PlatformUnderTest | undefined;

  beforeAll(async () => {
    const { user, env } = as(readRuntime());
    const name = `attacks-jobs-${warm ? 'warm-' : ''}${way.replaceAll(' ', '-')}`;
    platform = await PlatformUnderTest.start({ name, env: { ...SETTINGS, ...(warm ? WARM : {}), ...env }, user });
    const { sparkVersion } = platform.runtime;
    const admin = await platform.admin();
    const clusterId = await createCluster(admin, await describeEstate(admin, sparkVersion), 'mine', {
      cluster_type: type,
      engine_cluster_spark_config: {
        ...(type === 'STANDALONE' ? { num_of_workers: 1 } : {}),
        max_parallel_spark_job_execution_per_instance: 3,
      },
    });
    await startCluster(admin, clusterId);

    await createUser(platform, 'stranger', 'ADMIN', [await createTenant(platform, 'stranger')]);
    const stranger = await clientOf(platform, 'stranger');
    const theirs = await createCluster(stranger, await describeEstate(stranger, sparkVersion), 'theirs');
    await startCluster(stranger, theirs);
    const found = await platform.sql<{ token: string }>('SELECT token::text FROM cluster_nodes ORDER BY cluster_id');

    const job = await GatedJob.describe(platform, admin, clusterId, 'victim');
    const jobId = await job.submit();
    await job.inLoop(jobId);

    const desk = await JobDesk.open(admin, 'attacks');
    const scripts = { snoop: SNOOP, forger: FORGER, trapper: TRAPPER, chatterbox: CHATTERBOX, historian: HISTORIAN };
    for (const [script, text] of Object.entries(scripts)) await desk.upload(`${script}.py`, text);
    let runs = 0;
    ground = {
      ...{ platform, clusterId, desk, victim: { jobId, job }, nodes: found.map(({ token }) => token) },
      ...{ strangersDesk: await JobDesk.open(stranger, 'theirs'), strangersClusterId: theirs },
      run: async (script, fields = {}, { canBeWarm = true } = {}) => {
        const complete = (): Promise<Json> => {
          runs += 1;
          const all = { job_type: 'Python3', command: `${script}.py`, ...fields };
          return desk.complete(clusterId, `${script}-${runs}`, all);
        };
        return warm && canBeWarm ? inWarmDriver(complete) : complete();
      },
    };
  });

  afterAll(async () => {
    ground?.victim.job.open();
    await platform?.close();
  });

  return () => {
    if (ground === undefined) throw new Error('The platform of the test was not started');
    return ground;
  };
}

/** Repeats a job until a driver that waited has it. From the first one the node learns the heap. */
async function inWarmDriver(complete: () => Promise<Json>): Promise<Json> {
  return eventually(
    async () => {
      const job = await complete();
      return job.started_warm === true ? job : null;
    },
    { timeoutMs: 240_000, everyMs: 5_000, what: 'a job in a warm driver' },
  );
}

/** Declares the tests that depend on the kind of confinement. */
function declareByKind(ground: () => Ground, { confinement }: Confined): void {
  it('is confined', () => {
    expect(ground().platform.workerLog()).toContain(`"confinement":"${confinement}"`);
  });

  it('finds no key, no password, no token and no file of the platform, of a node or of another run', async () => {
    const { platform, nodes, victim, desk, run } = ground();
    const { dataDir, localDir } = platform;
    const ofNodes = nodes.flatMap((token) =>
      ['agent.json', 'node.json', 'data/agent.json', 'data/logs/stdout', 'data/runs', 'data/warm'].map((name) =>
        join(localDir, token, name),
      ),
    );
    const ofVictim = nodes.flatMap((token) =>
      ['spec.json', 'state.json', 'stdout', 'env-driver', 'box', 'box/work', 'box/staging/0/gated.py'].map((name) =>
        join(localDir, token, 'data', 'runs', String(victim.jobId), name),
      ),
    );
    const ofProcesses = platform.pids.flatMap((pid) =>
      ['environ', 'cwd', 'fd', 'mem'].map((name) => `/proc/${pid}/${name}`),
    );
    const paths = [
      localDir,
      dataDir,
      ...readdirSync(dataDir).map((name) => join(dataDir, name)),
      ...ofNodes,
      ...ofVictim,
    ];
    for (const path of [...ofNodes.slice(0, 2), ...ofVictim.slice(0, 2)])
      expect([path, existsSync(path)]).toEqual([path, true]);

    const contents = () => [...ofNodes, ...ofVictim].map((path) => [path, contentOf(path)] as const);
    const job = await run('snoop', { arguments: [...paths, ...ofProcesses].join(' ') });
    expect([job.job_status, job.reason]).toEqual(['DONE', 'The application completed.']);
    const { commands, ...found } = JSON.parse(await desk.log(job.job_id)) as { commands: string[] };
    expect(found).toEqual({ secrets: [], read: [], listed: [] });
    const tokens = ofNodes.flatMap((path) => contentOf(path).match(/(?<="\w+_token":")[^"]+/g) ?? []);
    expect(tokens).toHaveLength(2 * nodes.length);
    const telling = (command: string) => [...platform.secrets, ...tokens].some((secret) => command.includes(secret));
    expect(commands.filter(telling)).toEqual([]);
    if (confinement !== 'A user for each job')
      expect(commands.filter((command) => /(?:main|worker)\.js\b/.test(command))).toEqual([]);
    expect(contents().filter(([, content]) => content?.includes('written by a job'))).toEqual([]);
  });

  it('cannot trap its agent, which follows no link, opens no pipe and removes every file', async () => {
    const { platform, nodes, victim, desk, run } = ground();
    const job = await run('trapper');
    expect([job.job_status, await desk.log(job.job_id)]).toEqual(['DONE', 'trapped\n']);
    const [node = ''] = nodes;
    const left = () => readdirSync(join(platform.localDir, node, 'data', 'runs'));
    const cleared = () => expect(left()).toEqual([String(victim.jobId)]);
    await eventually(() => (cleared(), true), { what: 'no folder but that of the run that goes on' });
  });

  it('cannot make the agent read a properties file that the job itself may not read', async () => {
    const { platform, nodes, run } = ground();
    const [node = ''] = nodes;
    const config = join(platform.localDir, node, 'agent.json');
    const job = await run('snoop', { properties_file: [`file://${config}`] }, { canBeWarm: false });
    expect([job.job_status, job.reason_code]).toEqual(['ERROR', 'SUBMIT_FAILED']);
    expect(job.reason).toContain('cannot be read on the node');
  });

  // The job claims to have succeeded.
  it('cannot influence the agent by its environment variables', async () => {
    const { platform, desk, clusterId, run } = ground();
    const bin = join(platform.sharedDir, 'bin');
    mkdirSync(bin);
    const seen = join(platform.sharedDir, 'seen');
    mkdirSync(seen);
    chmodSync(seen, 0o777);
    const names = ['bwrap', 'setpriv', 'env', 'sh', 'cat', 'rm'];
    for (const name of names) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $(id -u)" >"${seen}/$$"; exec /usr/bin/${name} "$@"\n`, {
        mode: 0o755,
      });
    }
    const { client } = desk;
    await client.put(`/cluster?cluster_id=${clusterId}`, { spark_config: { env_var: [`PATH=${bin}:/usr/bin:/bin`] } });
    expect(await run('forger', {}, { canBeWarm: false })).toMatchObject({ job_status: 'ERROR', exit_code: 3 });
    const users = readdirSync(seen).map((name) => readFileSync(join(seen, name), 'utf8').trim());
    // Programs that the job's own shell starts run as the job's user. Root and the tools that change the user never use this PATH.
    expect(users).not.toEqual([]);
    expect(users.filter((line) => line.endsWith(' 0') || /^(bwrap|setpriv) /.test(line))).toEqual([]);
    await client.put(`/cluster?cluster_id=${clusterId}`, { spark_config: { env_var: null } });
  });
}

/** Declares the tests whose outcome is the same in each kind of confinement. */
function declareForAll(ground: () => Ground): void {
  it('cannot forge its end', async () => {
    const { desk, run } = ground();
    const job = await run('forger');
    expect([job.job_status, job.exit_code, await desk.log(job.job_id)]).toEqual(['ERROR', 3, 'forged\n']);
  });

  it('cannot have the event log of another run kept as its own', async () => {
    const { platform, nodes, victim, desk, run } = ground();
    const [node = ''] = nodes;
    const events = join(platform.localDir, node, 'data', 'runs', String(victim.jobId), 'box', 'events');
    const application = await applicationOf(platform, victim.jobId);
    expect(existsSync(join(events, `${application}.inprogress`))).toBe(true);
    const job = await run('historian', { arguments: `${events} ${application}` });
    expect([job.job_status, await applicationOf(platform, job.job_id)]).toEqual(['DONE', application]);
    expect(await desk.log(job.job_id, 'events')).toBe('');
    const { stages, executors } = await desk.client.get(`${desk.path}/job/${job.job_id}/metrics`);
    expect([stages, executors]).toEqual([[], []]);
  });

  it('cannot fill the disk with its output, whose beginning and end are kept', async () => {
    const { desk, run } = ground();
    const job = await run('chatterbox');
    expect(job.reason).toBe(`The application completed. Its stdout was cut after ${LOG_MAX_BYTES} bytes.`);
    const log = await desk.log(job.job_id);
    expect(log.length).toBeLessThan(LOG_MAX_BYTES + 128 * 1024);
    expect(log.slice(LOG_MAX_BYTES)).toMatch(/^\n\[The output is cut here: .*\]\n[x\n]*the last words\n$/);
  });

  it('cannot make its event log exceed the limit', async () => {
    const { desk, run } = ground();
    const job = await run('historian');
    expect(job.reason).toBe(`The application completed. Its event log was cut after ${LOG_MAX_BYTES} bytes.`);
    expect((await desk.log(job.job_id, 'events')).length).toBe(LOG_MAX_BYTES);
    const { stages, totals } = await desk.client.get(`${desk.path}/job/${job.job_id}/metrics`);
    expect([stages.length, stages[0].planned_tasks, totals.tasks]).toEqual([1_000, 0, 0]);
  });

  it('gets no executor in a cluster of another tenant, even with its address', async () => {
    const { platform, strangersDesk, strangersClusterId } = ground();
    await strangersDesk.upload('intruder.py', INTRUDER);
    const fields = { job_type: 'Python3', command: 'intruder.py', arguments: masterIn(platform.localDir).url };
    const job = await strangersDesk.complete(strangersClusterId, 'intruder', fields);
    const log = await strangersDesk.log(job.job_id);
    expect([job.job_status, log.slice(0, 6), log.includes('counted 10')]).toEqual(['ERROR', 'asking', false]);
  });

  it('cannot open a page of a Spark daemon', async () => {
    const master = masterIn(ground().platform.localDir);
    for (const path of ['', 'json/', 'app/kill/?id=app-1&terminate=true', 'environment', 'static/webui.js'])
      expect([path, (await fetch(`${master.page}${path}`)).status]).toEqual([path, 403]);
  });

  it('of 160 KB of Scala does not make the agent lose its node', async () => {
    const { clusterId, desk } = ground();
    const rawScalaCode = `${'//\n'.repeat(53_000)}println("hello")\n${'println()\n'.repeat(10)}`;
    const job = await desk.complete(clusterId, 'scala', { job_type: 'RAW_SCALA', rawScalaCode });
    expect([job.job_status, await desk.log(job.job_id)]).toEqual(['DONE', `hello\n${'\n'.repeat(10)}`]);
  });
}

async function applicationOf(platform: PlatformUnderTest, jobId: number): Promise<string> {
  const [row] = await platform.sql<{ id: string }>(`SELECT application_id AS id FROM runs WHERE run_id = ${jobId}`);
  return row?.id ?? '';
}

/** Returns the addresses of the only master below a folder of nodes. */
function masterIn(localDir: string): { url: string; page: string } {
  const journals = readdirSync(localDir).map((node) =>
    contentOf(join(localDir, node, 'data', 'daemons', 'master.json')),
  );
  const { port, web_ui_port: page } = JSON.parse(journals.find((journal) => journal !== '') ?? '{}');
  return { url: `spark://127.0.0.1:${port}`, page: `http://127.0.0.1:${page}/` };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
