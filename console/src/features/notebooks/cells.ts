import type { NotebookCell } from 'managed-spark/types';

export interface Cell {
  readonly id: string;
  readonly type: 'code' | 'markdown';
  readonly source: string;
}

export function cellOf({ cell_uuid: id, cell_type: type = 'code', code: source }: NotebookCell): Cell {
  return { id, type, source };
}

/** A cell as it is saved: what is not sent, such as its metadata and outputs, stays as it is. */
export function sentCell({ id, type, source }: Cell) {
  return { cell_uuid: id, cell_type: type, code: source };
}

export function newCell(type: Cell['type'] = 'code', source = ''): Cell {
  return { id: crypto.getRandomValues(new BigUint64Array(1))[0]?.toString(16).padStart(16, '0') ?? '', type, source };
}

export function isSame(one: Cell, other: Cell): boolean {
  return one.type === other.type && one.source === other.source;
}

export function areSame(some: readonly Cell[], others: readonly Cell[]): boolean {
  return (
    some.length === others.length &&
    some.every((cell, index) => {
      const other = others[index];
      return other !== undefined && cell.id === other.id && isSame(cell, other);
    })
  );
}

/** Returns the cells without one, and with the others in their order. */
export function without(cells: readonly Cell[], id: string): Cell[] {
  return cells.filter((cell) => cell.id !== id);
}

export function replaced(cells: readonly Cell[], id: string, change: Partial<Cell>): Cell[] {
  return cells.map((cell) => (cell.id === id ? { ...cell, ...change } : cell));
}

/** Returns the cells with another one at a place; a place beyond the end is the end. */
export function inserted(cells: readonly Cell[], at: number, cell: Cell): Cell[] {
  return cells.toSpliced(at, 0, cell);
}

/** Returns the cells with one moved by a number of places, as far as there are places. */
export function moved(cells: readonly Cell[], id: string, by: number): readonly Cell[] {
  const from = cells.findIndex((cell) => cell.id === id);
  const to = from + by;
  const cell = cells[from];
  return cell && to >= 0 && to < cells.length ? inserted(without(cells, id), to, cell) : cells;
}
