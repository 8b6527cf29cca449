import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const COLLECTION_INTERVAL_BYTES = 8 * 2 ** 20;

type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | null = null;
let uncollected = 0;

/**
 * Counts transferred bytes of an upload or download and makes V8 free their chunks regularly. Chunks lie outside V8's heap
 * and hardly count there, so V8 lets them grow to 64 MiB and then marks the whole heap on all its threads, which costs
 * more CPU time than the transfer. A collection of young objects takes a millisecond and frees the same chunks.
 */
export function freeTransferred(bytes: number): void {
  uncollected += bytes;
  if (uncollected < COLLECTION_INTERVAL_BYTES) return;
  uncollected = 0;
  collect ??= exposedCollect();
  collect({ type: 'minor' });
}

/** Node exposes the collector only by a command-line flag, which may also be set at run time. */
function exposedCollect(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return exposed;
}
