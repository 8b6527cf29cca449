import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const COLLECT_EVERY_BYTES = 8 * 2 ** 20;

type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | null = null;
let uncollected = 0;

/**
 * Counts bytes of an upload or download that have passed and has V8 free their chunks now and then. Chunks lie outside
 * V8's heap and weigh next to nothing in it, so V8 by itself lets them pile up to 64 MiB and then marks the whole heap,
 * on all its threads, which costs more processor time than the transfer. A collection of young objects takes a
 * millisecond and frees the same.
 */
export function freeTransferred(bytes: number): void {
  uncollected += bytes;
  if (uncollected < COLLECT_EVERY_BYTES) return;
  uncollected = 0;
  collect ??= exposedCollect();
  collect({ type: 'minor' });
}

/** Node offers no other way than a command-line flag, or this. */
function exposedCollect(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return exposed;
}
