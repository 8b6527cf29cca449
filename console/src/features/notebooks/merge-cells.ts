import { type Cell, isSame, newCell } from './cells';

/** A change that somebody else made: `both` if I have changed the same cell in another way. */
export interface TheirChange {
  id: string;
  what: 'added' | 'edited' | 'removed' | 'both';
}

export interface Merged {
  cells: Cell[];
  theirs: TheirChange[];
}

interface Sides {
  /** The cells from which both began. */
  base: readonly Cell[];
  mine: readonly Cell[];
  theirs: readonly Cell[];
}

/**
 * Merges two changes of a notebook by cell, so that neither loses a cell. One that only they have changed is theirs. If both have
 * changed it, mine stays where it is and theirs follows as a cell of its own; one that either has changed is not removed.
 */
export function mergeCells({ base, mine, theirs }: Sides): Merged {
  const [before, ours, others] = [byId(base), byId(mine), byId(theirs)];
  const changes: TheirChange[] = [];
  const copies = new Map<string, Cell>();
  const merged = new Map<string, Cell>();
  for (const { id } of [...theirs, ...mine]) {
    if (merged.has(id)) continue;
    const result = mergedCell(before.get(id), ours.get(id), others.get(id));
    if (result.cell) merged.set(id, result.cell);
    if (result.copy) copies.set(id, result.copy);
    if (result.what) changes.push({ id: result.copy?.id ?? id, what: result.what });
  }
  for (const { id } of base) {
    if (ours.has(id) && !others.has(id) && !merged.has(id)) changes.push({ id, what: 'removed' });
  }
  const isMovedByThem = !isSameOrder(base, theirs);
  const [first, second] = isMovedByThem ? [theirs, mine] : [mine, theirs];
  const order = joinedOrder(first, second).filter((id) => merged.has(id));
  const cells = order.flatMap((id) => [merged.get(id), copies.get(id)]).filter((cell) => cell !== undefined);
  return { cells, theirs: changes };
}

interface MergedCell {
  /** Undefined if it is removed. */
  cell?: Cell | undefined;
  /** Their version, if both have changed it. */
  copy?: Cell;
  what?: TheirChange['what'];
}

function mergedCell(before: Cell | undefined, mine: Cell | undefined, theirs: Cell | undefined): MergedCell {
  if (mine && theirs) return mergedSource(before, mine, theirs);
  if (mine) return { cell: before && isSame(before, mine) ? undefined : mine };
  if (!theirs) return {};
  if (!before) return { cell: theirs, what: 'added' };
  // I have removed it: it comes back if they have changed it.
  return isSame(before, theirs) ? {} : { cell: theirs, what: 'edited' };
}

function mergedSource(before: Cell | undefined, mine: Cell, theirs: Cell): MergedCell {
  if (isSame(mine, theirs) || (before && isSame(before, theirs))) return { cell: mine };
  if (before && isSame(before, mine)) return { cell: theirs, what: 'edited' };
  return { cell: mine, copy: newCell(theirs.type, theirs.source), what: 'both' };
}

function byId(cells: readonly Cell[]): Map<string, Cell> {
  return new Map(cells.map((cell) => [cell.id, cell]));
}

/** True if the cells that both lists have are in the same order. */
function isSameOrder(some: readonly Cell[], others: readonly Cell[]): boolean {
  const [known, given] = [byId(some), byId(others)];
  const left = some.filter(({ id }) => given.has(id));
  const right = others.filter(({ id }) => known.has(id));
  return left.every(({ id }, index) => id === right[index]?.id);
}

/** Returns the ids of both lists in the order of the first; those of the second alone follow what precedes them there. */
function joinedOrder(first: readonly Cell[], second: readonly Cell[]): string[] {
  const order = first.map(({ id }) => id);
  const known = new Set(order);
  let before: string | null = null;
  for (const { id } of second) {
    if (!known.has(id)) {
      order.splice(before === null ? 0 : order.indexOf(before) + 1, 0, id);
      known.add(id);
    }
    before = id;
  }
  return order;
}
