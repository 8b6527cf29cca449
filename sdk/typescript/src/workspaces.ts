import { languageOf } from './cells.ts';
import { ConfigurationError, Conflict } from './errors.ts';
import { Files, type LocalSource, Secrets } from './files.ts';
import { type ServedFunction, servedFunction } from './functions.ts';
import {
  createJob,
  createJobConf,
  deleteJobConf,
  getJobConf,
  getWorkspace,
  listJobs,
  updateJobConf,
} from './generated/operations.ts';
import type {
  CreateJobConf,
  JobConfRead,
  JobRead,
  JobStatus,
  UpdateJobConf,
  WorkspaceRead,
} from './generated/types.ts';
import { chosen, type Context, type LocalFile, NAME_TAKEN, type Ref } from './host.ts';
import { type Notebook, Notebooks, type NotebookLanguage, type NotebookSettings } from './notebooks.ts';
import type { Upload } from './operation.ts';
import { Place } from './place.ts';
import { Run } from './runs.ts';
import { SqlServer, type SqlOptions } from './sql.ts';
import type { Table } from './table.ts';
import type { WaitOptions } from './waiting.ts';

const JOB_TYPES: Readonly<Record<string, CreateJobConf['job_type']>> = { py: 'Python3', jar: 'Jar', sql: 'SQL' };
const MAX_NAME_LENGTH = 64;

/** Settings of a job, apart from its name and its cluster. */
export type JobSettings = Omit<UpdateJobConf, 'name' | 'cluster_id' | 'cluster_name'>;

/** A script to run: a local file, or a name and the content. */
export type Script = LocalSource | { name: string; content: Upload };

export interface SubmitOptions {
  /** Arguments of the program, for this run only. */
  args?: readonly string[] | undefined;
  /** The same key returns the same run, even from another process. */
  idempotencyKey?: string | undefined;
}

export type RunOptions = JobSettings & SubmitOptions & { cluster: Ref; name?: string };

export type FunctionOptions = JobSettings & WaitOptions & { cluster: Ref; name?: string };

export type NotebookOptions = NotebookSettings & WaitOptions & Pick<NotebookLanguage, 'language'> & { cluster: Ref };

/** The jobs of a workspace, and their runs. */
export class Jobs {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Yields runs, newest first, optionally only those of one job, or with one of the given statuses. */
  async *list(filter: { name?: string; status?: JobStatus | readonly JobStatus[] } = {}): AsyncGenerator<JobRead> {
    const { name, status } = filter;
    const query = { job_conf_name: name, job_status: status === undefined ? undefined : [status].flat() };
    yield* this.#place.context.transport.pages(listJobs, { path: await this.#path(), query });
  }

  /** Returns the run with this id, without a request. */
  get(id: number): Run {
    return new Run(this.#place, id);
  }

  /** Creates the job, or updates the one of this name; settings that are not given keep their values. */
  async define(
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

  /** Deletes a job that has no unfinished runs; its finished runs can still be read. */
  async delete(name: string): Promise<void> {
    const query = { job_conf_name: name };
    await this.#place.context.transport.call(deleteJobConf, { path: await this.#path(), query });
  }

  /** Submits a run of a defined job. `conf` has Spark properties for this run only, each as `key=value`. */
  async submit(name: string, options: SubmitOptions & { conf?: string[] } = {}): Promise<Run> {
    const { args, conf, idempotencyKey } = options;
    const body = { job_conf_name: name, conf, arguments: args?.map(quoted).join(' ') };
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

/** One workspace. Only its methods send requests. */
export class Workspace {
  readonly #place: Place;
  readonly ref: Ref;
  readonly files: Files;
  readonly secrets: Secrets;
  readonly jobs: Jobs;
  readonly notebooks: Notebooks;

  constructor(context: Context, ref: Ref) {
    this.#place = new Place(context, ref);
    this.ref = ref;
    this.files = new Files(this.#place);
    this.secrets = new Secrets(this.#place);
    this.jobs = new Jobs(this.#place);
    this.notebooks = new Notebooks(this.#place);
  }

  id(): Promise<number> {
    return this.#place.id();
  }

  details(): Promise<WorkspaceRead> {
    return this.#place.context.transport.call(getWorkspace, { query: chosen('workspace', this.ref) });
  }

  /** Uploads a script (.py, .jar or .sql), defines a job that runs it, and submits a run. The job is named after the script by default. */
  async run(script: Script, options: RunOptions): Promise<Run> {
    const { args, idempotencyKey, ...definition } = options;
    return this.jobs.submit(await this.defineJob(script, definition), { args, idempotencyKey });
  }

  /** Uploads a script, by default under its own name, and defines a job that runs it; returns the job's name. */
  async defineJob(
    script: Script,
    options: JobSettings & { cluster: Ref; name?: string; path?: string },
  ): Promise<string> {
    const { cluster, name, path, ...settings } = options;
    const { name: file, content } = await this.#opened(script);
    const type = JOB_TYPES[/\.(\w+)$/.exec(file)?.[1] ?? ''];
    if (type === undefined) {
      throw new ConfigurationError(`${file} is not a script: its name must end with .py, .jar or .sql.`);
    }
    const job = name ?? nameOf(file);
    if (type === 'SQL') settings.rawScalaCode = await content.text();
    else settings.command = await this.files.write(path ?? file, content);
    await this.jobs.define(job, type, cluster, settings);
    return job;
  }

  /** Serves a function of a Python script, and returns once it accepts calls. */
  async function(script: Script, name: string, options: FunctionOptions): Promise<ServedFunction> {
    const { cluster, name: given, timeoutMs, signal, onStatus, ...settings } = options;
    const { name: file, content } = await this.#opened(script);
    const job = given ?? nameOf(file, name);
    // The whole folder of the script is copied to the run, so the script gets a folder of its own.
    settings.platform_functions_script_path = await this.files.write(`${job}/${file}`, content);
    settings.platform_functions_function_name = name;
    await this.jobs.define(job, 'PLATFORM_FUNCTIONS', cluster, settings);
    const run = await this.jobs.submit(job);
    await run.waitUntilRunning({ timeoutMs, signal, onStatus });
    return servedFunction(this.#place, run);
  }

  /** Uploads an .ipynb file as a notebook with that name, or updates the settings of an existing notebook; returns the name. */
  async defineNotebook(notebook: Script, options: NotebookSettings & { cluster: Ref }): Promise<string> {
    const { cluster, ...settings } = options;
    if (typeof notebook === 'string' && !notebook.endsWith('.ipynb')) {
      if (!(await this.notebooks.exists(notebook))) {
        const message = `Workspace ${this.ref} has no notebook ${notebook}. Name an .ipynb file to upload it.`;
        throw new ConfigurationError(message);
      }
      await this.notebooks.define(notebook, cluster, settings);
      return notebook;
    }
    const { name: file, content } = await this.#opened(notebook);
    const name = nameOf(file);
    const language = languageOf(await content.text());
    const path = await this.files.write(`${name}.ipynb`, content);
    await this.notebooks.define(name, cluster, { ...settings, language, path });
    return name;
  }

  /** Opens the notebook with this name in a new kernel. It is created if it does not exist. */
  async notebook(name: string, options: NotebookOptions): Promise<Notebook> {
    const { cluster, timeoutMs, signal, onStatus, ...settings } = options;
    await this.notebooks.define(name, cluster, settings);
    const notebook = await this.notebooks.start(name);
    await notebook.waitUntilRunning({ timeoutMs, signal, onStatus });
    return notebook;
  }

  /**
   * Runs a statement on the workspace's SQL server on this cluster, which is started if it does not run. The server keeps
   * running for later statements, until its idle timeout, which the operator sets.
   */
  async sql(statement: string, options: SqlOptions & JobSettings & { cluster: Ref }): Promise<Table> {
    const { cluster, maxRows, timeoutMs, signal, onStatus, ...settings } = options;
    const run = await this.#sqlRun(cluster, settings);
    await run.waitUntilRunning({ timeoutMs, signal, onStatus });
    return (await this.sqlServer(run.id)).query(statement, { maxRows, timeoutMs, signal });
  }

  /** Returns the SQL server with the id of its run, for sessions of several statements. */
  async sqlServer(id: number): Promise<SqlServer> {
    return new SqlServer(this.#place.context.transport, { workspaceId: await this.#place.id(), jobId: id });
  }

  async #sqlRun(cluster: Ref, settings: JobSettings): Promise<Run> {
    const name = `sql-${cluster}`;
    const status = ['RUNNING', 'SUBMITTED'] as const;
    for await (const { job_id } of this.jobs.list({ name, status })) return this.jobs.get(job_id);
    await this.jobs.define(name, 'THRIFT_SQL', cluster, settings);
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

/**
 * Returns the name of a file without its extension, in the characters that names of records may have. Letters lose their accents.
 * @throws ConfigurationError for a name in another script, which leaves none of its letters
 */
function nameOf(file: string, suffix = ''): string {
  const text = [file.replace(/\.\w+$/, ''), suffix].filter((part) => part !== '').join('-');
  const name = text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9.@_-]+/g, '-')
    .slice(0, MAX_NAME_LENGTH);
  if (/[a-z0-9]/.test(name)) return name;
  throw new ConfigurationError(
    `${file} has no letter from a to z and no digit that a name could be made of. Pass a name.`,
  );
}

/** The platform splits the arguments as a shell does. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'"'"'`)}'`;
}
