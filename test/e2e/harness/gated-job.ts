import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../harness/eventually';
import type { ApiClient, Json } from './api-client';
import type { Platform } from './platform';

/**
 * Leaves a mark on each start, counts with Spark, and continues once the gate is open. It counts in the JVM
 * and without SQL, because a session and a query take three more seconds of CPU.
 */
const SCRIPT = `
import contextlib, os, sys, time, uuid
from pyspark import SparkConf, SparkContext

folder, name = sys.argv[1], sys.argv[2]
# Runs on several nodes are different users, and may have the same process id in their namespaces.
open(os.path.join(folder, "%s-start-%s" % (name, uuid.uuid4().hex)), "w").close()
print("begin", flush=True)
context = SparkContext.getOrCreate(SparkConf().setAppName(name))
print("counted", context._jsc.sc().range(0, 1000, 1, 4).count(), flush=True)
with contextlib.suppress(PermissionError):
    open(os.path.join(folder, name + "-ready"), "w").close()
deadline = time.time() + 600
line = 0
while not os.path.exists(os.path.join(folder, name + "-gate")):
    line += 1
    print("line", line, flush=True)
    if time.time() > deadline:
        sys.exit("the gate was not opened")
    time.sleep(0.05)
print("lines", line, flush=True)
print("end", flush=True)
context.stop()
`;

const FINISHED = ['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED'];

export interface RunEnd {
  status: string;
  reasonCode: string | null;
  reason: string | null;
  exitCode: number | null;
}

/** A PySpark job that runs until the test lets it end. */
export class GatedJob {
  private constructor(
    private readonly client: ApiClient,
    readonly workspaceId: number,
    readonly jobConfId: number,
    private readonly name: string,
    private readonly folder: string,
  ) {}

  static async describe(platform: Platform, client: ApiClient, clusterId: number, name: string): Promise<GatedJob> {
    const folder = join(platform.sharedDir, 'gates');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    const { workspace_id: id } = await client.post('/workspace', { name });
    const query = { workspace_id: Number(id), path: 'gated.py', overwrite: true };
    await client.upload('/workspace/files', SCRIPT, { query });
    const conf = await client.post(`/workspace/${id}/spark/job/conf`, {
      name,
      cluster_id: clusterId,
      job_type: 'Python3',
      command: 'gated.py',
      arguments: `${folder} ${name}`,
      driver_memory: '512m',
    });
    return new GatedJob(client, Number(id), Number(conf.job_conf_id), name, folder);
  }

  get path(): string {
    return `/workspace/${this.workspaceId}/spark/job`;
  }

  get body(): object {
    return { job_conf_id: this.jobConfId };
  }

  async submit(): Promise<number> {
    return Number((await this.client.post(this.path, this.body)).job_id);
  }

  /** Waits until Spark has counted and the driver is in its loop. With a run's id, throws with the reason if that run ends. */
  async inLoop(runId?: number): Promise<void> {
    const ready = () => readdirSync(this.folder).includes(`${this.name}-ready`);
    const ended = async () => runId !== undefined && FINISHED.includes((await this.read(runId)).job_status);
    const what = `the loop of ${this.name}`;
    await eventually(async () => ready() || (await ended()), { timeoutMs: 240_000, what });
    if (runId !== undefined && !ready()) {
      const { job_status: status, reason } = await this.read(runId);
      throw new Error(`${what} not reached: ${status}, ${reason}`);
    }
  }

  open(): void {
    writeFileSync(join(this.folder, `${this.name}-gate`), '');
  }

  /** Returns how often the script was started. */
  starts(): number {
    return readdirSync(this.folder).filter((file) => file.startsWith(`${this.name}-start-`)).length;
  }

  async read(runId: number): Promise<Json> {
    return this.client.get(`${this.path}/${runId}`);
  }

  async ended(runId: number, timeoutMs = 180_000): Promise<RunEnd> {
    const run = await eventually(
      async () => {
        const found = await this.read(runId);
        if (!FINISHED.includes(found.job_status)) throw new Error(`the run is ${found.job_status}`);
        return found;
      },
      { timeoutMs, what: `the end of run ${runId}` },
    );
    return { status: run.job_status, reasonCode: run.reason_code, reason: run.reason, exitCode: run.exit_code };
  }

  /** Throws if the log lacks a line of the script or holds one twice. */
  async expectWholeLog(runId: number): Promise<void> {
    const lines = (await this.client.text(`${this.path}/${runId}/log/stdout`)).trimEnd().split('\n');
    const counted = lines.filter((line) => line.startsWith('line '));
    expect(counted).toEqual(counted.map((_line, index) => `line ${index + 1}`));
    expect(lines).toEqual(['begin', 'counted 1000', ...counted, `lines ${counted.length}`, 'end']);
  }
}
