import { backoffMs, sleep } from 'managed-spark/core';
import {
  afterMessage,
  type Content,
  type Execution,
  type ExecutionState,
  type KernelMessage,
  NOT_EXECUTED,
  textOf,
} from './outputs';
import {
  type KernelKey,
  type KeptOutputs,
  kernelSocketUrl,
  type NotebookKey,
  readOutputs,
  unansweredOf,
} from './notebooks-api';
import { Store } from './store';

/** Outputs of cells whose beginning was not seen are read from the server, not more often than this. */
const REFRESH_MS = 1_500;
/** A kernel reads its libraries for the first completion, which takes seconds on a busy node; a later answer is of no use. */
const ANSWER_MS = 20_000;
const POLICY_VIOLATION = 1008;
const NORMAL = 1000;

const OUTPUT_TYPES = new Set([
  'execute_input',
  'stream',
  'display_data',
  'execute_result',
  'update_display_data',
  'error',
  'clear_output',
  'execute_reply',
]);

interface KernelState {
  connection: 'none' | 'connecting' | 'open';
  /** The state that the kernel says of itself; null without a connection. */
  kernel: string | null;
  executions: Readonly<Record<string, Execution>>;
}

interface Waiting {
  resolve: (content: Content | null) => void;
  timer: ReturnType<typeof setTimeout>;
}

interface Sent {
  msgId: string;
  cellId: string;
  code: string;
}

/**
 * The conversation with the kernel of a notebook. It continues after a connection breaks: the server sends what was missed, and
 * executes nothing twice. The outputs are the server's, too, so what ran without a browser is read from there.
 */
export class KernelSession extends Store<KernelState> {
  readonly #key: NotebookKey;
  readonly #onSessionEnd: () => void;
  #kernel: KernelKey | null = null;
  #socket: WebSocket | null = null;
  /** Ends the connection that is kept. */
  #keeping: AbortController | null = null;
  /** Executions without a reply, in their order; they are sent again after the connection broke. */
  #sent: Sent[] = [];
  readonly #waiting = new Map<string, Waiting>();
  #refreshing: ReturnType<typeof setTimeout> | undefined;

  /** @param onSessionEnd called if the server closes the socket because its session has ended */
  constructor(key: NotebookKey, onSessionEnd: () => void) {
    super({ connection: 'none', kernel: null, executions: {} });
    this.#key = key;
    this.#onSessionEnd = onSessionEnd;
  }

  /** Uses the kernel of this instance from now on; null if none is running. */
  use(kernel: KernelKey | null): void {
    if (kernel?.notebookId === this.#kernel?.notebookId) return;
    this.#keeping?.abort();
    this.#kernel = kernel;
    this.#socket?.close(NORMAL);
    this.#socket = null;
    this.set({ connection: kernel ? 'connecting' : 'none', kernel: null });
    if (!kernel) return;
    const keeping = new AbortController();
    this.#keeping = keeping;
    void this.#keepOpen(kernel, keeping.signal);
  }

  dispose(): void {
    this.use(null);
    clearTimeout(this.#refreshing);
  }

  executionOf(cellId: string): Execution {
    return this.state.executions[cellId] ?? NOT_EXECUTED;
  }

  /** Executes a cell, as soon as there is a kernel. */
  execute(cellId: string, code: string): void {
    const one = { msgId: `${cellId}:${crypto.randomUUID().slice(0, 8)}`, cellId, code };
    this.#sent.push(one);
    this.#update(cellId, {
      ...this.executionOf(cellId),
      state: 'queued',
      result: null,
      startedAt: null,
      endedAt: null,
    });
    this.#sendExecution(one);
  }

  /** True if cells wait that no kernel has been sent. */
  get hasWaiting(): boolean {
    return this.#sent.length > 0;
  }

  /** Forgets executions that were not answered, since their kernel has ended. */
  forgetExecutions(): void {
    for (const { cellId } of this.#sent)
      this.#update(cellId, { ...this.executionOf(cellId), state: 'idle', result: 'aborted' });
    this.#sent = [];
    const { executions } = this.state;
    for (const [cellId, one] of Object.entries(executions)) {
      if (one.state !== 'idle') this.#update(cellId, { ...one, state: 'idle', result: 'aborted' });
    }
  }

  /** Asks the kernel for completions or an explanation; null if it does not answer in time. */
  ask(type: 'complete_request' | 'inspect_request', content: Content): Promise<Content | null> {
    const msgId = `ask-${crypto.randomUUID()}`;
    if (this.#socket?.readyState !== WebSocket.OPEN) return Promise.resolve(null);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer(msgId, null), ANSWER_MS);
      this.#waiting.set(msgId, { resolve, timer });
      this.#send(msgId, type, content);
    });
  }

  /** Reads the outputs that the server keeps, for all cells whose own outputs are not whole. */
  async refresh(): Promise<void> {
    const asked = this.state.executions;
    const kept = await readOutputs(this.#key).catch(() => null);
    if (!kept) return;
    const executions = { ...this.state.executions };
    for (const [id, outputs] of kept) {
      const before = executions[id] ?? NOT_EXECUTED;
      // The last outputs may be missing if the cell still ran when the server was asked.
      const wasIdle = (asked[id]?.state ?? 'idle') === 'idle';
      if (before.startedAt === null || !before.isWhole) executions[id] = withKept(before, outputs, wasIdle);
    }
    this.set({ executions });
  }

  clearOutputs(): void {
    const executions = Object.entries(this.state.executions).map(
      ([id, one]) => [id, one.state === 'idle' ? NOT_EXECUTED : one] as const,
    );
    this.set({ executions: Object.fromEntries(executions) });
  }

  async #keepOpen(kernel: KernelKey, signal: AbortSignal): Promise<void> {
    for (let broken = 0; !signal.aborted; broken += 1) {
      const wasOpen = await this.#untilClosed(kernel, signal);
      if (signal.aborted) return;
      if (wasOpen) broken = 0;
      this.set({ connection: 'connecting', kernel: null });
      await sleep(backoffMs(broken), signal).catch(() => undefined);
    }
  }

  /** Returns when the socket has closed; true if it was open. */
  #untilClosed(kernel: KernelKey, signal: AbortSignal): Promise<boolean> {
    const socket = new WebSocket(kernelSocketUrl(kernel));
    this.#socket = socket;
    let wasOpen = false;
    return new Promise((resolve) => {
      socket.addEventListener('open', () => {
        wasOpen = true;
        this.set({ connection: 'open' });
        for (const one of this.#sent) this.#sendExecution(one);
        void this.#catchUp(kernel, signal);
      });
      socket.addEventListener('message', ({ data }) => {
        if (!signal.aborted) this.#onMessage(String(data));
      });
      socket.addEventListener('close', ({ code, reason }) => {
        if (code === POLICY_VIOLATION && reason.startsWith('AUTH')) this.#onSessionEnd();
        // The frames that this page has missed are no longer there; the cells have their outputs.
        if (code === POLICY_VIOLATION) this.#refreshSoon();
        resolve(wasOpen);
      });
    });
  }

  /** Learns which cells run or wait, also those that somebody else or an earlier page has sent. */
  async #catchUp(kernel: KernelKey, signal: AbortSignal): Promise<void> {
    const unanswered = await unansweredOf(kernel).catch(() => null);
    if (!unanswered || signal.aborted) return;
    const states = new Map<string, ExecutionState>();
    unanswered.forEach((msgId, index) => states.set(cellIdOf(msgId), index === 0 ? 'running' : 'queued'));
    for (const { cellId } of this.#sent) if (!states.has(cellId)) states.set(cellId, 'queued');
    for (const [cellId, state] of states) {
      const before = this.executionOf(cellId);
      if (before.state === 'idle') this.#update(cellId, { ...before, state, result: null, isWhole: false });
    }
    for (const [cellId, one] of Object.entries(this.state.executions)) {
      if (one.state !== 'idle' && !states.has(cellId)) this.#update(cellId, { ...one, state: 'idle', isWhole: false });
    }
    this.#refreshSoon();
  }

  #onMessage(text: string): void {
    const message = JSON.parse(text) as KernelMessage;
    const type = textOf(message.msg_type ?? message.header?.msg_type);
    const parent = textOf(message.parent_header?.msg_id);
    const { content = {} } = message;
    if (type === 'complete_reply' || type === 'inspect_reply') this.#answer(parent, content);
    else if (type === 'status') this.#onStatus(textOf(message.parent_header?.msg_type), content);
    else if (OUTPUT_TYPES.has(type) && parent !== '') this.#onExecution(parent, type, content);
  }

  /** A kernel is busy for a moment with a completion, too, which nobody has to wait for. */
  #onStatus(requestType: string, content: Content): void {
    if (requestType === '' || requestType === 'execute_request') {
      this.set({ kernel: textOf(content['execution_state']) });
    }
  }

  #onExecution(msgId: string, type: string, content: Content): void {
    if (type === 'execute_reply') this.#sent = this.#sent.filter((one) => one.msgId !== msgId);
    const cellId = cellIdOf(msgId);
    const before = this.executionOf(cellId);
    const isSeen =
      type === 'execute_input' || (before.isWhole && (before.startedAt !== null || before.state === 'queued'));
    if (!isSeen) this.#refreshSoon();
    const after = afterMessage(before, type, content, Date.now());
    this.#update(cellId, isSeen ? after : { ...before, ...stateAfter(type, after), isWhole: false });
  }

  #sendExecution({ msgId, code }: Sent): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#send(msgId, 'execute_request', { code });
  }

  #send(msgId: string, type: string, content: Content): void {
    this.#socket?.send(JSON.stringify({ header: { msg_id: msgId, msg_type: type }, content }));
  }

  #answer(msgId: string, content: Content | null): void {
    const waiting = this.#waiting.get(msgId);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(msgId);
    waiting.resolve(content);
  }

  #update(cellId: string, execution: Execution): void {
    this.set({ executions: { ...this.state.executions, [cellId]: execution } });
  }

  #refreshSoon(): void {
    this.#refreshing ??= setTimeout(() => {
      this.#refreshing = undefined;
      void this.refresh();
    }, REFRESH_MS);
  }
}

/** Returns the id of the cell that a request executes: what stands before the colon. */
function cellIdOf(msgId: string): string {
  return msgId.split(':', 1)[0] ?? '';
}

function stateAfter(type: string, { state, result, endedAt, count }: Execution): Partial<Execution> {
  return type === 'execute_reply' ? { state, result, endedAt, count } : { state: 'running' };
}

/** Once a cell is idle, what the server keeps of it is all of it. */
function withKept(before: Execution, { outputs, count }: KeptOutputs, wasIdle: boolean): Execution {
  const result = before.result ?? (outputs.some(({ output_type: type }) => type === 'error') ? 'error' : null);
  const isWhole = wasIdle && before.state === 'idle';
  return { ...before, outputs, count: count ?? before.count, result, isWhole };
}
