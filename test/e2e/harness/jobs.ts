import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../harness/eventually';
import { isLong } from '../../harness/long';
import type { ApiClient, Json } from './api-client';
import type { Platform, TestRuntime } from './platform';

const run = promisify(execFile);

export const CLUSTER_TYPES = ['PLATFORM', 'STANDALONE', 'CLUSTER'] as const;
export const LANGUAGES = ['Python3', 'Jar', 'RAW_SCALA', 'SQL'] as const;
export type ClusterType = (typeof CLUSTER_TYPES)[number];
export type Language = (typeof LANGUAGES)[number];

/** Returns the job types to test on a cluster of this type: all in the long run, otherwise one of them on clusters with a master. */
export function languagesOn(type: ClusterType): readonly Language[] {
  if (isLong || type === 'PLATFORM') return LANGUAGES;
  return type === 'STANDALONE' ? ['Jar'] : ['Python3'];
}

/**
 * Python expression: the archives of Spark's classes that the driver has mapped. A JVM silently leaves out one that was not
 * made for its class path.
 */
export const CLASS_ARCHIVES =
  'sorted({line.split()[-1] for line in open("/proc/%d/maps" % spark._jvm.java.lang.ProcessHandle.current().pid())' +
  ' if "/spark-" in line and ".jsa" in line})';

export const FINISHED = ['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED'];

/** Jobs of one workspace. */
export class JobDesk {
  private constructor(
    readonly client: ApiClient,
    readonly workspaceId: number,
  ) {}

  static async open(client: ApiClient, name: string): Promise<JobDesk> {
    return new JobDesk(client, Number((await client.post('/workspace', { name })).workspace_id));
  }

  get path(): string {
    return `/workspace/${this.workspaceId}/spark`;
  }

  async upload(path: string, data: Uint8Array | string): Promise<void> {
    const query = { workspace_id: this.workspaceId, path, overwrite: true };
    await this.client.upload('/workspace/files', data, { query });
  }

  /** Creates a configuration with a small driver; returns its id. */
  async describe(clusterId: number, name: string, fields: object): Promise<number> {
    const body = { name, cluster_id: clusterId, driver_memory: '512m', conf: ['spark.ui.enabled=false'], ...fields };
    return Number((await this.client.post(`${this.path}/job/conf`, body)).job_conf_id);
  }

  async submit(jobConfId: number, fields: object = {}): Promise<number> {
    const job = await this.client.post(`${this.path}/job`, { job_conf_id: jobConfId, ...fields });
    if (job.job_status !== 'SUBMITTED') throw new Error(`A new job is ${job.job_status}`);
    return Number(job.job_id);
  }

  /** Creates a configuration and submits it. */
  async start(clusterId: number, name: string, fields: object): Promise<number> {
    return this.submit(await this.describe(clusterId, name, fields));
  }

  /** Creates a configuration, submits it and waits for the end of the run. */
  async complete(clusterId: number, name: string, fields: object): Promise<Json> {
    return this.ended(await this.start(clusterId, name, fields));
  }

  /** Like {@link complete}, but throws with the reason and the log of a job that is not DONE. */
  async succeed(clusterId: number, name: string, fields: object): Promise<Json> {
    return this.done(await this.start(clusterId, name, fields));
  }

  get(jobId: number): Promise<Json> {
    return this.client.get(`${this.path}/job/${jobId}`);
  }

  /** Waits for one of the states; throws with the reason if the job ends in another one. */
  async reached(jobId: number, statuses: readonly string[], timeoutMs = 240_000): Promise<Json> {
    const what = `job ${jobId} in ${statuses.join(' or ')}`;
    const job = await eventually(
      async () => {
        const found = await this.get(jobId);
        return statuses.includes(found.job_status) || FINISHED.includes(found.job_status) ? found : null;
      },
      { timeoutMs, what },
    );
    await this.assertStatus(job, statuses);
    return job;
  }

  /** Waits for the end of the job, and throws with its reason and its log if it is not DONE. */
  async done(jobId: number): Promise<Json> {
    const job = await this.ended(jobId);
    await this.assertStatus(job, ['DONE']);
    return job;
  }

  private async assertStatus(
    { job_id: id, job_status: status, reason }: Json,
    statuses: readonly string[],
  ): Promise<void> {
    if (statuses.includes(status)) return;
    const log = await this.log(Number(id), 'stderr', { last_n_lines: 20 });
    throw new Error(`Job ${id} is ${status} instead of ${statuses.join(' or ')}: ${reason}\n${log}`);
  }

  /** Waits for the end of the job, checks its history and returns the job. */
  async ended(jobId: number): Promise<Json> {
    const job = await this.reached(jobId, FINISHED);
    const history = await this.history(jobId);
    if (history.at(-1)?.job_status !== job.job_status) throw new Error(`The history of job ${jobId} lacks its end`);
    return job;
  }

  /** Returns the status history, oldest first; throws if it has a gap. */
  async history(jobId: number): Promise<Json[]> {
    const { status_history: history } = await this.client.get(`${this.path}/job/${jobId}/status`);
    if (history[0]?.job_status !== 'SUBMITTED') throw new Error(`The history begins with ${history[0]?.job_status}`);
    for (const [at, entry] of history.entries()) {
      const next = history[at + 1]?.from_date ?? 'infinity';
      if (entry.to_date !== next)
        throw new Error(`The history has a hole after ${entry.job_status}: ${JSON.stringify(history)}`);
    }
    return history;
  }

  async statuses(jobId: number): Promise<string[]> {
    return (await this.history(jobId)).map((entry) => entry.job_status);
  }

  log(
    jobId: number,
    stream: 'stdout' | 'stderr' | 'events' = 'stdout',
    query: Record<string, number> = {},
  ): Promise<string> {
    return this.client.text(`${this.path}/job/${jobId}/log/${stream}`, query);
  }

  /** Waits until the log holds the text. */
  async said(jobId: number, text: string): Promise<string> {
    return eventually(
      async () => {
        const log = await this.log(jobId);
        return log.includes(text) ? log : null;
      },
      { timeoutMs: 240_000, what: `"${text}" in the log of job ${jobId}` },
    );
  }

  kill(jobId: number): Promise<Json> {
    return this.client.post(`${this.path}/job/kill/${jobId}`, undefined, 201);
  }
}

/** Commands of the agent that remove the files of a run that has ended. */
const CLEARS = /^(?:\/bin\/sh -c )?(?:rm -rf|chmod -R) /;

/** Returns the running processes whose command line or environment names the run. */
export async function processesOfRun(platform: Platform, jobId: number): Promise<string[]> {
  return (await platform.nodeProcesses()).flatMap(({ pid, command }) => {
    try {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8');
      return text.includes(`/runs/${jobId}/`) && !CLEARS.test(command) ? [command] : [];
    } catch {
      return [];
    }
  });
}

/** Compiles a Scala program into a jar with the compiler of the Spark distribution, so that no JDK is needed. */
export async function compileJar(
  runtime: Pick<TestRuntime, 'javaHome' | 'sparkHome'>,
  source: string,
): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'jar-'));
  try {
    writeFileSync(join(folder, 'App.scala'), source);
    const options = ['-cp', `${join(runtime.sparkHome, 'jars')}/*`, 'scala.tools.nsc.Main', '-usejavacp', '-nowarn'];
    const java = join(runtime.javaHome, 'bin', 'java');
    await run(java, ['-XX:TieredStopAtLevel=1', ...options, '-d', 'app.jar', 'App.scala'], {
      cwd: folder,
      timeout: 240_000,
    });
    return readFileSync(join(folder, 'app.jar'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
