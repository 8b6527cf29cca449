/** A key of a storage of the browser, `localStorage` or the one of the tab. */
interface Kept {
  in: 'browser' | 'tab';
  key: string;
}

/** Returns the value that was kept; undefined if there is none, if it is damaged, or if the browser forbids its storage. */
export function readKept({ in: place, key }: Kept): unknown {
  try {
    const text = storageOf(place).getItem(key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keeps a value, or forgets it if it is undefined. Does nothing if the storage is full or forbidden. */
export function keep({ in: place, key }: Kept, value: unknown): void {
  try {
    if (value === undefined) storageOf(place).removeItem(key);
    else storageOf(place).setItem(key, JSON.stringify(value));
  } catch {
    // The screens work without it.
  }
}

function storageOf(place: Kept['in']): Storage {
  return place === 'tab' ? sessionStorage : localStorage;
}
