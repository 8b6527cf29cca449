import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { isObject, type JsonObject, parseJson } from './schema-json';
import type { TableFiles } from './table-files';
import { TableSchemaError } from './table-schema-error';

/** Limit of the bytes read from one checkpoint: its footer and the columns of `metaData`, which most rows leave empty. */
const MAX_BYTES = 2 ** 26;
/** Limit of one page, uncompressed. */
const MAX_PAGE_BYTES = 2 ** 25;
/** Maximum number of actions in one checkpoint. */
const MAX_ROWS = 4_000_000;
const MEMORY_MB = 384;
/** Time limit of a reader, including its requests. */
const READ_TIMEOUT_MS = 30_000;
/** Each reader needs its own memory. */
const MAX_CONCURRENT_READS = 2;

/**
 * A malicious file may make its reader fill all memory or loop for hours, so the reader is a process of its own. A thread
 * would not do: one that allocates too much at once ends its whole process, whatever its limits are. The program is a text,
 * so that the build and transformed sources run the same one.
 */
const READER = `
const { gunzipSync } = require('node:zlib');
const { Worker } = require('node:worker_threads');
const { library, size, maxPageBytes, maxRows, timeoutMs } = JSON.parse(process.argv[1]);
// If the platform ends first, only this thread can end a reader that loops.
new Worker(\`setTimeout(() => process.kill(process.pid, 'SIGKILL'), \${timeoutMs * 2})\`, { eval: true }).unref();
process.on('disconnect', () => process.exit());
const waiting = new Map();
let lastId = 0;
process.on('message', ({ id, bytes }) => {
  waiting.get(id)(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  waiting.delete(id);
});
const file = {
  byteLength: size,
  slice: (start, end = size) =>
    new Promise((resolve) => {
      waiting.set((lastId += 1), resolve);
      process.send({ id: lastId, start, end });
    }),
};
const within = (length) => {
  if (!(length >= 0 && length <= maxPageBytes)) throw new Error('a page is too large');
  return length;
};
async function read() {
  const { parquetMetadataAsync, parquetReadObjects, snappyUncompress } = await import(library);
  const compressors = {
    SNAPPY: (input, length) => {
      const output = new Uint8Array(within(length));
      snappyUncompress(input, output);
      return output;
    },
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: within(length) || 1 }),
  };
  const metadata = await parquetMetadataAsync(file, { geoparquet: false });
  if (!(metadata.num_rows <= maxRows)) throw new Error('it has too many rows');
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const id = group.columns.find(({ meta_data }) => meta_data.path_in_schema.join('.') === 'metaData.id');
    const nulls = id?.meta_data.statistics?.null_count;
    if (id && (nulls === undefined || nulls !== id.meta_data.num_values)) {
      const rows = await parquetReadObjects({ file, metadata, compressors, columns: ['metaData'], rowStart, rowEnd });
      const row = rows.find(({ metaData }) => typeof metaData?.schemaString === 'string');
      if (row) return row.metaData;
    }
    rowStart = rowEnd;
  }
  return null;
}
const plain = (_name, value) => (typeof value === 'bigint' ? String(value) : value);
read().then(
  (action) => process.send({ action: JSON.stringify(action, plain) }),
  (error) => process.send({ failure: String(error?.message ?? error).slice(0, 200) }),
);
`;

type Message = { id: number; start: number; end: number } | { action: string } | { failure: string };

let readers = 0;
const turns: (() => void)[] = [];

/**
 * Returns the `metaData` action of a checkpoint in Parquet, or null. Throws `TableSchemaError`, `malformed` if the file
 * cannot be read within the limits, and the errors of `files`.
 */
export async function readDeltaCheckpoint(
  uri: string,
  files: TableFiles,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const size = await files.sizeOf(uri, signal);
  await waitForTurn(signal);
  const deadline = AbortSignal.timeout(READ_TIMEOUT_MS);
  try {
    return await readInProcess({ uri, size }, files, AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (error !== deadline.reason || signal.aborted) throw error;
    throw unreadable(`reading it took longer than ${READ_TIMEOUT_MS / 1000} seconds`, error);
  } finally {
    readers -= 1;
    for (const next of turns.splice(0)) next();
  }
}

async function waitForTurn(signal: AbortSignal): Promise<void> {
  while (readers >= MAX_CONCURRENT_READS) {
    await new Promise<void>((resolve, reject) => {
      turns.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (signal.aborted) reject(signal.reason as Error);
    });
  }
  readers += 1;
}

async function readInProcess(
  { uri, size }: { uri: string; size: number },
  files: TableFiles,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  signal.throwIfAborted();
  const library = pathToFileURL(require.resolve('hyparquet')).href;
  const options = { library, size, maxPageBytes: MAX_PAGE_BYTES, maxRows: MAX_ROWS, timeoutMs: READ_TIMEOUT_MS };
  const reader = spawn(
    process.execPath,
    [`--max-old-space-size=${MEMORY_MB}`, '-e', READER, '--', JSON.stringify(options)],
    { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], serialization: 'advanced' },
  );
  let bytes = 0;
  const part = async ({ id, start, end }: { id: number; start: number; end: number }) => {
    if (!(start >= 0 && start <= end && end <= size)) throw unreadable('it refers to bytes outside of the file');
    bytes += end - start;
    if (bytes > MAX_BYTES) throw new TableSchemaError('too-large', 'The checkpoint of the Delta table is too large.');
    const content = await files.readPart(uri, { start, end }, signal);
    // A failed send means that the reader has ended, which the exit event reports.
    reader.send({ id, bytes: content }, () => undefined);
  };
  try {
    return await new Promise<JsonObject | null>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      reader.on('message', (message: Message) => {
        if ('id' in message) part(message).catch(reject);
        else if ('failure' in message) reject(unreadable(message.failure));
        else resolve(actionOf(message.action));
      });
      reader.on('error', (error) => reject(unreadable('its reader did not start', error)));
      reader.on('exit', () => reject(unreadable('its reader took too much memory')));
    });
  } finally {
    await end(reader);
  }
}

async function end(reader: ChildProcess): Promise<void> {
  if (reader.pid === undefined || reader.exitCode !== null || reader.signalCode !== null) return;
  const ended = once(reader, 'exit');
  reader.kill('SIGKILL');
  await ended;
}

function actionOf(text: string): JsonObject | null {
  const action = parseJson(text, 'The checkpoint of the Delta table');
  return isObject(action) ? action : null;
}

function unreadable(reason: string, cause?: unknown): TableSchemaError {
  return new TableSchemaError('malformed', `The checkpoint of the Delta table cannot be read: ${reason}.`, { cause });
}
