import { Cell } from './cells.ts';
import { Unreachable } from './errors.ts';
import { RunFailed } from './failures.ts';
import { getNotebook, interruptKernel, killNotebook } from './generated/operations.ts';
import type { NotebookRead } from './generated/types.ts';
import type { WaitOptions } from './host.ts';
import type { Place } from './place.ts';
import { isFinished } from './runs.ts';
import { settled, SocketBroken } from './sockets.ts';
import { randomId } from './transport.ts';
import { backoffMs, Deadline, Pauses, sleep } from './waiting.ts';

const START_MS = 1_800_000;
const CELL_MS = 3_600_000;
const STOP_MS = 600_000;
const OPEN_MS = 30_000;
const MAX_RECONNECTS = 5;
/** `WebSocket.OPEN`, which is not there if a package makes the sockets. */
const OPEN = 1;

export interface ExecuteOptions extends WaitOptions {
  /** It is called with the cell after each message of the kernel, to show what it printed so far. */
  onOutput?: (cell: Cell) => void;
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

  /** Returns once the kernel can execute cells. @throws RunFailed if the notebook ended before */
  async running({ timeoutMs = START_MS, signal }: WaitOptions = {}): Promise<void> {
    const pauses = new Pauses(new Deadline(timeoutMs, `Notebook ${this.id}`));
    while (!(await this.#isRunning())) await pauses.next(signal);
  }

  /** Executes code once, also if the connection breaks meanwhile. @throws CellFailed if it raises an exception */
  async execute(code: string, options: ExecuteOptions = {}): Promise<Cell> {
    const { timeoutMs = CELL_MS, signal } = options;
    const deadline = new Deadline(timeoutMs, `The cell in notebook ${this.id}`);
    const cell = new Cell(`sdk-${randomId()}`);
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

  /** Stops the kernel; the notebook and its outputs stay. */
  async stop({ timeoutMs = STOP_MS, signal }: WaitOptions = {}): Promise<void> {
    this.disconnect();
    await this.#place.context.transport.call(killNotebook, { path: await this.#path() });
    const pauses = new Pauses(new Deadline(timeoutMs, `The stop of notebook ${this.id}`));
    while (!isFinished((await this.details()).notebook_status)) await pauses.next(signal);
  }

  /** Closes the connection to the kernel, which goes on. */
  disconnect(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  async #path() {
    return { workspace_id: await this.#place.id(), notebook_id: this.id };
  }

  async #isRunning(): Promise<boolean> {
    const { notebook_status: status, reason_code: code, reason } = await this.details();
    if (status === 'RUNNING') return true;
    if (!isFinished(status)) return false;
    throw new RunFailed({ id: this.id, status, code, reason, logUrl: `${await this.#url()}/log/stderr` });
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
    // The path has to hold the token, so the address must not be shown in errors.
    const address = `${await this.#url()}/kernel/ws/${this.#session}${token === undefined ? '' : `/${token}`}`;
    const socket = host.openSocket(address.replace(/^http/, 'ws'));
    try {
      await settled(socket, bounds, ({ resolve, signal }) => socket.addEventListener('open', resolve, { signal }));
    } catch (error) {
      socket.close();
      // A client does not learn why a socket is refused. The notebook says so, if it may not be used or has ended.
      if (error instanceof SocketBroken) await this.#isRunning();
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
