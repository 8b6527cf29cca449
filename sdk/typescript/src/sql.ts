// Statements for a SQL server, over the protocol of HiveServer2.
import { Unreachable } from './errors.ts';
import { SqlFailed } from './failures.ts';
import type { Operation, Upload } from './operation.ts';
import type { Place } from './place.ts';
import { type Column, type SqlValue, Table } from './table.ts';
import { decodeReply, encodeCall, type Field, type Struct, structOf, T, textOf, type Value } from './thrift.ts';
import { Deadline, Pauses, type WaitOptions } from './waiting.ts';

const MAX_ROWS = 1_000_000;
const MAX_FETCHED = 10_000;
const QUERY_MS = 3_600_000;
/** Time to release what a statement held, also after its own time is over. */
const CLOSE_MS = 10_000;

/** HIVE_CLI_SERVICE_PROTOCOL_V10, whose results come in columns. */
const PROTOCOL = 9;
/** TOperationState. */
const FINISHED = 2;
const UNFINISHED = new Set([0, 1, 7]);
/** TTypeId, by its numbers. Arrays and their like are texts, in lists of bytes. */
const TYPES = [
  ...[
    'BOOLEAN',
    'TINYINT',
    'SMALLINT',
    'INT',
    'BIGINT',
    'FLOAT',
    'DOUBLE',
    'STRING',
    'TIMESTAMP',
    'BINARY',
    'ARRAY',
    'MAP',
  ],
  ...['STRUCT', 'UNIONTYPE', 'USER_DEFINED', 'DECIMAL', 'NULL', 'DATE', 'VARCHAR', 'CHAR'],
  ...['INTERVAL_YEAR_MONTH', 'INTERVAL_DAY_TIME'],
];
/** TStatusCode: success, and success with messages. */
const SUCCESSFUL = new Set([0, 1]);

export interface SqlOptions extends WaitOptions {
  /** The most rows that are read; the table says whether there are more. */
  maxRows?: number | undefined;
}

/** It is not among the generated operations, since its body is no JSON. */
const thriftSql: Operation<{ path: { workspace_id: number; job_id: number }; body: Upload }, Blob> = {
  name: 'thriftSql',
  method: 'POST',
  path: '/api/v1/workspace/{workspace_id}/spark/job/{job_id}/thrift',
  as: 'blob',
};

type Call = (method: string, request: readonly Field[]) => Promise<Struct>;

/** A SQL server, which a run is. */
export class SqlServer {
  readonly #place: Place;
  readonly #jobId: number;
  #sequence = 0;

  constructor(place: Place, jobId: number) {
    this.#place = place;
    this.#jobId = jobId;
  }

  /** Runs a statement in a session of its own. @throws SqlFailed if it is wrong or fails */
  async query(
    statement: string,
    { maxRows = MAX_ROWS, timeoutMs = QUERY_MS, signal }: SqlOptions = {},
  ): Promise<Table> {
    const deadline = new Deadline(timeoutMs, 'The statement');
    const call: Call = async (method, request) => {
      deadline.check();
      try {
        // A timer may end a little early.
        return await this.#call(method, request, { timeoutMs: deadline.leftMs + 10, signal });
      } catch (error) {
        if (error instanceof Unreachable) deadline.check();
        throw error;
      }
    };
    const opened = await call('OpenSession', [[1, T.i32, PROTOCOL]]);
    const session: Field = [1, T.struct, handle(opened.get(3))];
    try {
      const begun = await call('ExecuteStatement', [session, [2, T.text, statement], [4, T.bool, true]]);
      const operation: Field = [1, T.struct, operationHandle(begun.get(2))];
      try {
        await finished(call, operation, new Pauses(deadline, { signal }));
        // Some statements have no result.
        if (structOf(begun.get(2)).get(3) !== true) return new Table([], [], false);
        return await rowsOf(call, operation, maxRows);
      } finally {
        await this.#release('CloseOperation', operation);
      }
    } finally {
      await this.#release('CloseSession', session);
    }
  }

  /** The server itself releases handles after some time, so a failure is no failure of the statement. */
  async #release(method: string, handleField: Field): Promise<void> {
    await this.#call(method, [handleField], { timeoutMs: CLOSE_MS }).catch(() => {});
  }

  async #call(method: string, request: readonly Field[], { timeoutMs = 0, signal }: WaitOptions): Promise<Struct> {
    this.#sequence += 1;
    const path = { workspace_id: await this.#place.id(), job_id: this.#jobId };
    // A statement may have done its work when its answer was lost, so no message is sent again.
    const answer = await this.#place.context.transport.call(thriftSql, {
      path,
      body: encodeCall(method, this.#sequence, request),
      headers: { 'Content-Type': 'application/x-thrift' },
      repeatable: false,
      timeoutMs,
      signal,
    });
    const reply = replyOf(new Uint8Array(await answer.arrayBuffer()));
    const status = structOf(reply.get(1));
    if (SUCCESSFUL.has(Number(status.get(1)))) return reply;
    throw new SqlFailed(textOf(status.get(5)) || `${method} failed.`, textOf(status.get(3)));
  }
}

function replyOf(bytes: Uint8Array): Struct {
  try {
    return decodeReply(bytes);
  } catch (error) {
    throw new SqlFailed(`The SQL server's answer cannot be read: ${String(error)}`, '');
  }
}

/** Returns the fields of a session's handle, or of the id in an operation's. */
function handle(value: Value | undefined): readonly Field[] {
  const id = structOf(structOf(value).get(1));
  return [
    [
      1,
      T.struct,
      [
        [1, T.text, id.get(1)],
        [2, T.text, id.get(2)],
      ],
    ],
  ];
}

function operationHandle(value: Value | undefined): readonly Field[] {
  const fields = structOf(value);
  return [...handle(value), [2, T.i32, fields.get(2)], [3, T.bool, fields.get(3)]];
}

async function finished(call: Call, operation: Field, pauses: Pauses): Promise<void> {
  for (;;) {
    // The server answers when the statement has ended, or after some seconds.
    const status = await call('GetOperationStatus', [operation]);
    const state = Number(status.get(2));
    if (state === FINISHED) return;
    if (!UNFINISHED.has(state)) {
      throw new SqlFailed(textOf(status.get(5)) || 'The statement was cancelled.', textOf(status.get(3)));
    }
    await pauses.next('RUNNING');
  }
}

async function rowsOf(call: Call, operation: Field, maxRows: number): Promise<Table> {
  const metadata = await call('GetResultSetMetadata', [operation]);
  const columns = listOf(structOf(metadata.get(2)).get(1)).map((column) => columnOf(structOf(column)));
  const rows: SqlValue[][] = [];
  // One more row than asked for says whether there are more.
  while (rows.length <= maxRows) {
    const wanted = Math.min(MAX_FETCHED, maxRows + 1 - rows.length);
    const fetch: Field[] = [operation, [2, T.i32, 0], [3, T.i64, wanted]];
    const fetched = structOf((await call('FetchResults', fetch)).get(3));
    const page = rowsOfColumns(columns, listOf(fetched.get(3)));
    if (page.length === 0) break;
    for (const row of page) rows.push(row);
  }
  return new Table(columns, rows.slice(0, maxRows), rows.length > maxRows);
}

/** A type is a list of entries, of which the first is a union: the one of a simple type has its id. */
function columnOf(column: Struct): Column {
  const [entry] = listOf(structOf(column.get(2)).get(1));
  const id = Number(structOf(structOf(entry).get(1)).get(1));
  return { name: textOf(column.get(1)), type: TYPES[id] ?? 'STRING' };
}

function rowsOfColumns(columns: readonly Column[], values: readonly Value[]): SqlValue[][] {
  const lists = columns.map(({ type }, index) => columnValues(values[index], type === 'BINARY'));
  return Array.from(lists[0] ?? [], (_, index) => lists.map((list) => list[index] ?? null));
}

/** A column is a union of lists by type, each with the bits of its nulls. */
function columnValues(column: Value | undefined, isBinary: boolean): SqlValue[] {
  const [fields = new Map<number, Value>()] = [...structOf(column).values()].map(structOf);
  const nulls = fields.get(2);
  const isNull = (index: number) =>
    nulls instanceof Uint8Array && (((nulls[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
  return listOf(fields.get(1)).map((item, index) => (isNull(index) ? null : scalar(item, isBinary)));
}

function scalar(value: Value, isBinary: boolean): SqlValue {
  if (value instanceof Uint8Array) return isBinary ? value : textOf(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function listOf(value: Value | undefined): Value[] {
  return Array.isArray(value) ? (value as Value[]) : [];
}
