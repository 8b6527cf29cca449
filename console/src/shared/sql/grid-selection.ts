/** A cell of a table, both numbers starting at 0. */
export interface Position {
  row: number;
  column: number;
}

/** Cells between two corners, which belong to it. */
export interface Area {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
}

const PAGE_ROWS = 20;

const STEPS: Readonly<Record<string, Position>> = {
  ArrowUp: { row: -1, column: 0 },
  ArrowDown: { row: 1, column: 0 },
  ArrowLeft: { row: 0, column: -1 },
  ArrowRight: { row: 0, column: 1 },
  PageUp: { row: -PAGE_ROWS, column: 0 },
  PageDown: { row: PAGE_ROWS, column: 0 },
  Home: { row: 0, column: -Infinity },
  End: { row: 0, column: Infinity },
};

/** Returns the cell that a key leads to; null for other keys. With Control, Home and End lead to the first and last row, too. */
export function moved(
  from: Position | null,
  { key, ctrlKey, metaKey }: Key,
  { rows, columns }: { rows: number; columns: number },
): Position | null {
  const step = STEPS[key];
  if (!step || rows === 0 || columns === 0) return null;
  if (!from) return { row: 0, column: 0 };
  const isFar = (ctrlKey || metaKey) && (key === 'Home' || key === 'End');
  return {
    row: within(from.row + (isFar ? step.column : step.row), rows),
    column: within(from.column + step.column, columns),
  };
}

export function areaOf(a: Position, b: Position): Area {
  return {
    top: Math.min(a.row, b.row),
    bottom: Math.max(a.row, b.row),
    left: Math.min(a.column, b.column),
    right: Math.max(a.column, b.column),
  };
}

export function contains({ top, bottom, left, right }: Area, { row, column }: Position): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

function within(value: number, count: number): number {
  return Math.max(0, Math.min(count - 1, value));
}
