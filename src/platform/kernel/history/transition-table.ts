/**
 * Lists for each state the states that may follow. `npm run states` draws the picture above a table: the line below a state joins
 * the lines of the states that may follow, and each of these lines ends in the arrow of its state.
 */
export type TransitionTable<S extends string> = Readonly<Record<S, readonly S[]>>;

export function mayFollow<S extends string>(table: TransitionTable<S>, from: S, to: S): boolean {
  return table[from].includes(to);
}

/** Returns the states that `to` may follow. */
export function predecessors<S extends string>(table: TransitionTable<S>, to: S): S[] {
  return (Object.keys(table) as S[]).filter((from) => table[from].includes(to));
}
