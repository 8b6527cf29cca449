import type { LogSource } from './log-window';

/** The parts of a log that the operations of the API send. */
interface LogPart {
  last_n_lines?: number;
  offset?: number;
  file_size_bytes?: number;
}

const CHUNK_BYTES = 256 * 1024;
const POLL_MS = 2_000;

/** Reads a log by an operation of the API that sends parts of it. */
export function readingLog(
  send: (part: LogPart, signal: AbortSignal) => Promise<Response>,
): Pick<LogSource, 'size' | 'read'> {
  return {
    async size(signal) {
      const response = await send({ last_n_lines: 1 }, signal);
      await response.body?.cancel();
      return Number(response.headers.get('x-log-offset') ?? 0);
    },
    async read(offset, length, signal) {
      if (length <= 0) return new Uint8Array();
      const response = await send({ offset, file_size_bytes: length }, signal);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}

/** Follows a log whose operation cannot: asks again and again for what is behind the last byte, until the signal is aborted. */
export async function* polledLog(
  read: LogSource['read'],
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let offset = from; !signal.aborted;) {
    const bytes = await read(offset, CHUNK_BYTES, signal);
    offset += bytes.length;
    if (bytes.length > 0) yield bytes;
    else await paused(signal);
  }
}

function paused(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, POLL_MS);
    signal.addEventListener('abort', end);
  });
}
