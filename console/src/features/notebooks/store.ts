import { useSyncExternalStore } from 'react';

/** A state outside of React, which components follow. */
export class Store<S extends object> {
  #state: S;
  readonly #listeners = new Set<() => void>();

  constructor(state: S) {
    this.#state = state;
  }

  get state(): S {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  protected set(change: Partial<S>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

export function useStore<S extends object>(store: Store<S>): S {
  return useSyncExternalStore(store.subscribe, () => store.state);
}
