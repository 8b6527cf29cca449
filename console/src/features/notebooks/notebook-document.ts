import type { NotebookConfRead } from 'managed-spark/types';
import { areSame, type Cell, cellOf, inserted, moved, replaced, without } from './cells';
import { mergeCells, type TheirChange } from './merge-cells';
import { isChanged, type NotebookKey, readNotebook, saveCells } from './notebooks-api';
import { Store } from './store';

/** A change is saved when nobody has typed for this time. */
const SAVE_AFTER_MS = 800;
const POLL_MS = 5_000;
/** Two people who type at the same time meet this often before one of them waits. */
const MAX_MERGES = 5;
const MAX_REMOVED = 20;

interface DocumentState {
  cells: readonly Cell[];
  saving: 'saved' | 'unsaved' | 'saving';
  error: unknown;
  /** The changes of somebody else, until they are confirmed. */
  theirs: { by: string | null; changes: readonly TheirChange[] } | null;
  canUndo: boolean;
}

/** The cells of a notebook: they are saved soon after a change, and changes of others are merged in. */
export class NotebookDocument extends Store<DocumentState> {
  readonly #key: NotebookKey;
  #base: readonly Cell[];
  #revision: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | null = null;
  readonly #removed: { cell: Cell; at: number }[] = [];

  constructor(key: NotebookKey, { notebook_cells: { cells }, revision_id }: NotebookConfRead) {
    const own = cells.map(cellOf);
    super({ cells: own, saving: 'saved', error: null, theirs: null, canUndo: false });
    this.#key = key;
    this.#base = own;
    this.#revision = revision_id;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Follows the changes of others until the returned function is called. */
  follow(): () => void {
    const poll = setInterval(() => {
      if (document.visibilityState === 'visible' && this.#saving === null) void this.#lookForChanges();
    }, POLL_MS);
    return () => {
      clearInterval(poll);
      void this.save().catch(() => undefined);
    };
  }

  edit(id: string, change: Partial<Cell>): void {
    this.#change(replaced(this.state.cells, id, change));
  }

  insert(at: number, cell: Cell): void {
    this.#change(inserted(this.state.cells, at, cell));
  }

  move(id: string, by: number): void {
    this.#change(moved(this.state.cells, id, by));
  }

  remove(id: string): void {
    const at = this.state.cells.findIndex((cell) => cell.id === id);
    const cell = this.state.cells[at];
    if (!cell) return;
    this.#removed.push({ cell, at });
    if (this.#removed.length > MAX_REMOVED) this.#removed.shift();
    this.set({ canUndo: true });
    this.#change(without(this.state.cells, id));
  }

  /** Inserts the cell again that was removed last, and returns it. */
  undoRemove(): Cell | null {
    const last = this.#removed.pop();
    this.set({ canUndo: this.#removed.length > 0 });
    if (!last) return null;
    this.insert(last.at, last.cell);
    return last.cell;
  }

  forgetRemoved(): void {
    this.set({ canUndo: false });
  }

  confirmTheirs(): void {
    this.set({ theirs: null });
  }

  /** Returns once all is saved. @throws the refusal, which the state has as well */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    while (!this.#isSaved()) {
      this.#saving ??= this.#saveOnce().finally(() => (this.#saving = null));
      await this.#saving;
    }
  }

  #isSaved(): boolean {
    return areSame(this.state.cells, this.#base);
  }

  #change(cells: readonly Cell[]): void {
    this.set({ cells, saving: 'unsaved' });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save().catch(() => undefined), SAVE_AFTER_MS);
  }

  async #saveOnce(): Promise<void> {
    this.set({ saving: 'saving' });
    try {
      for (let merges = 0; ; merges += 1) {
        const sent = this.state.cells;
        try {
          this.#revision = await saveCells(this.#key, sent, this.#revision);
          this.#base = sent;
          break;
        } catch (error) {
          if (!isChanged(error) || merges >= MAX_MERGES) throw error;
          this.#merge(await readNotebook(this.#key));
        }
      }
      this.set({ saving: this.#isSaved() ? 'saved' : 'unsaved', error: null });
    } catch (error) {
      this.set({ saving: 'unsaved', error });
      throw error;
    }
  }

  async #lookForChanges(): Promise<void> {
    const read = await readNotebook(this.#key).catch(() => null);
    // A change that was saved meanwhile is newer than what was read.
    if (read && this.#saving === null && read.revision_id > this.#revision) this.#merge(read);
  }

  #merge({ notebook_cells: { cells }, revision_id, modified_by }: NotebookConfRead): void {
    const theirs = cells.map(cellOf);
    const merged = mergeCells({ base: this.#base, mine: this.state.cells, theirs });
    this.#base = theirs;
    this.#revision = revision_id;
    const before = this.state.theirs?.changes ?? [];
    const changes = [...before.filter(({ id }) => !merged.theirs.some((one) => one.id === id)), ...merged.theirs];
    this.set({
      cells: merged.cells,
      theirs: changes.length > 0 ? { by: modified_by?.username ?? null, changes } : this.state.theirs,
    });
    if (!this.#isSaved() && this.state.saving === 'saved') this.#change(this.state.cells);
  }
}
