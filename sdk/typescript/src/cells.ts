import { CellFailed } from './failures.ts';

/** The most characters and the most displayed results that are kept of a cell. */
const MAX_TEXT = 16 << 20;
const MAX_DISPLAYS = 1000;

/** A message of a kernel, as far as it is read. */
interface KernelMessage {
  msg_type?: string;
  parent_header?: { msg_id?: string };
  content?: Content;
}

interface Content {
  text?: string;
  data?: Record<string, unknown>;
  status?: string;
  ename?: string;
  evalue?: string;
  traceback?: unknown[];
}

/** A cell of a notebook, with the output of its code. */
export class Cell {
  readonly id: string;
  /** The text that the cell printed. */
  text = '';
  /** The value of its last line, by MIME type; undefined without one. */
  data: Record<string, unknown> | undefined;
  /** The results that it displayed, by MIME type. */
  readonly displays: Record<string, unknown>[] = [];
  #failure: CellFailed | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** The value of the last line as text. */
  get value(): string | undefined {
    const value = this.data?.['text/plain'];
    return typeof value === 'string' ? value : undefined;
  }

  /** Takes a message of the kernel; returns true if it is the reply, which is the last one of this cell. */
  add({ msg_type, parent_header, content = {} }: KernelMessage): boolean {
    if (parent_header?.msg_id !== this.id) return false;
    if (msg_type === 'stream') this.text = (this.text + (content.text ?? '')).slice(0, MAX_TEXT);
    if (msg_type === 'execute_result') this.data = content.data ?? {};
    if (msg_type === 'display_data' && this.displays.length < MAX_DISPLAYS) this.displays.push(content.data ?? {});
    if (msg_type !== 'execute_reply') return false;
    if (content.status !== 'ok') this.#failure = failureOf(content);
    return true;
  }

  /** @throws CellFailed if the code raised an exception */
  result(): this {
    if (this.#failure) throw this.#failure;
    return this;
  }
}

function failureOf({ status = '', ename = 'Error', evalue = status, traceback = [] }: Content): CellFailed {
  return new CellFailed(ename, evalue, traceback.map(String));
}
