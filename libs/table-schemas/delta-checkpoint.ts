import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { isObject, type JsonObject, parseJson } from './schema-json';
import type { TableFiles } from './table-files';
import { TableSchemaError } from './table-schema-error';

/** Bytes that are read of one checkpoint: its footer and the columns of the `metaData` action, empty in most rows. */
const MAX_BYTES = 2 ** 26;
/** Bytes of one page, unpacked. */
const MAX_PAGE_BYTES = 2 ** 25;
/** Actions of one checkpoint. */
const MAX_ROWS = 4_000_000;
const MEMORY_MB = 384;
/** Milliseconds that a reader may take, its requests included. */
const DEADLINE = 30_000;
/** Readers at once, each with its memory. */
const MAX_CONCURRENT_READS = 2;

/**
 * A file may have its reader fill all memory or turn round for hours. It is read in a process, which alone ends by that: a
 * thread that allocates too much at once ends its whole process, whatever its limits are. As text, so that the build and
 * transformed sources have the same one.
 */
const READER = `
const { gunzipSync } = require('node:zlib');
const { Worker } = require('node:worker_threads');
const { library, size, mostPage, mostRows, deadline } = JSON.parse(process.argv[1]);
// Should the platform end first, nobody else would end a reader that is turning round.
new Worker(\`setTimeout(() => process.kill(process.pid, 'SIGKILL'), \${deadline * 2})\`, { eval: true }).unref();
process.on('disconnect', () => process.exit());
const waiting = new Map();
let asked = 0;
process.on('message', ({ id, bytes }) => {
  waiting.get(id)(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  waiting.delete(id);
});
const file = {
  byteLength: size,
  slice: (start, end = size) =>
    new Promise((resolve) => {
      waiting.set((asked += 1), resolve);
      process.send({ id: asked, start, end });
    }),
};
const within = (length) => {
  if (!(length >= 0 && length <= mostPage)) throw new Error('a page is too large');
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
  if (!(metadata.num_rows <= mostRows)) throw new Error('it has too many rows');
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
 * The `metaData` action of a checkpoint in Parquet, or null. Throws `TableSchemaError`, which is `malformed` for a file that
 * cannot be read within its bounds, and what `files` throws.
 */
export async function readDeltaCheckpoint(
  uri: string,
  files: TableFiles,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const size = await files.sizeOf(uri, signal);
  await turn(signal);
  const deadline = AbortSignal.timeout(DEADLINE);
  try {
    return await readApart({ uri, size }, files, AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (error !== deadline.reason || signal.aborted) throw error;
    throw unreadable('it takes too long', error);
  } finally {
    readers -= 1;
    for (const next of turns.splice(0)) next();
  }
}

async function turn(signal: AbortSignal): Promise<void> {
  while (readers >= MAX_CONCURRENT_READS) {
    await new Promise<void>((resolve, reject) => {
      turns.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (signal.aborted) reject(signal.reason as Error);
    });
  }
  readers += 1;
}

async function readApart(
  { uri, size }: { uri: string; size: number },
  files: TableFiles,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  signal.throwIfAborted();
  const library = pathToFileURL(require.resolve('hyparquet')).href;
  const given = { library, size, mostPage: MAX_PAGE_BYTES, mostRows: MAX_ROWS, deadline: DEADLINE };
  const reader = spawn(
    process.execPath,
    [`--max-old-space-size=${MEMORY_MB}`, '-e', READER, '--', JSON.stringify(given)],
    { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], serialization: 'advanced' },
  );
  let bytes = 0;
  const part = async ({ id, start, end }: { id: number; start: number; end: number }) => {
    if (!(start >= 0 && start <= end && end <= size)) throw unreadable('it points outside of itself');
    bytes += end - start;
    if (bytes > MAX_BYTES) throw new TableSchemaError('too-large', 'The checkpoint of the Delta table is too large.');
    const content = await files.readPart(uri, { start, end }, signal);
    // What goes wrong with a reader that has ended is said by its end.
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

function unreadable(why: string, cause?: unknown): TableSchemaError {
  return new TableSchemaError('malformed', `The checkpoint of the Delta table cannot be read: ${why}.`, { cause });
}
