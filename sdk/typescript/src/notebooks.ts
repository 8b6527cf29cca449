import { Cell, type CodeCell, codeCells } from './cells.ts';
import { Conflict, NotFound, Unreachable } from './errors.ts';
import { RunFailed } from './failures.ts';
import {
  createNotebook,
  createNotebookConf,
  downloadNotebookRun,
  exportNotebookConf,
  getNotebook,
  getNotebookConf,
  interruptKernel,
  killNotebook,
  listNotebooks,
  updateNotebookConf,
} from './generated/operations.ts';
import type { JobStatus, NotebookRead, NotebookType, UpdateNotebookConf } from './generated/types.ts';
import { chosen, NAME_TAKEN, type Ref } from './host.ts';
import type { Place } from './place.ts';
import { isFinished } from './runs.ts';
import { settled, SocketBroken } from './sockets.ts';
import { randomId } from './transport.ts';
import { backoffMs, Deadline, Pauses, sleep, type WaitOptions } from './waiting.ts';

const START_MS = 1_800_000;
const CELL_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
const STOP_MS = 600_000;
const OPEN_MS = 30_000;
const MAX_RECONNECTS = 5;
/** `WebSocket.OPEN`, which is missing if a package provides the WebSockets. */
const OPEN = 1;

export interface ExecuteOptions extends WaitOptions {
  /** Called with the cell after each message of the kernel, to show its output so far. */
  onOutput?: ((cell: Cell) => void) | undefined;
  /** Id of the cell of the notebook in which the outputs are stored. */
  cellId?: string | undefined;
}

/** Settings of a notebook, apart from its name, its file and its cluster. */
export type NotebookSettings = Omit<
  UpdateNotebookConf,
  'notebook_name' | 'notebook_path' | 'cluster_id' | 'cluster_name'
>;

export interface NotebookLanguage {
  language?: NotebookType | undefined;
  /** Its .ipynb file in the workspace, `<name>.ipynb` by default. An existing file becomes the notebook. */
  path?: string | undefined;
}

/** A notebook with a running kernel. */
export class Notebook {
  readonly #place: Place;
  readonly #session = `${randomId()}_session`;
  #socket: WebSocket | undefined;
  readonly id: number;

  constructor(place: Place, id: number) {
    this.#place = place;
    this.id = id;
  }

  async details(): Promise<NotebookRead> {
    return this.#place.context.transport.call(getNotebook, { path: await this.#path() });
  }

  /** Waits until the kernel can execute cells. @throws RunFailed if the notebook ends before that */
  async waitUntilRunning(options: WaitOptions = {}): Promise<void> {
    const pauses = new Pauses(new Deadline(options.timeoutMs ?? START_MS, `Notebook ${this.id}`), options);
    for (;;) {
      const status = await this.#usableStatus();
      if (status === 'RUNNING') return;
      await pauses.next(status);
    }
  }

  /** Returns the code cells of the notebook as it was when this instance was started. */
  async cells(): Promise<CodeCell[]> {
    const file = await this.#place.context.transport.call(downloadNotebookRun, { path: await this.#path() });
    return codeCells(await file.text());
  }

  /**
   * Executes the cells of the notebook in order, and yields each when it is done. The platform stores the outputs in the
   * notebook. An instance executes each cell only once: when called again, even by another process, this continues where it stopped.
   * @throws CellFailed at the first cell that raises an exception
   */
  async *runCells(options: Omit<ExecuteOptions, 'cellId'> = {}): AsyncGenerator<Cell> {
    const deadline = new Deadline(options.timeoutMs ?? DAY_MS, `Notebook ${this.id}`);
    for (const { id, code } of await this.cells()) {
      yield await this.execute(code, { ...options, timeoutMs: deadline.leftMs, cellId: id });
    }
  }

  /** Executes code exactly once, even if the connection breaks. @throws CellFailed if the code raises an exception */
  async execute(code: string, options: ExecuteOptions = {}): Promise<Cell> {
    const { timeoutMs = CELL_MS, signal } = options;
    const deadline = new Deadline(timeoutMs, `The cell in notebook ${this.id}`);
    const cell = new Cell(options.cellId ?? `sdk-${randomId()}`);
    // The kernel knows the id: sent again, it answers with the same reply and executes nothing.
    const message = { header: { msg_id: cell.id, msg_type: 'execute_request' }, content: { code } };
    for (let broken = 0; ; broken += 1) {
      try {
        const socket = await this.#open({ timeoutMs: Math.min(OPEN_MS, deadline.leftMs), signal });
        await this.#exchange(socket, JSON.stringify(message), cell, { ...options, timeoutMs: deadline.leftMs });
        return cell.result();
      } catch (error) {
        if (!(error instanceof SocketBroken)) throw error;
        this.disconnect();
        deadline.check();
        if (broken >= MAX_RECONNECTS) throw new Unreachable(`Notebook ${this.id}: ${error.message}`, { cause: error });
      }
      await sleep(backoffMs(broken), signal);
    }
  }

  async interrupt(): Promise<void> {
    await this.#place.context.transport.call(interruptKernel, { path: await this.#path() });
  }

  /** Requests the end of the kernel without waiting for it; the notebook and its outputs are kept. */
  async kill(): Promise<void> {
    await this.#place.context.transport.call(killNotebook, { path: await this.#path() });
  }

  /** Stops the kernel and waits until it has ended; the notebook and its outputs are kept. */
  async stop(options: WaitOptions = {}): Promise<void> {
    this.disconnect();
    await this.kill();
    const deadline = new Deadline(options.timeoutMs ?? STOP_MS, `Stopping notebook ${this.id}`);
    const pauses = new Pauses(deadline, options);
    for (;;) {
      const { notebook_status: status } = await this.details();
      if (isFinished(status)) return;
      await pauses.next(status);
    }
  }

  /** Closes the connection to the kernel, which keeps running. */
  disconnect(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  async #path() {
    return { workspace_id: await this.#place.id(), notebook_id: this.id };
  }

  async #usableStatus(): Promise<JobStatus> {
    const { notebook_status: status, reason_code: code, reason } = await this.details();
    if (!isFinished(status)) return status;
    throw new RunFailed({
      kind: 'Notebook',
      id: this.id,
      status,
      code,
      reason,
      logUrl: `${await this.#url()}/log/stderr`,
    });
  }

  async #url(): Promise<string> {
    const { workspace_id } = await this.#path();
    const path = getNotebook.path.replace('{workspace_id}', String(workspace_id));
    return this.#place.context.transport.url + path.replace('{notebook_id}', String(this.id));
  }

  async #open(bounds: { timeoutMs: number; signal: AbortSignal | undefined }): Promise<WebSocket> {
    if (this.#socket?.readyState === OPEN) return this.#socket;
    const { transport, host } = this.#place.context;
    const token = await transport.session.token?.(transport);
    // A browser sends its cookie. A token has to be in the path, so the address must not be shown in errors.
    const path = token === undefined ? 'socket' : `ws/${this.#session}/${token}`;
    const socket = host.openSocket(`${await this.#url()}/kernel/${path}`.replace(/^http/, 'ws'));
    try {
      await settled(socket, bounds, ({ resolve, signal }) => socket.addEventListener('open', resolve, { signal }));
    } catch (error) {
      socket.close();
      // A WebSocket client is not informed why it was refused. The state of the notebook shows whether it has ended or is forbidden.
      if (error instanceof SocketBroken) await this.#usableStatus();
      throw error;
    }
    this.#socket = socket;
    return socket;
  }

  async #exchange(
    socket: WebSocket,
    message: string,
    cell: Cell,
    { onOutput, timeoutMs, signal }: ExecuteOptions & { timeoutMs: number },
  ): Promise<void> {
    await settled(socket, { timeoutMs, signal }, (settle) => {
      const take = ({ data }: MessageEvent): void => {
        const isReply = cell.add(JSON.parse(String(data)) as Parameters<Cell['add']>[0]);
        onOutput?.(cell);
        if (isReply) settle.resolve();
      };
      const onMessage = (event: MessageEvent): void => {
        try {
          take(event);
        } catch (error) {
          settle.reject(error as Error);
        }
      };
      socket.addEventListener('message', onMessage, { signal: settle.signal });
      socket.send(message);
    });
  }
}

/** The notebooks of a workspace and their instances. */
export class Notebooks {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Yields instances, the newest first. */
  async *list({ status }: { status?: JobStatus | readonly JobStatus[] } = {}): AsyncGenerator<NotebookRead> {
    const query = { notebook_status: status === undefined ? undefined : [status].flat() };
    try {
      yield* this.#place.context.transport.pages(listNotebooks, { path: await this.#path(), query });
    } catch (error) {
      // This operation answers 404 instead of an empty list.
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Returns the instance with this id, without a request. */
  get(id: number): Notebook {
    return new Notebook(this.#place, id);
  }

  /** Creates the notebook, or updates the one of this name; settings that are not given keep their values. */
  async define(name: string, cluster: Ref, options: NotebookSettings & NotebookLanguage = {}): Promise<void> {
    const { language = 'python3', path: file, ...settings } = options;
    const { transport } = this.#place.context;
    const path = await this.#path();
    const body = { ...settings, ...chosen('cluster', cluster) };
    try {
      const created = { ...body, notebook_name: name, notebook_type: language, notebook_path: file };
      await transport.call(createNotebookConf, { path, body: created });
    } catch (error) {
      if (!(error instanceof Conflict && error.code === NAME_TAKEN)) throw error;
      await transport.call(updateNotebookConf, { path, query: { notebook_name: name }, body });
    }
  }

  /** Starts an instance of a notebook without waiting for its kernel. The same key returns the same instance. */
  async start(name: string, options: { conf?: string[]; idempotencyKey?: string } = {}): Promise<Notebook> {
    const { conf, idempotencyKey } = options;
    const body = { notebook_name: name, conf };
    const path = await this.#path();
    const { notebook_id } = await this.#place.context.transport.call(createNotebook, { path, body, idempotencyKey });
    return this.get(notebook_id);
  }

  async exists(name: string): Promise<boolean> {
    try {
      const query = { notebook_name: name };
      await this.#place.context.transport.call(getNotebookConf, { path: await this.#path(), query });
      return true;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  /** Returns the notebook with its outputs, as the content of an .ipynb file. */
  async export(name: string): Promise<Blob> {
    const query = { notebook_name: name };
    return this.#place.context.transport.call(exportNotebookConf, { path: await this.#path(), query });
  }

  async #path() {
    return { workspace_id: await this.#place.id() };
  }
}
