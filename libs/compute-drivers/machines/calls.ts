/** Rejects as soon as the signal aborts, even if the SDK goes on. The error has the reason of the signal as its cause. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const over = () => new Error('aborted', { cause: signal.reason });
  if (signal.aborted) throw over();
  let onAbort = (): void => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(over());
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([ended, work()]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

interface Bounds {
  pages: number;
  /** Limit of the items of all pages. */
  items: number;
  /** Returns the error for a list that exceeds the limits or never ends. */
  exceeded: () => Error;
}

interface Page<T> {
  items: readonly T[];
  next: string | null | undefined;
}

/** Reads all pages of a list within bounds. Keeps only what `read` returns of each item, and drops nulls. */
export async function readPages<T, R>(
  bounds: Bounds,
  fetchPage: (token: string | undefined) => Promise<Page<T>>,
  read: (item: T) => R | null,
): Promise<R[]> {
  const all: R[] = [];
  let token: string | undefined;
  let seen = 0;
  for (let page = 0; page < bounds.pages; page += 1) {
    const { items, next } = await fetchPage(token);
    seen += items.length;
    if (seen > bounds.items) break;
    for (const item of items) {
      const one = read(item);
      if (one !== null) all.push(one);
    }
    if (!next) return all;
    token = next;
  }
  throw bounds.exceeded();
}
