import type { KeyboardEvent } from 'react';
import { type Cell, newCell } from './cells';
import type { CellEditorCalls } from './cell-editor';
import type { KernelSession } from './kernel-session';
import type { NotebookDocument } from './notebook-document';

export interface Focused {
  id: string;
  part: 'cell' | 'editor';
}

interface Parts {
  document: NotebookDocument;
  session: KernelSession;
  canEdit: () => boolean;
  canRun: () => boolean;
  setFocus: (focused: Focused) => void;
  /** Starts a kernel if there is none. */
  wantKernel: () => void;
}

/** Two keys that belong together, such as d d, are pressed within this time. */
const CHORD_MS = 800;

/** Does what people want of cells, by buttons and keys. It stays the same for the life of a screen, so cells are drawn only for changes. */
export class NotebookActions {
  readonly #parts: Parts;
  #lastKey = { key: '', at: 0 };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly ask: CellEditorCalls['ask'] = (type, content) => this.#parts.session.ask(type, content);

  edit(id: string, change: Partial<Cell>): void {
    if (this.#parts.canEdit()) this.#parts.document.edit(id, change);
  }

  move(id: string, by: number): void {
    if (this.#parts.canEdit()) this.#parts.document.move(id, by);
  }

  focus(id: string, part: Focused['part']): void {
    this.#parts.setFocus({ id, part });
  }

  /** Called when a part of a cell has got the focus. */
  onFocus(id: string, part: Focused['part']): void {
    this.#parts.setFocus({ id, part });
  }

  /** Goes to a neighbour; false if there is none. */
  step(id: string, by: number, part: Focused['part']): boolean {
    const next = this.#cells[this.#indexOf(id) + by];
    if (next) this.focus(next.id, next.type === 'markdown' ? 'cell' : part);
    return next !== undefined;
  }

  insert(at: number, type: Cell['type']): void {
    if (!this.#parts.canEdit()) return;
    const cell = newCell(type);
    this.#parts.document.insert(at, cell);
    this.focus(cell.id, 'editor');
  }

  remove(id: string): void {
    if (!this.#parts.canEdit()) return;
    const at = this.#indexOf(id);
    const next = this.#cells[at + 1] ?? this.#cells[at - 1];
    this.#parts.document.remove(id);
    if (next) this.focus(next.id, 'cell');
  }

  undoRemove(): void {
    const cell = this.#parts.document.undoRemove();
    if (cell) this.focus(cell.id, 'cell');
  }

  run(cell: Cell, then: 'next' | 'stay' | 'insert'): void {
    const at = this.#indexOf(cell.id);
    void this.runCells([cell.id]);
    if (then === 'insert' || (then === 'next' && at === this.#cells.length - 1)) this.insert(at + 1, 'code');
    else if (then === 'next') this.step(cell.id, 1, 'cell');
    else if (cell.type === 'markdown') this.focus(cell.id, 'cell');
  }

  /** Runs cells as they are now: they are saved first, because outputs are kept for cells that the server knows. */
  async runCells(ids: readonly string[]): Promise<void> {
    const { document, session, canRun, wantKernel } = this.#parts;
    if (!canRun()) return;
    await document.save();
    const cells = ids.flatMap((id) => this.#cells.find((cell) => cell.id === id) ?? []);
    const runnable = cells.filter(({ type, source }) => type === 'code' && source.trim() !== '');
    if (runnable.length === 0) return;
    for (const { id, source } of runnable) session.execute(id, source);
    wantKernel();
  }

  async runAll(): Promise<void> {
    await this.runCells(this.#cells.map(({ id }) => id));
  }

  /** Does what a key means for a cell as a whole, as in Jupyter; false if it means nothing. */
  onKey(cell: Cell, event: KeyboardEvent): boolean {
    if (event.key === 'Enter' && (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey)) {
      this.run(cell, event.shiftKey ? 'next' : event.altKey ? 'insert' : 'stay');
      return true;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const isChord = this.#lastKey.key === event.key && event.timeStamp - this.#lastKey.at < CHORD_MS;
    this.#lastKey = { key: isChord ? '' : event.key, at: event.timeStamp };
    return this.#onPlainKey(cell, event.key, isChord);
  }

  #onPlainKey(cell: Cell, key: string, isChord: boolean): boolean {
    const at = this.#indexOf(cell.id);
    const acts: Readonly<Record<string, () => void>> = {
      Enter: () => this.focus(cell.id, 'editor'),
      ArrowUp: () => this.step(cell.id, -1, 'cell'),
      k: () => this.step(cell.id, -1, 'cell'),
      ArrowDown: () => this.step(cell.id, 1, 'cell'),
      j: () => this.step(cell.id, 1, 'cell'),
      K: () => this.move(cell.id, -1),
      J: () => this.move(cell.id, 1),
      a: () => this.insert(at, 'code'),
      b: () => this.insert(at + 1, 'code'),
      m: () => this.edit(cell.id, { type: 'markdown' }),
      y: () => this.edit(cell.id, { type: 'code' }),
      z: () => this.undoRemove(),
      d: () => {
        if (isChord) this.remove(cell.id);
      },
    };
    const act = acts[key];
    act?.();
    return act !== undefined;
  }

  get #cells(): readonly Cell[] {
    return this.#parts.document.state.cells;
  }

  #indexOf(id: string): number {
    return this.#cells.findIndex((cell) => cell.id === id);
  }
}
