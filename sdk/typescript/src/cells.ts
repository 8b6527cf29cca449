import { ConfigurationError } from './errors.ts';
import { CellFailed } from './failures.ts';
import type { NotebookType } from './generated/types.ts';

/** Limits of the text, of the number of displayed results and of their text that are kept of a cell. */
const MAX_TEXT_LENGTH = 16 << 20;
const MAX_DISPLAYS = 1000;
const MAX_DISPLAYED_LENGTH = 64 << 20;

/** The parts of a kernel's message that are read. */
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
  #displayed = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** The value of the last line as text. */
  get value(): string | undefined {
    const value = this.data?.['text/plain'];
    return typeof value === 'string' ? value : undefined;
  }

  /** Adds a message of the kernel; returns true if it is the reply, which is the last message of this cell. */
  add(message: KernelMessage | null): boolean {
    const { msg_type, parent_header } = message ?? {};
    if (parent_header?.msg_id !== this.id) return false;
    // Code in a kernel can send null, for which a default of destructuring does not apply.
    const content = message?.content ?? {};
    if (msg_type === 'stream' && this.text.length < MAX_TEXT_LENGTH) {
      this.text = (this.text + (content.text ?? '')).slice(0, MAX_TEXT_LENGTH);
    }
    if (msg_type === 'execute_result') this.data = content.data ?? {};
    if (msg_type === 'display_data') this.#display(content.data ?? {});
    if (msg_type !== 'execute_reply') return false;
    if (content.status !== 'ok') this.#failure = failureOf(content);
    return true;
  }

  #display(data: Record<string, unknown>): void {
    const size = Object.values(data).reduce<number>((sum, value) => sum + textOf(value).length, 0);
    if (this.displays.length >= MAX_DISPLAYS || this.#displayed + size > MAX_DISPLAYED_LENGTH) return;
    this.displays.push(data);
    this.#displayed += size;
  }

  /** @throws CellFailed if the code raised an exception */
  result(): this {
    if (this.#failure) throw this.#failure;
    return this;
  }
}

function failureOf({ status = '', ename = 'Error', evalue = status, traceback }: Content): CellFailed {
  return new CellFailed(ename, evalue, Array.isArray(traceback) ? traceback.map(String) : []);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A cell of a notebook file that a kernel can execute. */
export interface CodeCell {
  readonly id: string;
  readonly code: string;
}

interface NotebookFile {
  cells: { id?: unknown; cell_type?: unknown; source?: unknown }[];
  metadata?: { kernelspec?: { language?: string; name?: string } };
}

/** Returns the code cells of an .ipynb file from the platform, where each has an id, without blank ones. */
export function codeCells(content: string): CodeCell[] {
  return notebookOf(content).cells.flatMap(({ id, cell_type, source }) => {
    const code = Array.isArray(source) ? source.join('') : String(source);
    return cell_type === 'code' && code.trim() !== '' ? [{ id: String(id), code }] : [];
  });
}

/** Returns the language that an .ipynb file names, as the platform calls it; Python if it names none. */
export function languageOf(content: string): NotebookType {
  const { language, name } = notebookOf(content).metadata?.kernelspec ?? {};
  const named = (language ?? name ?? '').toLowerCase();
  return (['scala', 'sql'] as const).find((known) => named.includes(known)) ?? 'python3';
}

function notebookOf(content: string): NotebookFile {
  try {
    const notebook = JSON.parse(content) as Partial<NotebookFile> | null;
    if (Array.isArray(notebook?.cells)) return notebook as NotebookFile;
  } catch {
    // The error below says what is wrong, whether this is JSON or not.
  }
  throw new ConfigurationError('The file is not a notebook: it must be a JSON object with a list of cells.');
}
