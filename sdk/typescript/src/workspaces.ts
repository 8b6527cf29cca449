import { ConfigurationError, Conflict } from './errors.ts';
import { Files, type LocalSource, Secrets } from './files.ts';
import { type ServedFunction, servedFunction } from './functions.ts';
import {
  createJob,
  createJobConf,
  createNotebook,
  createNotebookConf,
  getJobConf,
  getWorkspace,
  listJobs,
  updateJobConf,
} from './generated/operations.ts';
import type {
  CreateJobConf,
  CreateNotebookConf,
  JobConfRead,
  JobRead,
  UpdateJobConf,
  WorkspaceRead,
} from './generated/types.ts';
import { chosen, type Context, type LocalFile, type Ref, type WaitOptions } from './host.ts';
import { Notebook } from './notebooks.ts';
import type { Upload } from './operation.ts';
import { Place } from './place.ts';
import { type JobStatus, Run } from './runs.ts';
import { SqlServer, type SqlOptions } from './sql.ts';
import type { Table } from './table.ts';

const JOB_TYPES: Readonly<Record<string, CreateJobConf['job_type']>> = { py: 'Python3', jar: 'Jar', sql: 'SQL' };
const NAME_TAKEN = 'RECORD.DUPLICATE_NAME';

/** Settings of a job, apart from its name and its cluster. */
export type JobSettings = Omit<UpdateJobConf, 'name' | 'cluster_id' | 'cluster_name'>;

/** A script to run: a local file, or its name and text. */
export type Script = LocalSource | { name: string; content: Upload };

export interface SubmitOptions {
  /** Arguments of the program. */
  args?: readonly string[] | undefined;
  /** The same key returns the same run, also from another process. */
  idempotencyKey?: string | undefined;
}

export type RunOptions = JobSettings & SubmitOptions & { cluster: Ref; name?: string };

export type FunctionOptions = JobSettings & WaitOptions & { cluster: Ref; name?: string };

export type NotebookOptions = WaitOptions & {
  cluster: Ref;
  language?: CreateNotebookConf['notebook_type'];
  driver_memory?: string;
};

/** The jobs of a workspace, and their runs. */
export class Jobs {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Yields runs, the newest first; of one job if it is named. */
  async *list({ name, status }: { name?: string; status?: JobStatus } = {}): AsyncGenerator<JobRead> {
    const query = { job_conf_name: name, job_status: status && [status] };
    yield* this.#place.context.transport.pages(listJobs, { path: await this.#path(), query });
  }

  /** Returns the run of this id, of which nothing is asked yet. */
  get(id: number): Run {
    return new Run(this.#place, id);
  }

  /** Creates the job, or changes the one of this name; settings that are not given stay as they are. */
  async describe(
    name: string,
    job_type: CreateJobConf['job_type'],
    cluster: Ref,
    settings: JobSettings = {},
  ): Promise<JobConfRead> {
    const { transport } = this.#place.context;
    const path = await this.#path();
    const query = { job_conf_name: name };
    const body = { ...settings, ...chosen('cluster', cluster) };
    try {
      await transport.call(createJobConf, { path, body: { ...body, name, job_type } });
    } catch (error) {
      if (!isTaken(error)) throw error;
      await transport.call(updateJobConf, { path, query, body });
    }
    return transport.call(getJobConf, { path, query });
  }

  /** Runs a job that is described. */
  async submit(name: string, { args, idempotencyKey }: SubmitOptions = {}): Promise<Run> {
    const body = { job_conf_name: name, ...(args && { arguments: args.map(quoted).join(' ') }) };
    const { job_id } = await this.#place.context.transport.call(createJob, {
      path: await this.#path(),
      body,
      idempotencyKey,
    });
    return this.get(job_id);
  }

  async #path() {
    return { workspace_id: await this.#place.id() };
  }
}

/** One workspace; a request is sent when a method is called. */
export class Workspace {
  readonly #place: Place;
  readonly ref: Ref;
  readonly files: Files;
  readonly secrets: Secrets;
  readonly jobs: Jobs;

  constructor(context: Context, ref: Ref) {
    this.#place = new Place(context, ref);
    this.ref = ref;
    this.files = new Files(this.#place);
    this.secrets = new Secrets(this.#place);
    this.jobs = new Jobs(this.#place);
  }

  id(): Promise<number> {
    return this.#place.id();
  }

  details(): Promise<WorkspaceRead> {
    return this.#place.context.transport.call(getWorkspace, { query: chosen('workspace', this.ref) });
  }

  /** Uploads a script (.py, .jar or .sql), describes a job of its name that runs it, and submits a run. */
  async run(script: Script, options: RunOptions): Promise<Run> {
    const { cluster, name, args, idempotencyKey, ...settings } = options;
    const { name: file, content } = await this.#opened(script);
    const [, stem = '', ending = ''] = /^(.*)\.(\w+)$/.exec(file) ?? [];
    const type = JOB_TYPES[ending];
    if (type === undefined) {
      throw new ConfigurationError(`${file} is no script: its name must end with .py, .jar or .sql.`);
    }
    const job = name ?? stem;
    if (type === 'SQL') settings.rawScalaCode = await content.text();
    else settings.command = await this.files.write(file, content);
    await this.jobs.describe(job, type, cluster, settings);
    return this.jobs.submit(job, { args, idempotencyKey });
  }

  /** Serves a function of a Python script, and returns once it can be called. */
  async function(script: Script, name: string, options: FunctionOptions): Promise<ServedFunction> {
    const { cluster, name: given, timeoutMs, signal, ...settings } = options;
    const { name: file, content } = await this.#opened(script);
    const job = given ?? `${file.replace(/\.\w+$/, '')}-${name}`;
    // The run gets the folder of its script, which therefore has one of its own.
    settings.platform_functions_script_path = await this.files.write(`${job}/${file}`, content);
    settings.platform_functions_function_name = name;
    await this.jobs.describe(job, 'PLATFORM_FUNCTIONS', cluster, settings);
    const run = await this.jobs.submit(job);
    await run.running({ timeoutMs, signal });
    return servedFunction(this.#place, run);
  }

  /** Opens the notebook of this name, which is made if it does not exist, with a kernel of its own. */
  async notebook(name: string, options: NotebookOptions): Promise<Notebook> {
    const { cluster, language = 'python3', driver_memory, timeoutMs, signal } = options;
    const { transport } = this.#place.context;
    const path = { workspace_id: await this.id() };
    const body = { notebook_name: name, notebook_type: language, driver_memory, ...chosen('cluster', cluster) };
    try {
      await transport.call(createNotebookConf, { path, body });
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
    const { notebook_id } = await transport.call(createNotebook, { path, body: { notebook_name: name } });
    const notebook = new Notebook(this.#place, notebook_id);
    await notebook.running({ timeoutMs, signal });
    return notebook;
  }

  /**
   * Runs a statement on the workspace's SQL server of this cluster, which is started if it does not run. The server stays, so
   * that the next statement does not wait, until it is idle for as long as the operator allows.
   */
  async sql(statement: string, options: SqlOptions & JobSettings & { cluster: Ref }): Promise<Table> {
    const { cluster, maxRows, timeoutMs, signal, ...settings } = options;
    const run = await this.#sqlServer(cluster, settings);
    await run.running({ timeoutMs, signal });
    return new SqlServer(this.#place, run.id).query(statement, { maxRows, timeoutMs, signal });
  }

  async #sqlServer(cluster: Ref, settings: JobSettings): Promise<Run> {
    const name = `sql-${cluster}`;
    for (const status of ['RUNNING', 'SUBMITTED'] as const) {
      for await (const { job_id } of this.jobs.list({ name, status })) return this.jobs.get(job_id);
    }
    await this.jobs.describe(name, 'THRIFT_SQL', cluster, settings);
    return this.jobs.submit(name);
  }

  async #opened(script: Script): Promise<LocalFile> {
    if (typeof script === 'string') return this.#place.context.host.open(script);
    return script instanceof Blob
      ? { name: script.name, content: script }
      : { name: script.name, content: new Blob([script.content]) };
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Conflict && error.code === NAME_TAKEN;
}

/** The platform splits the arguments as a shell does. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'"'"'`)}'`;
}
