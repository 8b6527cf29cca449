/** An output of a cell, as nbformat 4.5 has it. */
export type Output =
  | { output_type: 'stream'; name: string; text: string }
  | { output_type: 'display_data' | 'execute_result'; data: Readonly<Record<string, unknown>>; displayId?: string }
  | { output_type: 'error'; ename: string; evalue: string; traceback: readonly string[] };

export type ExecutionState = 'idle' | 'queued' | 'running';
export type ExecutionResult = 'ok' | 'error' | 'aborted';

/** The last execution of a cell, as far as it is known. */
export interface Execution {
  readonly state: ExecutionState;
  /** Null before its first end. */
  readonly result: ExecutionResult | null;
  readonly count: number | null;
  readonly outputs: readonly Output[];
  /** Times of this browser's clock; null if it has not seen the beginning or the end. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** True if the next output replaces the others. */
  readonly clearsNext: boolean;
  /** False if the beginning was not seen, so that the outputs have to be read from the server. */
  readonly isWhole: boolean;
}

export const NOT_EXECUTED: Execution = {
  state: 'idle',
  result: null,
  count: null,
  outputs: [],
  startedAt: null,
  endedAt: null,
  clearsNext: false,
  isWhole: true,
};

/** The server keeps so many outputs of a cell, and so much printed text. */
const MAX_OUTPUTS = 100;
const MAX_TEXT = 1024 * 1024;

/** A message of the kernel, as far as it is read. */
export interface KernelMessage {
  msg_type?: unknown;
  header?: { msg_type?: unknown };
  parent_header?: { msg_id?: unknown; msg_type?: unknown };
  content?: Content;
}

export type Content = Readonly<Record<string, unknown>>;

/** Returns what is known of a cell after a message about its execution. */
export function afterMessage(before: Execution, type: string, content: Content, now: number): Execution {
  switch (type) {
    case 'execute_input':
      return {
        ...NOT_EXECUTED,
        state: 'running',
        count: countOf(content) ?? before.count,
        startedAt: now,
      };
    case 'clear_output':
      return content['wait'] === true ? { ...before, clearsNext: true } : { ...before, outputs: [], clearsNext: false };
    case 'execute_reply':
      return afterReply(before, content, now);
    case 'update_display_data':
      return { ...before, outputs: updated(before.outputs, content) };
    default:
      return afterOutput(before, readOutput({ ...content, output_type: type }));
  }
}

function afterReply(before: Execution, content: Content, now: number): Execution {
  const { status } = content;
  const result: ExecutionResult = status === 'ok' || status === 'aborted' ? status : 'error';
  const ended: Execution = { ...before, state: 'idle', result, endedAt: now, count: countOf(content) ?? before.count };
  // A refused request has printed nothing, so the reply is all that says why.
  const hasError = before.outputs.some(({ output_type: kind }) => kind === 'error');
  if (result === 'ok' || hasError || typeof content['evalue'] !== 'string' || before.state !== 'queued') return ended;
  return afterOutput({ ...ended, outputs: [] }, readOutput({ ...content, output_type: 'error' }));
}

function afterOutput(before: Execution, output: Output | null): Execution {
  if (!output) return before;
  const outputs = before.clearsNext ? [] : before.outputs;
  return { ...before, clearsNext: false, outputs: appended(outputs, output) };
}

/** Consecutive texts of a stream are one output. */
function appended(outputs: readonly Output[], output: Output): readonly Output[] {
  const last = outputs.at(-1);
  if (output.output_type === 'stream' && last?.output_type === 'stream' && last.name === output.name) {
    return [...outputs.slice(0, -1), { ...last, text: (last.text + output.text).slice(-MAX_TEXT) }];
  }
  return outputs.length < MAX_OUTPUTS ? [...outputs, output] : [...outputs.slice(0, -1), output];
}

function updated(outputs: readonly Output[], content: Content): readonly Output[] {
  const change = readOutput({ ...content, output_type: 'display_data' });
  if (!change || !('displayId' in change) || change.displayId === undefined) return outputs;
  return outputs.map((one) => ('displayId' in one && one.displayId === change.displayId ? change : one));
}

/** Reads an output of a file or a kernel, which may be anything; null if it is none. */
export function readOutput(value: unknown): Output | null {
  if (!isObject(value)) return null;
  switch (value['output_type']) {
    case 'stream':
      return { output_type: 'stream', name: textOf(value['name']), text: textOf(value['text']).slice(-MAX_TEXT) };
    case 'display_data':
    case 'execute_result':
      return displayed(value['output_type'], value);
    case 'error':
      return {
        output_type: 'error',
        ename: textOf(value['ename']),
        evalue: textOf(value['evalue']),
        traceback: Array.isArray(value['traceback']) ? value['traceback'].map(textOf) : [],
      };
    default:
      return null;
  }
}

function displayed(output_type: 'display_data' | 'execute_result', { data, transient }: Content): Output | null {
  if (!isObject(data)) return null;
  const id = isObject(transient) ? transient['display_id'] : undefined;
  return { output_type, data, ...(typeof id === 'string' ? { displayId: id } : {}) };
}

/** Returns the text of a value of nbformat, which may be a list of lines. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join('');
  return typeof value === 'string' ? value : '';
}

export function countOf({ execution_count: count }: Content): number | null {
  return typeof count === 'number' && count > 0 ? count : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
